"""What one viewer can see of a game: the view of the match, the seats, the table, the events and the score card.

Owns the view of a hosted game, which contains that of its match (``service.engine.view`` alone redacts), and the text
form of a time. Does not depend on how a view becomes JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

from service.engine.events import Event, RoundResult
from service.engine.layout import Layout
from service.engine.moves import Move
from service.engine.presence import Presence, ranking
from service.engine.referee import legal_moves
from service.engine.variant import Rules, Settlement, Spread, Variant
from service.engine.view import DealtView, DrewView, View, event_view, view
from service.games.model.clock import ClockSettings
from service.games.model.game import OWNER, Game, GameStatus, Viewer
from service.games.model.game_events import EventEnvelope, Filled, HostingEvent, Joined, Renamed
from service.games.model.schedule import Lifetimes
from service.games.model.seats import BOT, Seat, SeatKind, left_name

WITH_NAME: Final = (Joined, Renamed, Filled)
"""The types of events that contain the name of a player."""


class SeatView(NamedTuple):
    """A seat and its player, without what is hidden from the viewer; ``name`` is ``None`` for an open seat."""

    kind: SeatKind
    name: str | None
    level: str | None = None
    away: bool = False
    forfeited: bool = False
    bank: int | None = None
    """Milliseconds left at the beginning of the running turn; ``None`` without banks, and for a computer player."""
    ref: str | None = None


class GameView(NamedTuple):
    """A game at one version, as one viewer can see it. Times are in milliseconds since 1970.

    ``deadline``: of the running turn or deal, with the allowance after an outage.
    ``ref``: only its owner sees it.
    ``join_code``: for the open seats; only the owner sees it.
    ``fills_at``: when computer players get the open seats; ``None`` for never.
    """

    id: str
    variant: Variant
    rules: Rules
    arranged: bool
    status: GameStatus
    version: int
    seats: tuple[SeatView, ...]
    view: View
    etag: str
    created_at: int
    updated_at: int
    expires_at: int
    commitments: tuple[bytes, ...]
    unique_names: bool
    clock: ClockSettings | None = None
    deadline: int | None = None
    ref: str | None = None
    join_code: str | None = None
    rematch: str | None = None
    rematch_of: str | None = None
    spectators: bool = True
    auto: bool = False
    fills_at: int | None = None


class TableView(NamedTuple):
    """The tiles on the table at one version of a ``game``, and their set; the same for every viewer."""

    game: str
    version: int
    round: int
    layout: Layout
    spread: Spread
    tiles_in_set: int
    highest: int
    """The highest number of the set."""


class Standing(NamedTuple):
    """The rank of a seat in the match. Tied seats share a rank, and the ranks after it are skipped (1, 1, 3)."""

    seat: int
    name: str | None
    total: int
    rank: int
    in_match: bool
    team: int | None
    forfeited: bool


class ScoreCard(NamedTuple):
    """The standings, the result of every finished round, and the settlement of a finished match."""

    view: GameView
    standings: tuple[Standing, ...]
    rounds: tuple[RoundResult, ...]
    settlement: Settlement | None


@dataclass(frozen=True, slots=True)
class Reset:
    """The current view of the game, in place of events that cannot be returned."""

    view: GameView


@dataclass(frozen=True, slots=True)
class Deleted:
    """The last event of a deleted game."""


class EventView(NamedTuple):
    """An event as one viewer can see it; its fields are those of ``EventEnvelope``."""

    version: int
    at: int
    event: HostingEvent | Event | DealtView | DrewView | Reset | Deleted
    to_act: tuple[int, ...] | None = None
    """``None`` if unknown, as for events of a record."""


class EventPage(NamedTuple):
    """Consecutive events.

    ``version``: the cursor for the next page.
    ``more``: whether there were more events when the page was read.
    ``write_id``: the id of the write that led to ``version``; empty if unknown.
    """

    events: tuple[EventView, ...]
    version: int
    more: bool
    write_id: str = ""


def view_event(envelope: EventEnvelope, seat: int | None, game: Game | None = None) -> EventView:
    """Return what ``seat`` can see of an event; ``None`` is a spectator. Events outside the match are public.

    No event is stored with a name. Therefore events ``WITH_NAME`` get the current names from the current ``game``.
    """
    version, at, event, to_act = envelope
    if game is not None and isinstance(event, WITH_NAME) and event.name is not None:
        event = replace(event, name=_name_at(game, event.seat, version))
    return EventView(version, at, event if isinstance(event, HostingEvent) else event_view(event, seat), to_act)


def _name_at(game: Game, seat: int, version: int) -> str:
    """Return the current name of the player who had this seat at a version."""
    now = seat if game.room is None else game.room.seat_now(seat, version)
    return left_name(seat) if now is None else game.seats[now].name or ""


def view_game(game: Game, viewer: Viewer, lifetimes: Lifetimes) -> GameView:
    """Return what a viewer can see of the game: the owner what a spectator sees, and all refs; a seat its own ref."""
    match = view(game.rules, game.state, None if viewer == OWNER else viewer)
    if game.status == "waiting":
        match = match._replace(to_act=(), legal_moves=())  # as in ``legal_moves_for``
    owned = game.ownership if viewer == OWNER else None
    return GameView(
        id=game.id,
        variant=game.variant,
        rules=game.rules,
        arranged=game.arranged,
        status=game.status,
        version=game.version,
        seats=_seat_views(
            game.seats, game.presence, game.running_clock.banks, None if game.ownership is None else viewer
        ),
        view=match,
        etag=game.etag(viewer),
        created_at=game.created_at,
        updated_at=game.updated_at,
        expires_at=game.updated_at + lifetimes.of(game),
        commitments=game.commitments,
        unique_names=game.unique_names,
        clock=game.clock,
        deadline=None if game.clock is None else game.shown_deadline,
        ref=None if owned is None else owned.ref,
        join_code=None if owned is None else owned.join_code,
        rematch=game.rematch,
        rematch_of=game.rematch_of,
        spectators=game.spectators,
        auto=game.auto,
        fills_at=None if game.room is None else game.fills_at,
    )


def view_table(game: Game, version: int, round_number: int, layout: Layout) -> TableView:
    """Return the table of the game at this version, with this round and layout."""
    rules = game.rules
    tiles = rules.tiles
    return TableView(game.id, version, round_number, layout, rules.layout_spread(), len(tiles), tiles[-1].high)


def forget_seat_views() -> None:
    """Clear the cached views of seats, because they contain the names of players."""
    _seat_views.cache_clear()


@lru_cache(maxsize=1024)
def _seat_views(
    seats: tuple[Seat, ...], presence: Presence, banks: tuple[int, ...], viewer: Viewer
) -> tuple[SeatView, ...]:
    """Return what a viewer can see of the seats; cached, because seats rarely change.

    Only refs depend on the viewer. For a game without an application, pass ``None`` for every viewer.
    """
    return tuple(
        [
            SeatView(
                player.kind,
                player.name,
                player.level,
                seat in presence.away,
                seat in presence.forfeited,
                max(banks[seat], 0) if banks and player.kind != BOT else None,
                player.ref if viewer in (seat, OWNER) else None,
            )
            for seat, player in enumerate(seats)
        ]
    )


def legal_moves_for(game: Game, seat: int | None) -> tuple[Move, ...]:
    """Return the legal moves of a seat; none for a spectator, while seats are open, or before the first deal."""
    if seat is None or game.seats.are_open or not game.state.round:
        return ()
    return legal_moves(game.rules, game.state, seat)


def standings(game: Game) -> tuple[Standing, ...]:
    """Return the seats from first to last (``ranking``); seats that have forfeited come last."""
    totals = game.state.running_totals()
    forfeited = game.presence.forfeited
    ranks = ranking(game.variant.best, game.state, forfeited)
    order = sorted(range(len(game.seats)), key=ranks.__getitem__)
    return tuple(
        [
            Standing(
                seat=seat,
                name=game.seats[seat].name,
                total=totals[seat],
                rank=ranks[seat],
                in_match=not game.state.eliminated_round[seat],
                team=game.rules.team(seat),
                forfeited=seat in forfeited,
            )
            for seat in order
        ]
    )


# JSON, everywhere in the service: fields without a value, and the text form of a time.


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not ``None``."""
    return {name: value for name, value in fields.items() if value is not None}


