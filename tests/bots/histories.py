"""Whether a world agrees with what was seen: the events of the round are played again in it, by the engine itself.

What was drawn, and so what was dealt, is a matching of the tiles that a seat has had with its draws; several are tried.
"""

from __future__ import annotations

from operator import attrgetter
from random import Random
from typing import Final, NamedTuple

from service.bots.knowledge import Observation
from service.engine.deal import Deck
from service.engine.errors import Refusal
from service.engine.events import Dealt, Done, Drew, Event, Flipped, Passed, Played
from service.engine.layout import Layout, empty_layout
from service.engine.moves import DONE, DRAW, FLIP, PASS, Move
from service.engine.referee import advance, apply, can_open
from service.engine.state import State
from service.engine.tiles import Tile, sort_tiles
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, event_view

_HISTORIES: Final = 100
"""How many are tried."""
_NO_DECK: Final = Deck(bytes(32))


class _Seen(NamedTuple):
    event: Event | DealtView | DrewView
    layout: Layout
    """Before the event."""


class _Stay(NamedTuple):
    """A tile that a seat has had in this round, until it laid it by the event ``laid``."""

    tile: Tile
    laid: int


def history(rules: Rules, observation: Observation, before: State, world: State) -> tuple[Event, ...] | None:
    """Events that lead from the state ``before`` the deal to this world, and look like those seen; ``None``: none."""
    seen = _with_layouts(rules, observation)
    rng = Random(len(seen))
    draws = any([isinstance(each.event, Drew | DrewView) for each in seen])
    for _ in range(_HISTORIES if draws else 1):
        dealt = _dealt(rules, observation, seen, world, rng)
        events = None if dealt is None else _replayed(rules, observation, before, world, dealt)
        if events is not None:
            return events
    return None


def _with_layouts(rules: Rules, observation: Observation) -> list[_Seen]:
    layout = empty_layout(rules.form)
    seen = []
    for event in observation.events:
        seen.append(_Seen(event, layout))
        if isinstance(event, Played):
            end = layout.end(event.end)
            layout = rules.lay_tile(layout, end, event.tile, event.seat, face_down=event.face_down, outer=event.outer)
        elif isinstance(event, Flipped):
            layout = layout.flip_lead()
    return seen


def _dealt(rules: Rules, observation: Observation, seen: list[_Seen], world: State, rng: Random) -> Dealt | None:
    """A deal and an order of the stock that may end in this world: a matching of its tiles with the draws seen."""
    hands: list[tuple[Tile, ...]] = []
    drawn: dict[int, Tile] = {}
    for seat, hand in enumerate(world.hands):
        stays = [_Stay(tile, len(seen)) for tile in hand]
        draws = []
        for place, (event, _) in enumerate(seen):
            if isinstance(event, Played) and event.seat == seat:
                stays.append(_Stay(event.tile, place))
            elif isinstance(event, Drew | DrewView) and event.seat == seat:
                draws.append(place)
        rng.shuffle(stays)
        if rng.random() < 0.5:  # a high double that was drawn, or was dealt to the opener, opens nothing (rules 5.3)
            opens = bool(world.layout.placements) and world.layout.placements[0].seat == seat
            stays.sort(key=attrgetter("tile.pips"), reverse=True)
            stays = [each for drawn in (not opens, opens) for each in stays if each.tile.double == drawn]
        tile_of: dict[int, _Stay] = {}

        def find(
            stay: _Stay,
            tried: set[int],
            draws: list[int] = draws,
            tile_of: dict[int, _Stay] = tile_of,
            seat: int = seat,
        ) -> bool:
            """Find a draw for this tile; what is left was dealt."""
            for draw in draws:
                if draw not in tried and _may_have_come(rules, observation, seen, seat, stay, place=draw):
                    tried.add(draw)
                    if draw not in tile_of or find(tile_of[draw], tried):
                        tile_of[draw] = stay
                        return True
            return False

        from_the_deal = [_may_have_come(rules, observation, seen, seat, stay, place=0) for stay in stays]
        for stay, either in sorted(zip(stays, from_the_deal, strict=True), key=lambda each: each[1]):
            if (not either or len(tile_of) < len(draws)) and not find(stay, set()) and not either:
                return None
        if len(tile_of) < len(draws):
            return None
        drawn |= {draw: stay.tile for draw, stay in tile_of.items()}
        hands.append(sort_tiles([stay.tile for stay in stays if stay not in tile_of.values()]))
    first = seen[0].event
    assert isinstance(first, DealtView)
    return Dealt(first.round, tuple(hands), (*[drawn[place] for place in sorted(drawn)], *world.stock), arranged=True)


def _may_have_come(
    rules: Rules, observation: Observation, seen: list[_Seen], seat: int, stay: _Stay, *, place: int
) -> bool:
    """Whether a seat may have got this tile by this event, the deal or a draw."""
    if stay.laid < place:
        return False
    event, layout = seen[place]
    if place:
        if isinstance(event, Drew | DrewView) and event.tile not in (None, stay.tile):
            return False
        following = seen[place + 1].event if place + 1 < len(seen) else None
        turn = observation.view.turn if following is None else getattr(following, "seat", None)
        fits = layout.fits_any((stay.tile,))
        if turn != seat and (rules.drawing.place if fits else rules.drawing.again):
            return False
        if turn == seat and following is None and not (rules.drawing.place if fits else rules.drawing.again):
            return False
        if (
            turn == seat
            and not fits
            and (isinstance(following, Played) or (isinstance(following, Passed) and rules.drawing.keep))
        ):
            return False
    return not any(
        [
            _excludes(rules, seen, later, seat, stay.tile)
            for later in range(place + 1, min(stay.laid, len(seen)))
            if getattr(seen[later].event, "seat", None) == seat
        ]
    )


def _excludes(rules: Rules, seen: list[_Seen], place: int, seat: int, tile: Tile) -> bool:
    """Whether the seat that acted here cannot have had this tile then."""
    event, layout = seen[place]
    if isinstance(event, Played):
        if place + 1 == len(seen) or getattr(seen[place + 1].event, "seat", seat) == seat:
            return False
        after = seen[place + 1].layout
        return after.fits_any(rules.may_follow(after, (tile,)))
    # To pass before the lead tells nothing (rules 16.4).
    if isinstance(event, Done) or not layout.fits_any((tile,)):
        return False
    before = seen[place - 1].event
    return not (isinstance(event, Passed) and rules.drawing.keep and isinstance(before, Drew | DrewView))


def _replayed(
    rules: Rules, observation: Observation, before: State, world: State, dealt: Dealt
) -> tuple[Event, ...] | None:
    """The events by which the engine comes from this deal to this world, if they look like those seen."""
    if not can_open(rules, before, dealt):
        return None
    state = apply(rules, before, dealt)
    events: list[Event] = [dealt]
    for event in observation.events:
        move = _move(event)
        if move is None:
            continue
        assert state.turn is not None
        try:
            happened, state = advance(rules, _NO_DECK, state, state.turn, move=move)
        except Refusal:
            return None
        events += happened
    seen = [event_view(event, observation.seat) for event in events]
    return tuple(events) if seen[1:] == list(observation.events[1:]) and state == world else None


def _move(event: Event | DealtView | DrewView) -> Move | None:
    match event:
        case Played():
            return Move("play", event.tile, event.end, event.face_down, outer=event.outer)
        case Drew() | DrewView():
            return DRAW
        case Passed():
            return PASS
        case Done():
            return DONE
        case Flipped():
            return FLIP
    return None
