"""The use cases: open a game, enter it, join, look, move, read the score.

Owns the order of things: who the bearer is, whether the game still stands where the bearer thinks it
does, what the referee says, and one write that either happens whole or not at all. Must not know HTTP,
Redis, or the rules of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from service.engine.deal import Deck, seed_from_text
from service.engine.errors import Refusal
from service.engine.events import Round, RoundEnded
from service.engine.moves import Move
from service.engine.play import advance, apply, deal
from service.games.codec import NewerFormat, decode_event, decode_game, encode_event, encode_game
from service.games.errors import (
    Forbidden,
    MoveRefused,
    NotFound,
    NotStarted,
    SeatsTaken,
    StaleVersion,
    Unauthorized,
)
from service.games.game import HUMAN, OPEN_SEAT, Created, Game, GameEvent, Joined, Seat
from service.games.look import Look, ScoreCard, look_at, moves_of, standings
from service.games.ports import Clock, Secrets, StorageUnavailable, Store, Stored
from service.games.setup import GameRequest, check_request
from service.games.tokens import find_hash, hash_secret, new_game_id, new_join_code, new_token

_UPGRADE_SECONDS: Final = 30
_MOST_TRIES: Final = 16
"""How often a move without a version is tried again because somebody else was first."""

Precondition = Callable[[int, str], bool]
"""Whether the asker still means the game at this version, with this ETag for the asker."""


class Entered(NamedTuple):
    """A game, and the seat of the bearer in it (``None``: a spectator)."""

    game: Game
    seat: int | None


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


class LegalMoves(NamedTuple):
    """What a seat may do at this version."""

    version: int
    turn: int | None
    moves: tuple[Move, ...]


class Games:
    """All games there are, wherever they are kept; holds no state of its own."""

    def __init__(self, store: Store, clock: Clock, secrets: Secrets, ttl_seconds: int) -> None:
        self._store = store
        self._clock = clock
        self._secrets = secrets
        self._ttl = ttl_seconds * 1000

    def open(self, request: GameRequest) -> Opened:
        """Open a game and deal its first round if no seat is open. Raises ``BadSetup``."""
        variant, rules = check_request(request)
        now = self._now()
        tokens = tuple(
            [
                SeatToken(seat, each.name, new_token(self._secrets))
                for seat, each in enumerate(request.seats)
                if each.kind == HUMAN and each.name is not None
            ]
        )
        hashes = {each.seat: hash_secret(each.token) for each in tokens}
        has_open = any(each.kind == OPEN_SEAT for each in request.seats)
        join_code = new_join_code(self._secrets) if has_open else None
        game = Game(
            id=new_game_id(self._secrets),
            variant=variant.key,
            options=request.options,
            seats=tuple([Seat(each.kind, each.name, hashes.get(seat)) for seat, each in enumerate(request.seats)]),
            join_hash=None if join_code is None else hash_secret(join_code),
            arranged=request.seed is not None or bool(request.deals),
            deck=Deck(self._secrets(32) if request.seed is None else seed_from_text(request.seed), request.deals),
            version=0,
            created_at=now,
            updated_at=now,
            round_ends=(),
            state=rules.start(),
            edition=variant.edition,
        )
        game, events = _deal_if_full(game, [Created()])
        game = _at_version(game, len(events), now)
        self._store.create(game.id, encode_game(game), [encode_event(event, 0) for event in events])
        return Opened(look_at(game, None, self._ttl), tokens, join_code)

    def enter(self, game_id: str, token: str | None) -> Entered:
        """The game as it is now, and the seat that ``token`` plays; without one, as a spectator.

        Raises ``NotFound``, or, for whoever shows a token, ``Unauthorized``: a game that is not there
        cannot be told from a token that is not its.
        """
        stored = self._store.read(game_id)
        if stored is None:
            raise NotFound("There is no such game.") if token is None else _unauthorized()
        game = _decode(game_id, stored)
        if token is None:
            return Entered(game, None)
        seat = find_hash(token, [each.token_hash for each in game.seats])
        if seat is None:
            raise _unauthorized()
        return Entered(game, seat)

    def enter_to_move(self, game_id: str, token: str | None) -> Entered:
        """As ``enter``, but only for who plays a seat."""
        if token is None:
            raise _unauthorized()
        return self.enter(game_id, token)

    def look(self, entered: Entered) -> Look:
        """The game as the bearer may know it."""
        return look_at(entered.game, entered.seat, self._ttl)

    def legal_moves(self, entered: Entered) -> LegalMoves:
        """The legal moves of the bearer's seat now."""
        game, seat = entered
        return LegalMoves(game.version, game.state.turn, moves_of(game, seat))

    def check_join_code(self, entered: Entered, join_code: str) -> None:
        """Raises ``Forbidden`` unless this is the join code of the game."""
        if find_hash(join_code, [entered.game.join_hash]) is None:
            raise Forbidden("This is not the join code of the game.")

    def join(self, entered: Entered, join_code: str, name: str) -> Taken:
        """Take the first open seat; when it was the last one, the first round is dealt.

        Raises ``Forbidden`` for a wrong code, ``SeatsTaken`` when no seat is open.
        """
        self.check_join_code(entered, join_code)
        token = new_token(self._secrets)

        def take(game: Game) -> tuple[Game, list[GameEvent]]:
            seat = next((place for place, each in enumerate(game.seats) if each.kind == OPEN_SEAT), None)
            if seat is None:
                raise SeatsTaken("Every seat is taken.")
            taken = Seat(HUMAN, name, hash_secret(token))
            seats = (*game.seats[:seat], taken, *game.seats[seat + 1 :])
            return _deal_if_full(game._replace(seats=seats), [Joined(seat, name)])

        game, events = self._write(entered.game, take)
        joined = next(event for event in events if isinstance(event, Joined))
        return Taken(SeatToken(joined.seat, name, token), look_at(game, joined.seat, self._ttl))

    def move(self, entered: Entered, move: Move, precondition: Precondition) -> Look:
        """Make one move for the bearer's seat and show the game as the mover now sees it.

        Raises ``MoveRefused``, whose cause is ``StaleVersion`` when the precondition fails, ``NotStarted``, or
        the referee's own refusal.
        """
        seat = entered.seat
        if seat is None:
            raise _unauthorized()

        def make(game: Game) -> tuple[Game, list[GameEvent]]:
            try:
                if not precondition(game.version, game.etag(seat)):
                    raise StaleVersion(f"The game is at version {game.version} now.")
                if game.waiting:
                    raise NotStarted("Seats are still open; the game begins when they are taken.")
                events, state = advance(game.rules, game.deck, game.state, seat, move)
            except Refusal as refusal:
                raise MoveRefused(refusal, game.version, moves_of(game, seat)) from refusal
            return game._replace(state=state, deck=game.deck.without_spent(state.round)), list(events)

        game, _ = self._write(entered.game, make)
        return look_at(game, seat, self._ttl)

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

    def check(self) -> None:
        """Raises ``StorageUnavailable`` if games cannot be read now."""
        self._store.check()

    def _rounds(self, game: Game) -> tuple[Round, ...]:
        if not game.round_ends:
            return ()
        kept = self._store.events(game.id, game.round_ends)
        if len(kept) != len(game.round_ends):
            raise NotFound("There is no such game any more.")
        events = [
            decode_event(version, game.created_at, data).event
            for version, data in zip(game.round_ends, kept, strict=True)
        ]
        return tuple([event.round for event in events if isinstance(event, RoundEnded)])

    def _write(
        self, game: Game, change: Callable[[Game], tuple[Game, list[GameEvent]]]
    ) -> tuple[Game, Sequence[GameEvent]]:
        """Make a change, again on the true state whenever somebody else was first. Raises what ``change`` raises."""
        for _ in range(_MOST_TRIES):
            changed, events = change(game)
            now = max(self._now(), game.updated_at)
            changed = _at_version(changed, game.version + len(events), now, events)
            data = [encode_event(event, now - game.created_at) for event in events]
            try:
                true = self._store.commit(game.id, game.version, encode_game(changed), data)
            except KeyError:
                raise NotFound("There is no such game any more.") from None
            if true is None:
                return changed, events
            game = _decode(game.id, true)
        raise StorageUnavailable("contention")

    def _now(self) -> int:
        return int(self._clock().timestamp() * 1000)


def _decode(game_id: str, stored: Stored) -> Game:
    try:
        return decode_game(game_id, stored.version, stored.state)
    except NewerFormat:
        # Another machine runs a newer service already; soon this one will, too.
        raise StorageUnavailable("newer format", retry_after=_UPGRADE_SECONDS) from None


def _deal_if_full(game: Game, events: list[GameEvent]) -> tuple[Game, list[GameEvent]]:
    """The game with its first round dealt, unless somebody is still to come."""
    if game.waiting:
        return game, events
    dealt = deal(game.rules, game.deck, game.state)
    state = apply(game.rules, game.state, dealt)
    return game._replace(state=state, deck=game.deck.without_spent(state.round)), [*events, dealt]


def _at_version(game: Game, version: int, now: int, events: Sequence[GameEvent] = ()) -> Game:
    first = version - len(events) + 1
    ends = [first + place for place, event in enumerate(events) if isinstance(event, RoundEnded)]
    return game._replace(version=version, updated_at=now, round_ends=(*game.round_ends, *ends))


def _unauthorized() -> Unauthorized:
    return Unauthorized("This needs the token of a seat in this game.")
