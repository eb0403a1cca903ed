"""The use cases: open a game, enter it, join, look, move, change a token, read the score, follow.

Owns the order of things: who the bearer is, whether the game still stands where the bearer thinks it
does, what the referee says, and one write that either happens whole or not at all, and once, however often
it is asked for. Must not know HTTP, Redis, or the rules of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hmac import digest
from threading import BoundedSemaphore
from typing import Final, Generic, NamedTuple, TypeVar

from service.engine.deal import Deck, seed_from_text
from service.engine.errors import BadSetup, Refusal
from service.engine.events import Round, RoundEnded
from service.engine.moves import Move
from service.engine.play import advance, apply, deal
from service.games.errors import (
    Forbidden,
    KeyReused,
    MoveRefused,
    NotFound,
    NotStarted,
    SeatsTaken,
    StaleVersion,
    Unauthorized,
)
from service.games.fairness import Fairness, fairness_of
from service.games.following import Follower, Following
from service.games.game import HUMAN, OPEN_SEAT, Created, Game, GameEvent, Joined, Seat, Status, TokenChanged
from service.games.keeping import arranged_again, beginning_of, record_of
from service.games.ledger import Changed, Ledger, decode
from service.games.look import (
    EventLook,
    EventPage,
    Look,
    Reset,
    ScoreCard,
    look_at,
    look_at_event,
    moves_of,
    standings,
)
from service.games.ports import Clock, Feed, Kept, OutcomeUnknown, Secrets, StorageUnavailable, Store, Wish
from service.games.setup import ARRANGED, GameRequest, check_request
from service.games.tokens import (
    Derived,
    find_hash,
    hash_secret,
    new_game_id,
    new_join_code,
    new_token,
    short_digest,
)
from service.records.record import Record

_TURNS: Final = 16
"""How many followers catch up at a time; connections are left for whoever plays."""

_NOWHERE: Final = -1
"""A cursor before all that is kept."""

T = TypeVar("T")

Precondition = Callable[[int, str], bool]
"""Whether the asker still means the game at this version, with this ETag for the asker."""


class Entered(NamedTuple):
    """A game, and the seat of the bearer in it (``None``: a spectator); ``fresh`` if it was read just now."""

    game: Game
    seat: int | None
    fresh: bool = True

    @property
    def etag(self) -> str:
        """What names this version of the game for this bearer."""
        return self.game.etag(self.seat)


class SeatToken(NamedTuple):
    """A seat with the token that plays it, shown only once."""

    seat: int
    name: str
    token: str


class Opened(NamedTuple):
    """A game just opened: as a spectator sees it, and the secrets that its creator hands on."""

    look: Look
    seats: tuple[SeatToken, ...]
    join_code: str | None


class Taken(NamedTuple):
    """An open seat just taken, with the game as its new owner sees it."""

    seat: SeatToken
    look: Look


class Once(NamedTuple):
    """The wish that something be done once: the client's key, and a digest of what it asks."""

    key: str
    fingerprint: bytes


class Made(NamedTuple, Generic[T]):
    """What a request has made, or, if ``replayed``, what it made when it was asked the first time.

    ``before`` is where the game stood before, if there was one and it was changed now.
    """

    answer: T
    before: Status | None
    replayed: bool


class Changing(NamedTuple):
    """Who may change the token of a seat: its bearer, or who changed it under this key before (``kept``)."""

    game_id: str
    seat: int
    token: str
    game: Game | None
    kept: Kept | None


class LegalMoves(NamedTuple):
    """What a seat may do at this version."""

    version: int
    turn: int | None
    moves: tuple[Move, ...]