@lru_cache(maxsize=4096)
def format_rfc3339(milliseconds: int) -> str:
    """Return a time in ms since 1970 in the form of RFC 3339, in UTC: ``2026-01-06T19:33:20.000Z``; cached."""
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{_format_minute(minutes)}:{rest // 1000:02}.{rest % 1000:03}Z"


@lru_cache(maxsize=1024)
def _format_minute(minutes: int) -> str:
    """Return a time up to its minute; cached, because a move writes several new times of the same minute."""
    return datetime.fromtimestamp(minutes * 60, UTC).isoformat()[:16]


# The results of the commands and queries of a game.


T = TypeVar("T")


class SeatToken(NamedTuple):
    """A seat with its token, which the service returns only once."""

    seat: int
    name: str
    token: str


class CreatedGame(NamedTuple):
    """A new game as its creator sees it, with the tokens of its seats and the code for the open ones."""

    view: GameView
    seats: tuple[SeatToken, ...]
    join_code: str | None


class JoinedSeat(NamedTuple):
    """A seat that was just taken, with the game as this seat sees it."""

    seat: SeatToken
    view: GameView


class FoundSeat(NamedTuple):
    """The seat of a seeker; ``opened``: a new table was opened for it."""

    joined: JoinedSeat
    opened: bool


class LegalMoves(NamedTuple):
    """The legal moves of a seat at this version.

    ``turn``: the seat whose turn it is.
    ``deadline``: of the running turn or deal, in milliseconds since 1970; ``None`` while no clock runs.
    """

    version: int
    turn: int | None
    to_act: tuple[int, ...]
    moves: tuple[Move, ...]
    deadline: int | None = None


class CommandResult(NamedTuple, Generic[T]):
    """The result of a command; ``replayed``: it repeats an earlier request with the same idempotency key."""

    answer: T
    replayed: bool
