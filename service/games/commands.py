"""The use cases: open a game, enter it, join, look, move, change a token.

Owns the order of things: who the bearer is, whether the game still stands where the bearer thinks it
does, what the referee says, and one write that either happens whole or not at all, and once, however often
it is asked for. What has happened is told by ``service.games.queries``. Must not know HTTP, Redis, or the rules of
any game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from service.engine.errors import InvalidSetup, Refusal
from service.engine.moves import Move
from service.engine.referee import advance
from service.games.creation import create_game, deal_if_full
from service.games.errors import (
    Forbidden,
    MoveRefused,
    NotFound,
    NotStarted,
    SeatsTaken,
    StaleVersion,
    Unauthorized,
    unauthorized,
)
from service.games.forks import as_arranged, load_fork
from service.games.game import HUMAN, OPEN_SEAT, Created, Game, GameEvent, Joined, Seat, TokenChanged
from service.games.idempotency import Idempotency, IdempotencyKey
from service.games.ports import Clock, Feed, IdempotencyRecord, PriorWrite, RandomBytes, RunLater, Store, run_inline
from service.games.queries import GameQueries
from service.games.repository import Committed, GameRepository
from service.games.results import Access, CommandResult, CreatedGame, JoinedSeat, LegalMoves, SeatToken, TokenRotation
from service.games.tokens import find_hash, hash_secret, new_game_id, new_token, short_digest
from service.games.validation import CHANCE_IS_FIXED, GameRequest, check_request
from service.games.views import GameView, legal_moves_for, view_game

T = TypeVar("T")

Expected = Callable[[int, str], bool]
"""Whether the asker still means the game at this version, with this ETag for the asker."""


class GameService:
    """All games there are, wherever they are kept; has no state but what its ledger remembers of them.

    ``secret`` is what tokens are drawn from again when a request is repeated under its key: the same for every
    process that serves the same store. The ``ttl_seconds`` are those of the store. In long work ``yield_control`` is
    called every now and then, to let others run; what nobody waits for is done ``later``.
    """

    def __init__(
        self,
        store: Store,
        feed: Feed,
        *,
        clock: Clock,
        secrets: RandomBytes,
        secret: bytes,
        ttl_seconds: int,
        yield_control: Callable[[], None] = lambda: None,
        run_later: RunLater = run_inline,
    ) -> None:
        self._repository = GameRepository(store, self._now, secrets, run_later)
        self._idempotency = Idempotency(self._repository, secret)
        self._clock = clock
        self._secrets = secrets
        self._ttl = ttl_seconds * 1000
        self._yield_control = yield_control
        self.queries = GameQueries(self._repository, feed, self._ttl)
        """What has happened in them, told."""

    def create(self, request: GameRequest, once: IdempotencyKey | None = None) -> CommandResult[CreatedGame]:
        """Open a game and deal its first round if no seat is open. Raises ``InvalidSetup``, ``KeyReused``."""
        once = self._idempotency.bind_secret(once)
        begun = None
        if request.origin is not None:
            begun = load_fork(request.origin, len(request.seats), self._yield_control)
            request = request._replace(variant=begun.variant, options=begun.options)
        variant, rules = check_request(request)
        now = self._now()
        game_id = new_game_id(self._secrets)
        draw, wish = self._secrets, None
        if once is not None:
            name = short_digest("create", once.key)
            game_id = self._repository.reserve(name, game_id)
            draw, wish = self._idempotency.derive_bytes("create", game_id), IdempotencyRecord(name, once.fingerprint)
        state = rules.start() if begun is None else begun.position.state
        game, tokens, join_code = create_game(
            request, variant, state, game_id=game_id, now=now, draw=draw, secrets=self._secrets
        )
        before = [] if begun is None else as_arranged(begun.position.events)
        game, events = deal_if_full(game, [Created(game.deck.commitment(1)), *before])
        made = self._repository.create(game, events, wish)
        replayed = isinstance(made, PriorWrite)
        game = self._idempotency.replay(game_id, made, once)[0] if isinstance(made, PriorWrite) else made
        return CommandResult(CreatedGame(view_game(game, None, self._ttl), tokens, join_code), None, replayed=replayed)

    def authenticate(self, game_id: str, token: str | None) -> Access:
        """The game as it is now, and the seat that ``token`` plays; without one, as a spectator.

        Raises ``NotFound``, or, for whoever shows a token, ``Unauthorized``: a game that is not there
        cannot be told from a token that is not its.
        """
        game = self._repository.load(game_id)
        if game is None:
            raise NotFound("There is no such game.") if token is None else unauthorized()
        if token is None:
            return Access(game, None)
        seat = _seat_of(token, game)
        if seat is None:
            raise unauthorized()
        return Access(game, seat)

    def authenticate_cached(self, game_id: str, token: str | None) -> Access:
        """As ``enter``, but only for who plays a seat, and perhaps as the game was a moment ago.

        That saves a read; ``move`` makes sure that it changes no answer, and ``confirm`` for who refuses by himself.
        """
        if token is None:
            raise unauthorized()
        game = self._repository.cached(game_id)
        seat = None if game is None else _seat_of(token, game)
        if game is None or seat is None:
            return self.authenticate(game_id, token)
        return Access(game, seat, from_store=False)

    def recheck(self, entered: Access, token: str | None) -> None:
        """Raises what ``enter`` would have raised if the game had been read before."""
        if not entered.from_store:
            self.authenticate(entered.game.id, token)

    def require_seat(self, game_id: str, token: str | None, seat: int) -> Access:
        """As ``enter``, but only for who plays this seat. Raises ``Forbidden`` for who plays another."""
        if token is None:
            raise unauthorized()
        entered = self.authenticate(game_id, token)
        if seat >= len(entered.game.seats):
            raise NotFound("There is no such seat.")
        if seat != entered.seat:
            raise Forbidden("This is not the token of that seat.")
        return entered

    def view(self, entered: Access) -> GameView:
        """The game as the bearer may know it."""
        return view_game(entered.game, entered.seat, self._ttl)

    def legal_moves(self, entered: Access) -> LegalMoves:
        """The legal moves of the bearer's seat now."""
        game, seat, _ = entered
        return LegalMoves(game.version, game.state.turn, legal_moves_for(game, seat))

    def check_join_code(self, entered: Access, join_code: str) -> None:
        """Raises ``Forbidden`` unless this is the join code of the game."""
        if find_hash(join_code, [entered.game.join_hash]) is None:
            raise Forbidden("This is not the join code of the game.")

    def join(
        self,
        entered: Access,
        join_code: str,
        name: str,
        client_seed: str | None = None,
        once: IdempotencyKey | None = None,
    ) -> CommandResult[JoinedSeat]:
        """Take the first open seat; when it was the last one, the first round is dealt.

        Raises ``Forbidden`` for a wrong code, ``InvalidSetup`` for a client seed where the chance is fixed,
        ``SeatsTaken`` when no seat is open, ``KeyReused``.
        """
        self.check_join_code(entered, join_code)
        _check_client_seed(entered.game, client_seed)
        once = self._idempotency.bind_secret(once)
        wish = None
        if once is not None:
            # A key belongs to its bearer, if there is one.
            wish = IdempotencyRecord(short_digest("join", str(entered.seat), once.key), once.fingerprint)

        def token_of(seat: int) -> str:
            # With the seat, for a key that is forgotten after a day may take another one.
            if once is None:
                return fresh
            return new_token(self._idempotency.derive_bytes("join", entered.game.id, str(seat), once.key))

        fresh = new_token(self._secrets)

        def take(game: Game) -> tuple[Game, list[GameEvent]]:
            seat = next((place for place, each in enumerate(game.seats) if each.kind == OPEN_SEAT), None)
            if seat is None:
                raise SeatsTaken("Every seat is taken.")
            taken = Seat(HUMAN, name, hash_secret(token_of(seat)))
            seats = (*game.seats[:seat], taken, *game.seats[seat + 1 :])
            game = _with_client_seed(game._replace(seats=seats), seat, client_seed)
            return deal_if_full(game, [Joined(seat, name)])

        changed = self._repository.transact(entered.game, take, wish)
        if isinstance(changed, PriorWrite):
            game, events = self._idempotency.replay(entered.game.id, changed, once)
        else:
            _, game, events = changed
        joined = [event for event in events if isinstance(event, Joined)][-1]
        own = SeatToken(joined.seat, joined.name, token_of(joined.seat))
        taken = JoinedSeat(own, view_game(game, joined.seat, self._ttl))
        return _result(taken, changed)

    def authorize_rotation(self, game_id: str, token: str | None, seat: int, key: str | None) -> TokenRotation:
        """As ``enter_seat``; but who has changed the token under this key may still show the old one."""
        try:
            game = self.require_seat(game_id, token, seat).game
        except Unauthorized:
            if token is None or key is None:
                raise
            kept = self._repository.find_write(game_id, _token_idempotency_name(token, seat, key))
            if kept is None:
                raise
            return TokenRotation(game_id, seat, token, None, kept)
        assert token is not None
        return TokenRotation(game_id, seat, token, game, None)

    def rotate_token(self, changing: TokenRotation, once: IdempotencyKey | None = None) -> CommandResult[SeatToken]:
        """Give the bearer's seat a new token; the old one opens nothing any more. Raises ``KeyReused``."""
        game_id, seat, token, game, kept = changing
        once = self._idempotency.bind_secret(once)
        draw, wish = self._secrets, None
        if once is not None:
            wish = IdempotencyRecord(_token_idempotency_name(token, seat, once.key), once.fingerprint)
            draw = self._idempotency.derive_bytes("token", game_id, token, str(seat), once.key)
        new = new_token(draw)
        if kept is not None:
            then, _ = self._idempotency.replay(game_id, kept, once)
            return CommandResult(SeatToken(seat, then.seats[seat].name or "", new), None, replayed=True)
        assert game is not None
        old_hash = game.seats[seat].token_hash

        def change(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != old_hash:
                raise unauthorized()  # another device was first
            own = game.seats[seat]._replace(token_hash=hash_secret(new))
            return game._replace(seats=(*game.seats[:seat], own, *game.seats[seat + 1 :])), [TokenChanged(seat)]

        changed = self._repository.transact(game, change, wish)
        if isinstance(changed, PriorWrite):
            self._idempotency.check(changed, once)
        return _result(SeatToken(seat, game.seats[seat].name or "", new), changed)

    def make_move(
        self,
        entered: Access,
        move: Move,
        precondition: Expected,
        client_seed: str | None = None,
        once: IdempotencyKey | None = None,
    ) -> CommandResult[GameView]:
        """Make one move for the bearer's seat and show the game as the mover then sees it.

        With a deal, the seat may give a new client seed. Raises ``InvalidSetup`` for one where the chance is fixed,
        ``MoveRefused``, whose cause is ``StaleVersion`` when the precondition fails, ``NotStarted``, or the referee's
        own refusal; ``KeyReused``.
        """
        seat = entered.seat
        if seat is None:
            raise unauthorized()
        wish = None if once is None else IdempotencyRecord(short_digest("move", str(seat), once.key), once.fingerprint)
        shown = entered.game.seats[seat].token_hash

        def make(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != shown:
                raise unauthorized()  # another device has changed it meanwhile
            _check_client_seed(game, client_seed)
            try:
                if not precondition(game.version, game.etag(seat)):
                    raise StaleVersion(f"The game is at version {game.version} now.")
                if game.has_open_seats:
                    raise NotStarted("Seats are still open; the game begins when they are taken.")
                game = _with_client_seed(game, seat, client_seed)
                events, state = advance(game.rules, game.deck, game.state, seat, move)
            except Refusal as refusal:
                raise MoveRefused(refusal, game.version, legal_moves_for(game, seat)) from refusal
            return game._replace(state=state, deck=game.deck.discard_used(state.round)), list(events)

        try:
            changed = self._repository.transact(entered.game, make, wish, fresh=entered.from_store)
            game = (
                self._repository.as_of(entered.game.id, changed)[0]
                if isinstance(changed, PriorWrite)
                else changed.after
            )
        except NotFound:
            # Whoever reads before moving would not have come in.
            raise unauthorized() from None
        if isinstance(changed, PriorWrite):
            if game.seats[seat].token_hash != shown:
                raise unauthorized()  # what was remembered of the token is not true any more
            self._idempotency.check(changed, once)
        return _result(view_game(game, seat, self._ttl), changed)

    def ping(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._repository.ping()

    def _now(self) -> int:
        return int(self._clock().timestamp() * 1000)


def _check_client_seed(game: Game, client_seed: str | None) -> None:
    if client_seed is not None and game.deck.game is None:
        raise InvalidSetup({"client_seed": [CHANCE_IS_FIXED]})


def _with_client_seed(game: Game, seat: int, client_seed: str | None) -> Game:
    return game if client_seed is None else game._replace(deck=game.deck.with_client_seed(seat, client_seed))


def _seat_of(token: str, game: Game) -> int | None:
    return find_hash(token, [each.token_hash for each in game.seats])


def _result(answer: T, changed: Committed | PriorWrite) -> CommandResult[T]:
    if isinstance(changed, PriorWrite):
        return CommandResult(answer, None, replayed=True)
    return CommandResult(answer, changed.before.status, replayed=False)


def _token_idempotency_name(token: str, seat: int, key: str) -> str:
    """The name of the wish for a changed token: a key belongs to who bore the old one."""
    return short_digest("token", token, str(seat), key)
