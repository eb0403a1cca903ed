"""The use cases: open a game, enter it, join, look, move, change a token.

Owns the order of things: who the bearer is, whether the game still stands where the bearer thinks it
does, what the referee says, and one write that either happens whole or not at all, and once, however often
it is asked for. What has happened is told by ``service.games.chronicle``. Must not know HTTP, Redis, or the rules of
any game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from service.engine.errors import BadSetup, Refusal
from service.engine.moves import Move
from service.engine.play import advance
from service.games.answers import Changing, Entered, LegalMoves, Made, Opened, SeatToken, Taken
from service.games.chronicle import Chronicle
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
from service.games.founding import deal_if_full, found
from service.games.game import HUMAN, OPEN_SEAT, Created, Game, GameEvent, Joined, Seat, TokenChanged
from service.games.keeping import arranged_again, beginning_of
from service.games.ledger import Changed, Ledger
from service.games.look import Look, look_at, moves_of
from service.games.ports import Clock, Feed, Kept, Later, Secrets, Store, Wish, at_once
from service.games.repeats import Once, Repeats
from service.games.setup import ARRANGED, GameRequest, check_request
from service.games.tokens import find_hash, hash_secret, new_game_id, new_token, short_digest

T = TypeVar("T")

Precondition = Callable[[int, str], bool]
"""Whether the asker still means the game at this version, with this ETag for the asker."""


class Games:
    """All games there are, wherever they are kept; has no state but what its ledger remembers of them.

    ``secret`` is what tokens are drawn from again when a request is repeated under its key: the same for every
    process that serves the same store. The ``ttl_seconds`` are those of the store. In long work ``breathe`` is called
    every now and then, to let others run; what nobody waits for is done ``later``.
    """

    def __init__(
        self,
        store: Store,
        feed: Feed,
        *,
        clock: Clock,
        secrets: Secrets,
        secret: bytes,
        ttl_seconds: int,
        breathe: Callable[[], None] = lambda: None,
        later: Later = at_once,
    ) -> None:
        self._ledger = Ledger(store, self._now, secrets, later)
        self._repeats = Repeats(self._ledger, secret)
        self._clock = clock
        self._secrets = secrets
        self._ttl = ttl_seconds * 1000
        self._breathe = breathe
        self.chronicle = Chronicle(self._ledger, feed, self._ttl)
        """What has happened in them, told."""

    def open(self, request: GameRequest, once: Once | None = None) -> Made[Opened]:
        """Open a game and deal its first round if no seat is open. Raises ``BadSetup``, ``KeyReused``."""
        once = self._repeats.marked(once)
        begun = None
        if request.origin is not None:
            begun = beginning_of(request.origin, len(request.seats), self._breathe)
            request = request._replace(variant=begun.variant, options=begun.options)
        variant, rules = check_request(request)
        now = self._now()
        game_id = new_game_id(self._secrets)
        draw, wish = self._secrets, None
        if once is not None:
            name = short_digest("create", once.key)
            game_id = self._ledger.reserve(name, game_id)
            draw, wish = self._repeats.draw("create", game_id), Wish(name, once.fingerprint)
        state = rules.start() if begun is None else begun.position.state
        game, tokens, join_code = found(
            request, variant, state, game_id=game_id, now=now, draw=draw, secrets=self._secrets
        )
        before = [] if begun is None else arranged_again(begun.position.events)
        game, events = deal_if_full(game, [Created(game.deck.commitment(1)), *before])
        made = self._ledger.open(game, events, wish)
        replayed = isinstance(made, Kept)
        game = self._repeats.then(game_id, made, once)[0] if isinstance(made, Kept) else made
        return Made(Opened(look_at(game, None, self._ttl), tokens, join_code), None, replayed=replayed)

    def enter(self, game_id: str, token: str | None) -> Entered:
        """The game as it is now, and the seat that ``token`` plays; without one, as a spectator.

        Raises ``NotFound``, or, for whoever shows a token, ``Unauthorized``: a game that is not there
        cannot be told from a token that is not its.
        """
        game = self._ledger.read(game_id)
        if game is None:
            raise NotFound("There is no such game.") if token is None else unauthorized()
        if token is None:
            return Entered(game, None)
        seat = _seat_of(token, game)
        if seat is None:
            raise unauthorized()
        return Entered(game, seat)

    def enter_to_move(self, game_id: str, token: str | None) -> Entered:
        """As ``enter``, but only for who plays a seat, and perhaps as the game was a moment ago.

        That saves a read; ``move`` makes sure that it changes no answer, and ``confirm`` for who refuses by himself.
        """
        if token is None:
            raise unauthorized()
        game = self._ledger.recall(game_id)
        seat = None if game is None else _seat_of(token, game)
        if game is None or seat is None:
            return self.enter(game_id, token)
        return Entered(game, seat, fresh=False)

    def confirm(self, entered: Entered, token: str | None) -> None:
        """Raises what ``enter`` would have raised if the game had been read before."""
        if not entered.fresh:
            self.enter(entered.game.id, token)

    def enter_seat(self, game_id: str, token: str | None, seat: int) -> Entered:
        """As ``enter``, but only for who plays this seat. Raises ``Forbidden`` for who plays another."""
        if token is None:
            raise unauthorized()
        entered = self.enter(game_id, token)
        if seat >= len(entered.game.seats):
            raise NotFound("There is no such seat.")
        if seat != entered.seat:
            raise Forbidden("This is not the token of that seat.")
        return entered

    def look(self, entered: Entered) -> Look:
        """The game as the bearer may know it."""
        return look_at(entered.game, entered.seat, self._ttl)

    def legal_moves(self, entered: Entered) -> LegalMoves:
        """The legal moves of the bearer's seat now."""
        game, seat, _ = entered
        return LegalMoves(game.version, game.state.turn, moves_of(game, seat))

    def check_join_code(self, entered: Entered, join_code: str) -> None:
        """Raises ``Forbidden`` unless this is the join code of the game."""
        if find_hash(join_code, [entered.game.join_hash]) is None:
            raise Forbidden("This is not the join code of the game.")

    def join(
        self, entered: Entered, join_code: str, name: str, client_seed: str | None = None, once: Once | None = None
    ) -> Made[Taken]:
        """Take the first open seat; when it was the last one, the first round is dealt.

        Raises ``Forbidden`` for a wrong code, ``BadSetup`` for a client seed where the chance is fixed, ``SeatsTaken``
        when no seat is open, ``KeyReused``.
        """
        self.check_join_code(entered, join_code)
        _check_client_seed(entered.game, client_seed)
        once = self._repeats.marked(once)
        wish = None
        if once is not None:
            # A key belongs to its bearer, if there is one.
            wish = Wish(short_digest("join", str(entered.seat), once.key), once.fingerprint)

        def token_of(seat: int) -> str:
            # With the seat, for a key that is forgotten after a day may take another one.
            if once is None:
                return fresh
            return new_token(self._repeats.draw("join", entered.game.id, str(seat), once.key))

        fresh = new_token(self._secrets)

        def take(game: Game) -> tuple[Game, list[GameEvent]]:
            seat = next((place for place, each in enumerate(game.seats) if each.kind == OPEN_SEAT), None)
            if seat is None:
                raise SeatsTaken("Every seat is taken.")
            taken = Seat(HUMAN, name, hash_secret(token_of(seat)))
            seats = (*game.seats[:seat], taken, *game.seats[seat + 1 :])
            game = _with_client_seed(game._replace(seats=seats), seat, client_seed)
            return deal_if_full(game, [Joined(seat, name)])

        changed = self._ledger.change(entered.game, take, wish)
        if isinstance(changed, Kept):
            game, events = self._repeats.then(entered.game.id, changed, once)
        else:
            _, game, events = changed
        joined = [event for event in events if isinstance(event, Joined)][-1]
        own = SeatToken(joined.seat, joined.name, token_of(joined.seat))
        taken = Taken(own, look_at(game, joined.seat, self._ttl))
        return _made(taken, changed)

    def enter_to_change(self, game_id: str, token: str | None, seat: int, key: str | None) -> Changing:
        """As ``enter_seat``; but who has changed the token under this key may still show the old one."""
        try:
            game = self.enter_seat(game_id, token, seat).game
        except Unauthorized:
            if token is None or key is None:
                raise
            kept = self._ledger.kept(game_id, _token_wish(token, seat, key))
            if kept is None:
                raise
            return Changing(game_id, seat, token, None, kept)
        assert token is not None
        return Changing(game_id, seat, token, game, None)

    def change_token(self, changing: Changing, once: Once | None = None) -> Made[SeatToken]:
        """Give the bearer's seat a new token; the old one opens nothing any more. Raises ``KeyReused``."""
        game_id, seat, token, game, kept = changing
        once = self._repeats.marked(once)
        draw, wish = self._secrets, None
        if once is not None:
            wish = Wish(_token_wish(token, seat, once.key), once.fingerprint)
            draw = self._repeats.draw("token", game_id, token, str(seat), once.key)
        new = new_token(draw)
        if kept is not None:
            then, _ = self._repeats.then(game_id, kept, once)
            return Made(SeatToken(seat, then.seats[seat].name or "", new), None, replayed=True)
        assert game is not None
        old_hash = game.seats[seat].token_hash

        def change(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != old_hash:
                raise unauthorized()  # another device was first
            own = game.seats[seat]._replace(token_hash=hash_secret(new))
            return game._replace(seats=(*game.seats[:seat], own, *game.seats[seat + 1 :])), [TokenChanged(seat)]

        changed = self._ledger.change(game, change, wish)
        if isinstance(changed, Kept):
            self._repeats.check(changed, once)
        return _made(SeatToken(seat, game.seats[seat].name or "", new), changed)

    def move(
        self,
        entered: Entered,
        move: Move,
        precondition: Precondition,
        client_seed: str | None = None,
        once: Once | None = None,
    ) -> Made[Look]:
        """Make one move for the bearer's seat and show the game as the mover then sees it.

        With a deal, the seat may give a new client seed. Raises ``BadSetup`` for one where the chance is fixed,
        ``MoveRefused``, whose cause is ``StaleVersion`` when the precondition fails, ``NotStarted``, or the referee's
        own refusal; ``KeyReused``.
        """
        seat = entered.seat
        if seat is None:
            raise unauthorized()
        wish = None if once is None else Wish(short_digest("move", str(seat), once.key), once.fingerprint)
        shown = entered.game.seats[seat].token_hash

        def make(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != shown:
                raise unauthorized()  # another device has changed it meanwhile
            _check_client_seed(game, client_seed)
            try:
                if not precondition(game.version, game.etag(seat)):
                    raise StaleVersion(f"The game is at version {game.version} now.")
                if game.waiting:
                    raise NotStarted("Seats are still open; the game begins when they are taken.")
                game = _with_client_seed(game, seat, client_seed)
                events, state = advance(game.rules, game.deck, game.state, seat, move)
            except Refusal as refusal:
                raise MoveRefused(refusal, game.version, moves_of(game, seat)) from refusal
            return game._replace(state=state, deck=game.deck.without_spent(state.round)), list(events)

        try:
            changed = self._ledger.change(entered.game, make, wish, fresh=entered.fresh)
            game = self._ledger.then(entered.game.id, changed)[0] if isinstance(changed, Kept) else changed.after
        except NotFound:
            # Whoever reads before moving would not have come in.
            raise unauthorized() from None
        if isinstance(changed, Kept):
            if game.seats[seat].token_hash != shown:
                raise unauthorized()  # what was remembered of the token is not true any more
            self._repeats.check(changed, once)
        return _made(look_at(game, seat, self._ttl), changed)

    def check(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._ledger.check()

    def _now(self) -> int:
        return int(self._clock().timestamp() * 1000)


def _check_client_seed(game: Game, client_seed: str | None) -> None:
    if client_seed is not None and game.deck.game is None:
        raise BadSetup({"client_seed": [ARRANGED]})


def _with_client_seed(game: Game, seat: int, client_seed: str | None) -> Game:
    return game if client_seed is None else game._replace(deck=game.deck.with_client_seed(seat, client_seed))


def _seat_of(token: str, game: Game) -> int | None:
    return find_hash(token, [each.token_hash for each in game.seats])


def _made(answer: T, changed: Changed | Kept) -> Made[T]:
    if isinstance(changed, Kept):
        return Made(answer, None, replayed=True)
    return Made(answer, changed.before.status, replayed=False)


def _token_wish(token: str, seat: int, key: str) -> str:
    """The name of the wish for a changed token: a key belongs to who bore the old one."""
    return short_digest("token", token, str(seat), key)