class Games:
    """All games there are, wherever they are kept; has no state but what its ledger remembers of them.

    ``secret`` is what tokens are drawn from again when a request is repeated under its key: the same for every
    process that serves the same store. The ``ttl_seconds`` are those of the store. In long work ``breathe`` is called
    every now and then, to let others run.
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
    ) -> None:
        self._store = store
        self._ledger = Ledger(store, self._now, secrets)
        self._feed = feed
        self._clock = clock
        self._secrets = secrets
        self._secret = secret
        self._mark = digest(secret, b"mark", "sha256").hex()[:8].encode()
        self._ttl = ttl_seconds * 1000
        self._breathe = breathe
        self._turns = BoundedSemaphore(_TURNS)

    def open(self, request: GameRequest, once: Once | None = None) -> Made[Opened]:
        """Open a game and deal its first round if no seat is open. Raises ``BadSetup``, ``KeyReused``."""
        once = self._marked(once)
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
            game_id = self._reserve(name, game_id)
            draw, wish = Derived(self._secret, "create", game_id), Wish(name, once.fingerprint)
        tokens = tuple(
            [
                SeatToken(seat, each.name, new_token(draw))
                for seat, each in enumerate(request.seats)
                if each.kind == HUMAN and each.name is not None
            ]
        )
        hashes = {each.seat: hash_secret(each.token) for each in tokens}
        has_open = any(each.kind == OPEN_SEAT for each in request.seats)
        join_code = new_join_code(draw) if has_open else None
        deck = self._deck(request, game_id)
        game = Game(
            id=game_id,
            variant=variant.key,
            options=request.options,
            seats=tuple([Seat(each.kind, each.name, hashes.get(seat)) for seat, each in enumerate(request.seats)]),
            join_hash=None if join_code is None else hash_secret(join_code),
            arranged=request.arranged,
            deck=deck,
            version=0,
            created_at=now,
            updated_at=now,
            round_ends=(),
            state=rules.start() if begun is None else begun.position.state,
            edition=variant.edition,
        )
        before = [] if begun is None else arranged_again(begun.position.events)
        game, events = _deal_if_full(game, [Created(deck.commitment(1)), *before])
        made = self._ledger.open(game, events, wish)
        replayed = isinstance(made, Kept)
        game = self._then(game_id, made, once)[0] if isinstance(made, Kept) else made
        return Made(Opened(look_at(game, None, self._ttl), tokens, join_code), None, replayed=replayed)

    def enter(self, game_id: str, token: str | None) -> Entered:
        """The game as it is now, and the seat that ``token`` plays; without one, as a spectator.

        Raises ``NotFound``, or, for whoever shows a token, ``Unauthorized``: a game that is not there
        cannot be told from a token that is not its.
        """
        game = self._ledger.read(game_id)
        if game is None:
            raise NotFound("There is no such game.") if token is None else _unauthorized()
        if token is None:
            return Entered(game, None)
        seat = _seat_of(token, game)
        if seat is None:
            raise _unauthorized()
        return Entered(game, seat)

    def enter_to_move(self, game_id: str, token: str | None) -> Entered:
        """As ``enter``, but only for who plays a seat, and perhaps as the game was a moment ago.

        That saves a read; ``move`` makes sure that it changes no answer, and ``confirm`` for who refuses by himself.
        """
        if token is None:
            raise _unauthorized()
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
            raise _unauthorized()
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
        once = self._marked(once)
        wish = None
        if once is not None:
            # A key belongs to its bearer, if there is one.
            wish = Wish(short_digest("join", str(entered.seat), once.key), once.fingerprint)

        def token_of(seat: int) -> str:
            # With the seat, for a key that is forgotten after a day may take another one.
            if once is None:
                return fresh
            return new_token(Derived(self._secret, "join", entered.game.id, str(seat), once.key))

        fresh = new_token(self._secrets)

        def take(game: Game) -> tuple[Game, list[GameEvent]]:
            seat = next((place for place, each in enumerate(game.seats) if each.kind == OPEN_SEAT), None)
            if seat is None:
                raise SeatsTaken("Every seat is taken.")
            taken = Seat(HUMAN, name, hash_secret(token_of(seat)))
            seats = (*game.seats[:seat], taken, *game.seats[seat + 1 :])
            game = _with_client_seed(game._replace(seats=seats), seat, client_seed)
            return _deal_if_full(game, [Joined(seat, name)])

        changed = self._ledger.change(entered.game, take, wish)
        if isinstance(changed, Kept):
            game, events = self._then(entered.game.id, changed, once)
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
        once = self._marked(once)
        draw, wish = self._secrets, None
        if once is not None:
            wish = Wish(_token_wish(token, seat, once.key), once.fingerprint)
            draw = Derived(self._secret, "token", game_id, token, str(seat), once.key)
        new = new_token(draw)
        if kept is not None:
            then, _ = self._then(game_id, kept, once)
            return Made(SeatToken(seat, then.seats[seat].name or "", new), None, replayed=True)
        assert game is not None
        old_hash = game.seats[seat].token_hash

        def change(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != old_hash:
                raise _unauthorized()  # another device was first
            own = game.seats[seat]._replace(token_hash=hash_secret(new))
            return game._replace(seats=(*game.seats[:seat], own, *game.seats[seat + 1 :])), [TokenChanged(seat)]

        changed = self._ledger.change(game, change, wish)
        if isinstance(changed, Kept):
            self._check_fingerprint(changed, once)
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
            raise _unauthorized()
        wish = None if once is None else Wish(short_digest("move", str(seat), once.key), once.fingerprint)
        shown = entered.game.seats[seat].token_hash

        def make(game: Game) -> tuple[Game, list[GameEvent]]:
            if game.seats[seat].token_hash != shown:
                raise _unauthorized()  # another device has changed it meanwhile
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
            raise _unauthorized() from None
        if isinstance(changed, Kept):
            if game.seats[seat].token_hash != shown:
                raise _unauthorized()  # what was remembered of the token is not true any more
            self._check_fingerprint(changed, once)
        return _made(look_at(game, seat, self._ttl), changed)

    def score(self, entered: Entered) -> ScoreCard:
        """The score card: the standings, and every round's count."""
        game = entered.game
        rules = game.rules
        settled = rules.settlement if game.status == "finished" else None
        return ScoreCard(
            look=look_at(game, entered.seat, self._ttl),
            standings=standings(game),
            rounds=self._rounds(game),
            settlement=None if settled is None else settled(game.state),
        )

    def fairness(self, entered: Entered) -> Fairness:
        """What is told of the luck of the game by now; the same for everybody."""
        game = entered.game
        return fairness_of(game, [each.event for each in self._ledger.history(game)[: game.version]])

    def record(self, entered: Entered) -> Record:
        """The game as a record, as the bearer may know it."""
        game, seat, _ = entered
        return record_of(game, self._ledger.history(game)[: game.version], seat)

    def events(self, entered: Entered, after: int, limit: int) -> EventPage:
        """At most ``limit`` of the events after a version, as the bearer may know them.

        If they are not kept any more, or the version has never been, the page holds a ``Reset`` alone. It ends where
        the bearer's seat was given a new token.
        """
        return self._page(_follower(entered), after if after <= entered.game.version else _NOWHERE, limit)

    def follow(self, entered: Entered, after: int) -> Following:
        """What happens in the game after a version, told as it happens, as the bearer may know it."""
        if after > entered.game.version:
            after = _NOWHERE  # it has never been; should it come about meanwhile, it is not what was meant
        return Following(
            _follower(entered), after, self._feed, self._page, turns=self._turns, ttl_seconds=self._ttl / 1000
        )

    def _page(self, follower: Follower, after: int, limit: int) -> EventPage:
        game, created_at, seat, _, entered, _ = follower
        passage = self._ledger.passage(game, after, limit)
        if after > passage.version or passage.first > after + 1:
            return self._reset(follower)
        told: list[EventLook] = []
        for version, data in enumerate(passage.events, passage.first):
            happened = decode(version, created_at, data)
            told.append(look_at_event(happened, seat))
            if version > entered and seat is not None and happened.event == TokenChanged(seat):
                break  # what comes after it is for the new token
        reached = after + len(told)
        return EventPage(tuple(told), reached, more=reached < passage.version)

    def _reset(self, follower: Follower) -> EventPage:
        game, seat = self._ledger.read_again(follower.game), follower.seat
        if seat is not None and game.seats[seat].token_hash != follower.token_hash:
            raise _unauthorized()
        look = look_at(game, seat, self._ttl)
        return EventPage((EventLook(look.version, look.updated_at, Reset(look)),), look.version, more=False)

    def check(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._store.check()

    def _rounds(self, game: Game) -> tuple[Round, ...]:
        events = self._ledger.events(game, game.round_ends)
        return tuple([event.round for event in events if isinstance(event, RoundEnded)])

    def _deck(self, request: GameRequest, game_id: str) -> Deck:
        """Where the tiles of a game come from that is asked for."""
        seed = self._secrets(32) if request.seed is None else seed_from_text(request.seed)
        if request.arranged:
            return Deck(seed, request.deals)
        return Deck(seed, game=game_id, client_seeds=tuple([each.client_seed or "" for each in request.seats]))

    def _reserve(self, name: str, game_id: str) -> str:
        """The id for the game under that name: this one, or the one that it got when it was asked for first."""
        try:
            return self._store.reserve(name, game_id)
        except OutcomeUnknown as error:
            # An id may be reserved or not: no game is made.
            raise StorageUnavailable(error.reason, error.retry_after) from error

    def _marked(self, once: Once | None) -> Once | None:
        """The same wish, marked with the secret that tokens are drawn from for it: another draws other tokens."""
        return None if once is None else once._replace(fingerprint=b"%b.%b" % (once.fingerprint, self._mark))

    def _check_fingerprint(self, kept: Kept, once: Once | None) -> None:
        if once is not None and kept.fingerprint == once.fingerprint:
            return
        if once is not None and kept.fingerprint.partition(b".")[0] == once.fingerprint.partition(b".")[0]:
            raise RuntimeError("SECRET is not the one that these tokens were made with")
        raise KeyReused("This idempotency key stood for another request before.")

    def _then(self, game_id: str, kept: Kept, once: Once | None) -> tuple[Game, Sequence[GameEvent]]:
        """The game just after what was made under a key, and all that had happened by then. Raises ``KeyReused``."""
        self._check_fingerprint(kept, once)
        return self._ledger.then(game_id, kept)

    def _now(self) -> int:
        return int(self._clock().timestamp() * 1000)


def _deal_if_full(game: Game, events: list[GameEvent]) -> tuple[Game, list[GameEvent]]:
    """The game with its first round dealt, unless somebody is still to come, or it goes on from a record."""
    if game.waiting or game.state.round:
        return game, events
    dealt = deal(game.rules, game.deck, game.state)
    state = apply(game.rules, game.state, dealt)
    return game._replace(state=state, deck=game.deck.without_spent(state.round)), [*events, dealt]


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


def _follower(entered: Entered) -> Follower:
    game, seat, _ = entered
    token_hash = None if seat is None else game.seats[seat].token_hash
    return Follower(game.id, game.created_at, seat, token_hash, game.version, game.status == "finished")


def _unauthorized() -> Unauthorized:
    return Unauthorized("This needs the token of a seat in this game.")
