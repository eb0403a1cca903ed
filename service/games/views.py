"""A game as one bearer may know it: the view of the match, who sits where, and what has happened.

Owns the join of a hosted game and ``view``, which alone decides who sees what. Must not know how it is
shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from service.engine.events import Event, RoundResult
from service.engine.moves import Move
from service.engine.referee import legal_moves
from service.engine.variant import Rules, Settlement, Variant
from service.engine.view import DealtView, DrewView, View, event_view, view
from service.games.game import Created, EventEnvelope, Game, GameStatus, Joined, Seat, SeatKind, TokenChanged


class SeatView(NamedTuple):
    """Who sits at a seat."""

    kind: SeatKind
    name: str | None


class GameView(NamedTuple):
    """A game at one version, as ``seat`` (or a spectator) may know it. Times in milliseconds since 1970."""

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
    """To the seeds of the round that was dealt last, if any was, and of the next."""


class Standing(NamedTuple):
    """A seat's place in the match; ties share a rank, and the next one is left out."""

    seat: int
    name: str | None
    total: int
    rank: int
    in_match: bool


class ScoreCard(NamedTuple):
    """The standings, and the count of every round that has ended."""

    view: GameView
    standings: tuple[Standing, ...]
    rounds: tuple[RoundResult, ...]
    settlement: Settlement | None


@dataclass(frozen=True, slots=True)
class Reset:
    """No event of the match: what was to be told is not kept any more, so here is the game as it is now."""

    view: GameView


class EventView(NamedTuple):
    """An event as its bearer may know it; its time in milliseconds since 1970."""

    version: int
    at: int
    event: Created | Joined | TokenChanged | Event | DealtView | DrewView | Reset


class EventPage(NamedTuple):
    """Events in their order, the version to go on from, and whether there were more when they were read."""

    events: tuple[EventView, ...]
    version: int
    more: bool


def view_event(happened: EventEnvelope, seat: int | None) -> EventView:
    """What ``seat`` may know of an event; ``None`` is a spectator. What happens around the match is public."""
    version, at, event = happened
    if isinstance(event, Created | Joined | TokenChanged):
        return EventView(version, at, event)
    return EventView(version, at, event_view(event, seat))


def view_game(game: Game, seat: int | None, ttl: int) -> GameView:
    """What ``seat`` may know of the game now; ``None`` is a spectator. ``ttl`` in milliseconds."""
    state = game.state
    seen = view(game.rules, state, seat)
    has_open_seats = game.has_open_seats
    if has_open_seats:
        seen = seen._replace(legal_moves=())  # as ``legal_moves_for``
    return GameView(
        id=game.id,
        variant=game.variant,
        rules=game.rules,
        arranged=game.arranged,
        status="waiting" if has_open_seats else state.phase,
        version=game.version,
        seats=_seat_views(game.seats),
        view=seen,
        etag=game.etag(seat),
        created_at=game.created_at,
        updated_at=game.updated_at,
        expires_at=game.updated_at + ttl,
        commitments=game.commitments,
    )


@lru_cache(maxsize=1024)
def _seat_views(seats: tuple[Seat, ...]) -> tuple[SeatView, ...]:
    """Who sits where; everybody sees that."""
    return tuple([SeatView(each.kind, each.name) for each in seats])


def legal_moves_for(game: Game, seat: int | None) -> tuple[Move, ...]:
    """The legal moves of a seat now; none for a spectator, nor while seats are open."""
    return () if seat is None or game.has_open_seats else legal_moves(game.rules, game.state, seat)


def standings(game: Game) -> tuple[Standing, ...]:
    """The seats from first to last: who is in before who is out, who went out later first, then by total."""
    totals = game.state.running_totals()
    sign = -1 if game.variant.best == "highest" else 1

    def key(seat: int) -> tuple[int, int]:
        gone = game.state.eliminated_round[seat]
        return (-gone if gone else -game.state.round - 1, sign * totals[seat])

    order = sorted(range(len(game.seats)), key=key)
    ranks = {seat: 1 + sum(key(other) < key(seat) for other in order) for seat in order}
    return tuple(
        [
            Standing(seat, game.seats[seat].name, totals[seat], ranks[seat], not game.state.eliminated_round[seat])
            for seat in order
        ]
    )
