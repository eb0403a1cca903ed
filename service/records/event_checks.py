"""What must have happened, held against what is told.

Owns the faults of a move that could be made, of a count, and of what follows from one for the match. Must not know
how it was found out what must have happened.
"""

from __future__ import annotations

from typing import Final

from service.engine.events import EVENT_TYPES, Drew, Eliminated, Event, Finished, Played, RoundEnded, RoundResult
from service.engine.moves import DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.view import DrewView, RecordedEvent
from service.records.report import Fault
from service.records.writer import Location


def move_of(event: RecordedEvent) -> Move:
    """The move that made this event happen; not for one that follows by itself."""
    if isinstance(event, Played):
        return Move(PLAY, event.tile, event.end, event.face_down)
    return _PLAIN[type(event)]


def move_faults(made: Event, told: RecordedEvent, place: Location) -> list[Fault]:
    """Where what is told of a legal move is not what happens."""
    if made == told:
        return []
    if isinstance(made, Played) and isinstance(told, Played):
        found = []
        if made.end != told.end:
            found.append(Fault("unnamed_end", place, f"The tile was laid at {made.end}."))
        if made.ends_sum != told.ends_sum:
            found.append(Fault("wrong_ends_sum", place, f"The ends come to {_or_nothing(made.ends_sum)}."))
        if made.points != told.points:
            found.append(Fault("wrong_points", place, f"That gives {_or_nothing(made.points)}."))
        return found
    if isinstance(made, Drew) and isinstance(told, Drew):
        return [Fault("wrong_draw", place, f"The next tile of the stock is {made.tile}.")]
    return [Fault("hidden_tile", place, "Everything is told of a round that is over, and in a whole record.")]


def _or_nothing(number: int | None) -> str:
    return "nothing that is counted" if number is None else str(number)


def count_faults(due: Event, told: RecordedEvent | None, place: Location) -> list[Fault]:
    """What is wrong with what is told (``None``: nothing) where this event is due."""
    if due == told:
        return []
    if isinstance(due, RoundEnded):
        if isinstance(told, RoundEnded):
            return _count_differences(due.round, told.round, place)
        return [Fault("missing_count", place, f"The round is over ({due.round.ended_by}) and must be counted.")]
    if isinstance(due, Eliminated):
        return [Fault("wrong_elimination", place, f"Seat {due.seat} goes out of the match.")]
    assert isinstance(due, Finished)
    if isinstance(told, Eliminated):
        return [Fault("wrong_elimination", place, f"Seat {told.seat} does not go out of the match.")]
    return [Fault("wrong_winners", place, f"The match is over, won by {_row(due.winners)}.")]


def _count_differences(due: RoundResult, told: RoundResult, place: Location) -> list[Fault]:
    hands = [f"{left.seat}: {_row(left.tiles)} = {left.value}" for left in due.hands]
    lines = [f"{line.seat}: {line.points:+} {line.rule} {line.text}" for line in due.lines]
    compared = (
        ("wrong_reason", due.ended_by != told.ended_by, f"The round ended for another reason: {due.ended_by}."),
        ("wrong_round_winner", due.winner != told.winner, f"The winner of the round is {_seat(due.winner)}."),
        ("wrong_round_loser", due.loser != told.loser, f"The loser of the round is {_seat(due.loser)}."),
        ("wrong_carried", due.carried != told.carried, f"{due.carried} points are carried."),
        ("wrong_scores", due.scores != told.scores, f"The scores are {_row(due.scores)}."),
        ("wrong_hands", due.hands != told.hands, f"The hands left are {', '.join(hands)}."),
        ("wrong_lines", due.lines != told.lines, f"The score card is {', '.join(lines) or 'empty'}."),
    )
    return [Fault(code, place, sentence) for code, differs, sentence in compared if differs]


def _seat(seat: int | None) -> str:
    return "nobody" if seat is None else f"seat {seat}"


def _row(things: tuple[object, ...]) -> str:
    return " ".join(map(str, things)) or "-"


_PLAIN: Final[dict[type, Move]] = {
    kind.event: move for kind in EVENT_TYPES for move in (DRAW, PASS, DONE, FLIP) if kind.word == move.action
}
_PLAIN[DrewView] = DRAW
