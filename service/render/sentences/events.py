"""Sentences about events: one or two for every type of event.

Owns which facts of an event its sentence contains. The input is the reader's view of the event, and the table, which is
public; so no sentence can reveal a hidden fact. Does not depend on the language.
"""

from __future__ import annotations

from typing import Final

from service.engine.events import (
    Dealt,
    Done,
    Drew,
    Eliminated,
    Finished,
    Flipped,
    Manche,
    Passed,
    Played,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import OPEN, Layout
from service.engine.presence import Claimed, Forfeited, Left, PresenceEvent, Resigned, Returned, TimedOut
from service.engine.variant import Unit
from service.engine.view import DealtView, DrewView, RecordedDeal, RecordedEvent
from service.render.sentences.board import winners_sentence
from service.render.sentences.numbers import capitalized, number_word, pip_word, tile_name
from service.render.sentences.places import Naming, Places, Reader, about, fitted, in_person, joined, place_name
from service.render.sentences.texts import plural, text

_MAX_ENDS: Final = 4
"""If more ends are open, the sentence about a play does not name them."""

KnownEvent = RecordedEvent | DealtView
"""A viewer's view of an event, in a game or in a record."""


def event_sentence(event: KnownEvent, layout: Layout | None, reader: Reader) -> str:
    """Return the sentence about an event, in at most ``places.MAX_SENTENCE`` characters.

    ``layout``: the table after the event; if it is ``None``, the sentence about a play does not name the place.
    """
    match event:
        case Dealt() | RecordedDeal() | DealtView():
            return _dealt(event, reader)
        case Played():
            return _played(event, layout, reader)
        case Drew() | DrewView() if event.tile is not None:
            return about(reader, "drew.tile", event.seat, tile=tile_name(event.tile, reader.language, "accusative"))
        case Drew() | DrewView():
            return about(reader, "drew", event.seat)
        case Passed():
            return about(reader, "passed" if layout is None or layout.placements else "lead_left", event.seat)
        case Done():
            return about(reader, "done", event.seat)
        case Flipped():
            return about(reader, "flipped", event.seat)
        case RoundEnded():
            return fitted(reader, lambda name: _round_sentence(event.round, reader, name))
        case Eliminated():
            return about(reader, "eliminated", event.seat)
        case Finished():
            before = "" if event.ended_by is None else f"{text('finished.forfeit', reader.language)} "
            return winners_sentence(event.winners, reader, before)
        case _:
            return _presence_sentence(event, reader)


def _presence_sentence(event: PresenceEvent, reader: Reader) -> str:
    match event:
        case TimedOut():
            return about(reader, f"timed_out.{event.then}", event.seat)
        case Left():
            return about(reader, "left", event.seat)
        case Returned():
            return about(reader, "returned", event.seat)
        case Claimed():
            return _claimed(event, reader)
        case Forfeited():
            return about(reader, "forfeited", event.seat)
        case Resigned():
            return about(reader, "resigned", event.seat)


def _dealt(event: Dealt | RecordedDeal | DealtView, reader: Reader) -> str:
    language = reader.language
    number = number_word(event.round, language)
    if not isinstance(event, DealtView) or not event.hand:
        return text("dealt", language, round=number)
    tiles = plural("tiles", len(event.hand), language)
    return text("dealt.you", language, round=number, tiles=tiles)


def _played(event: Played, layout: Layout | None, reader: Reader) -> str:
    language = reader.language
    points = _points_text(event, language)
    if event.end is None:
        return about(reader, "led", event.seat, tile=tile_name(event.tile, language, "dative"), more=points)
    where = ""
    if layout is not None:
        where = f" {place_name(Places(layout).of_tile(len(layout.placements) - 1), language, at=True)}"
    tile = tile_name(event.tile, language, "accusative")
    if event.face_down:
        return about(reader, "played.closed", event.seat, tile=tile, where=where)
    ends = "" if event.ends_sum is not None or layout is None else _ends(layout, language)
    return about(reader, "played", event.seat, tile=tile, where=where, ends=ends, more=points)


def _ends(layout: Layout, language: str) -> str:
    """Return the numbers of the open ends, if they are few."""
    numbers = [pip_word(end.number, language) for end in layout.ends if end.gate == OPEN]
    if not numbers or len(numbers) > _MAX_ENDS:
        return ""
    return plural("played.ends", len(numbers), language, numbers=joined(numbers, language))


def _points_text(event: Played, language: str) -> str:
    """Return the text about the points of a play, with the sum of the ends if ends are counted; can be empty."""
    if event.points is None or (event.ends_sum is None and not event.points):
        return ""
    points = points_phrase(event.points, language)
    if event.ends_sum is None:
        return f" {capitalized(points)}."
    return f" {text('sum', language, sum=number_word(event.ends_sum, language), points=points)}"


def points_phrase(points: int, language: str, unit: Unit = "points") -> str:
    """Return a number of points or wins: *five points*, *ein Sieg*, *no points*, *minus one point*."""
    if not points:
        return text("wins.none" if unit == "wins" else "points.none", language)
    if points == -1:
        return text("wins.minus_one" if unit == "wins" else "points.minus_one", language)
    return plural("wins" if unit == "wins" else "points", points, language)


def _round_sentence(result: RoundResult, reader: Reader, name: Naming) -> str:
    """Return the sentence about a round: its winner or the reason of its end, the points, and the players' words."""
    language, winner = reader.language, result.winner
    number = number_word(result.number, language)
    reason = text(f"round_ended.{result.ended_by}", language)
    if winner is None:
        sentences = [text("round_ended", language, round=number, reason=reason)]
    elif result.ended_by == "out":
        sentences = [in_person(reader, name, "round_ended.won_out", winner, round=number)]
    else:
        sentences = [in_person(reader, name, "round_ended.won", winner, round=number, reason=reason)]
    named_seat = _seat_with_points(result, reader)
    if named_seat is not None:
        points = points_phrase(result.scores[named_seat], language, reader.unit)
        counted = in_person(
            reader, name, "round_ended.against" if reader.low_wins else "round_ended.points", named_seat, points=points
        )
        sentences.append(capitalized(counted))
    if result.carried and reader.unit == "wins":
        sentences.append(text("round_ended.drawn", language))
    elif result.carried:
        points = points_phrase(result.carried, language)
        sentences.append(capitalized(plural("round_ended.carried", result.carried, language, points=points)))
    if result.manche is not None:
        sentences.append(_manche_sentence(result.manche, result.winner, reader, name))
    used_words = [word for word in reader.words if any([line.text.startswith(f"{word} ") for line in result.lines])]
    return " ".join([*sentences, *[f"{capitalized(word)}." for word in used_words]])


def _manche_sentence(manche: Manche, winner: int | None, reader: Reader, name: Naming) -> str:
    """Return the sentence about the end of the manche, else about the stars of the reader (a spectator: the winner)."""
    language = reader.language
    if manche.ended is not None:
        return text(f"round_ended.manche.{manche.ended}", language)
    seat = winner if reader.seat is None else reader.seat
    count = 0 if seat is None else manche.stars[seat]
    stars = plural("stars", count, language) if count else text("stars.none", language)
    if seat is None:
        return text("round_ended.manche", language)
    return in_person(reader, name, "round_ended.stars", seat, stars=stars)


def _seat_with_points(result: RoundResult, reader: Reader) -> int | None:
    """Return the seat whose points are named: the reader if it scored, else the loser, the winner or the top scorer."""
    scores, seats = result.scores, [hand.seat for hand in result.hands]
    shown_seat = result.winner if result.loser is None else result.loser
    top_seat = max(seats, key=scores.__getitem__, default=None)
    if shown_seat is None and not reader.low_wins and top_seat is not None and scores[top_seat] > 0:
        shown_seat = top_seat
    if reader.seat in seats and (shown_seat is None or reader.low_wins or scores[reader.seat]):
        return reader.seat
    return shown_seat


def _claimed(event: Claimed, reader: Reader) -> str:
    keys: dict[int | None, str] = {event.seat: "claimed.you", event.by: "claimed.by_you"}
    key = keys.get(reader.seat, "claimed")
    return fitted(reader, lambda name: text(key, reader.language, name=name(event.seat), by=name(event.by)))
