"""Compares recorded events with the expected ones.

Owns the faults of a legal move, of the result of a round, and of its consequences for the match.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from service.engine.events import (
    EVENT_TYPES,
    Drew,
    Eliminated,
    Event,
    Finished,
    Passed,
    Played,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import Layout
from service.engine.moves import DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.presence import Forfeited
from service.engine.referee import forced_move
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedEvent
from service.records.report import Fault
from service.records.writer import Location


def move_of(event: RecordedEvent) -> Move:
    """Return the move that caused this event, which must be that of a move."""
    if isinstance(event, Played):
        return Move(PLAY, event.tile, event.end, event.face_down, outer=event.outer)
    return _PLAIN[type(event)]


def naming_fault(layout: Layout, event: Played) -> tuple[str, str] | None:
    """Return the code and message of the fault of a play that does not name its end or its outer half as it has to."""
    if event.end is None:
        return ("unnamed_end", "The end where the tile was laid is not named.") if layout.placements else None
    if layout.names_outer and event.outer is None:
        return "unnamed_half", "The half that stayed outside is not named."
    if not layout.names_outer and event.outer is not None:
        return "unnamed_half", "The half that stayed outside is not named where it follows from the end."
    return None


def mark_fault(rules: Rules, state: State, event: RecordedEvent, place: Location) -> Fault | None:
    """Return the fault of a move marked as made by the service although its seat had a choice in this state."""
    if not getattr(event, "auto", None) or forced_move(rules, state) is not None:
        return None
    return Fault("wrong_auto", place, "The seat had a choice.")


def move_faults(expected: Event, recorded: RecordedEvent, place: Location) -> list[Fault]:
    """Return the differences between the event of a legal move and the recorded one, but for who made it."""
    if getattr(recorded, "auto", None):
        assert isinstance(recorded, Drew | DrewView | Passed)
        recorded = recorded._replace(auto=None) if isinstance(recorded, DrewView) else replace(recorded, auto=None)
    if expected == recorded:
        return []
    if isinstance(expected, Played) and isinstance(recorded, Played):
        faults = []
        if expected.end != recorded.end:
            faults.append(Fault("unnamed_end", place, f"The tile was laid at {expected.end}."))
        if expected.ends_sum != recorded.ends_sum:
            faults.append(Fault("wrong_ends_sum", place, f"The ends come to {_number_or_nothing(expected.ends_sum)}."))
        if expected.points != recorded.points:
            faults.append(Fault("wrong_points", place, f"That gives {_number_or_nothing(expected.points)}."))
        return faults
    if isinstance(expected, Drew) and isinstance(recorded, Drew):
        return [Fault("wrong_draw", place, f"The next tile of the stock is {expected.tile}.")]
    return [Fault("hidden_tile", place, "A round is checked when all of it is visible.")]


def _number_or_nothing(number: int | None) -> str:
    return "nothing that is counted" if number is None else str(number)


def automatic_event_faults(expected: Event | Forfeited, recorded: RecordedEvent | None, place: Location) -> list[Fault]:
    """Return the faults of the recorded event (``None``: the record ends) where this automatic event is expected."""
    if expected == recorded:
        return []
    if isinstance(expected, RoundEnded):
        if isinstance(recorded, RoundEnded):
            return _result_differences(expected.round, recorded.round, place)
        return [Fault("missing_count", place, f"The round is over ({expected.round.ended_by}); its result is missing.")]
    if isinstance(expected, Eliminated):
        return [Fault("wrong_elimination", place, f"Seat {expected.seat} goes out of the match.")]
    if isinstance(expected, Forfeited):
        return [Fault("wrong_presence", place, f"Seat {expected.seat} forfeits the match.")]
    assert isinstance(expected, Finished)
    if isinstance(recorded, Eliminated):
        return [Fault("wrong_elimination", place, f"Seat {recorded.seat} does not go out of the match.")]
    why = "" if expected.ended_by is None else ", because all others have forfeited"
    return [Fault("wrong_winners", place, f"The match is over, won by {_row(expected.winners)}{why}.")]


def _result_differences(result: RoundResult, recorded: RoundResult, place: Location) -> list[Fault]:
    hands = [f"{left.seat}: {_row(left.tiles)} = {left.value}" for left in result.hands]
    lines = [f"{line.seat}: {line.points:+} {line.rule} {line.text}" for line in result.lines]
    compared = (
        (
            "wrong_reason",
            result.ended_by != recorded.ended_by,
            f"The round ended for another reason: {result.ended_by}.",
        ),
        (
            "wrong_round_winner",
            result.winner != recorded.winner,
            f"The winner of the round is {_seat(result.winner)}.",
        ),
        ("wrong_round_loser", result.loser != recorded.loser, f"The loser of the round is {_seat(result.loser)}."),
        ("wrong_carried", result.carried != recorded.carried, f"{result.carried} points are carried."),
        ("wrong_scores", result.scores != recorded.scores, f"The scores are {_row(result.scores)}."),
        ("wrong_hands", result.hands != recorded.hands, f"The hands left are {', '.join(hands)}."),
        ("wrong_lines", result.lines != recorded.lines, f"The score card is {', '.join(lines) or 'empty'}."),
    )
    return [Fault(code, place, sentence) for code, differs, sentence in compared if differs]


def _seat(seat: int | None) -> str:
    return "nobody" if seat is None else f"seat {seat}"


def _row(items: tuple[object, ...]) -> str:
    return " ".join(map(str, items)) or "-"


_PLAIN: Final[dict[type, Move]] = {
    kind.event: move for kind in EVENT_TYPES for move in (DRAW, PASS, DONE, FLIP) if kind.word == move.action
}
_PLAIN[DrewView] = DRAW
