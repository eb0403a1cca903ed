"""The running round of a partial record is checked in its form, the rounds before it like those of a whole record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import pytest

from service.engine.events import Done, Drew, Passed, Played, RoundEnded
from service.engine.state import PLAYING
from service.engine.tiles import TILES, sort_tiles
from service.engine.variants import variants
from service.engine.view import DrewView, RecordedDeal
from service.records.parser import parse_record
from service.records.record import SPECTATOR, Record
from service.records.verification import verify
from service.records.writer import format_record
from tests.laws.matches import Case, Match, setups
from tests.records.building import fair, kept, short_cases
from tests.records.tampering import (
    Place,
    a_changed_seed,
    another_score,
    event_at,
    events_of,
    places,
    some,
    with_event,
    with_lines,
)

pytestmark = pytest.mark.gate

Tampering = Callable[[Record, Random], Record | None]


@cache
def running_records() -> tuple[Record, ...]:
    matches = [fair(case) for key in variants() for case in short_cases(key, 12, 60)]
    return tuple(
        [
            kept(match, match.rng.choice([SPECTATOR, *match.seats]))
            for match in matches
            if match.steps[-1].after.phase == PLAYING
        ]
    )


def last_round(record: Record) -> int:
    return max(index for index, each in enumerate(record.rounds) if each.lines)


def seen(record: Record, kind: Any) -> list[Place]:
    return [place for place in places(record, kind) if place[0] == last_round(record)]


def own(record: Record) -> Any:
    return event_at(record, (last_round(record), 0)).hands[record.viewer] if record.viewer != SPECTATOR else None


def a_hand_that_nobody_could_see(record: Record, rng: Random) -> Record | None:
    place = (last_round(record), 0)
    deal = event_at(record, place)
    hidden = [seat for seat, hand in enumerate(deal.hands) if isinstance(hand, int)]
    laid = {event_at(record, each).tile for each in seen(record, (Played, Drew))}
    free = [tile for tile in TILES[:28] if tile not in laid and tile not in (own(record) or ())]
    seat = rng.choice(hidden)
    if len(free) < deal.hands[seat]:
        return None
    hands = (*deal.hands[:seat], sort_tiles(free[: deal.hands[seat]]), *deal.hands[seat + 1 :])
    return with_event(record, place, deal._replace(hands=hands))


def a_viewer_who_is_not_there(record: Record, rng: Random) -> Record | None:
    return replace(record, viewer=len(record.players))


def the_draw_of_another(record: Record, rng: Random) -> Record | None:
    place = some(seen(record, DrewView), rng)
    return None if place is None else with_event(record, place, Drew(event_at(record, place).seat, TILES[0]))


def a_count_in_a_running_round(record: Record, rng: Random) -> Record | None:
    place = some(places(record, RoundEnded), rng)
    if place is None:
        return None
    index = last_round(record)
    return with_lines(record, index, [*events_of(record, index), event_at(record, place)])


def a_tile_laid_twice(record: Record, rng: Random) -> Record | None:
    laid = seen(record, Played)
    if len(laid) < 2:
        return None
    tile = event_at(record, laid[0]).tile
    return with_event(record, laid[-1], event_at(record, laid[-1])._replace(tile=tile))


def a_tile_of_the_viewers_own_hand_laid_by_another(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).seat != record.viewer], rng)
    tiles = own(record)
    if place is None or not tiles:
        return None
    laid = {event_at(record, each).tile for each in seen(record, Played)}
    kept_tiles = [tile for tile in tiles if tile not in laid]
    if not kept_tiles:
        return None
    return with_event(record, place, event_at(record, place)._replace(tile=kept_tiles[0]))


def a_move_of_a_seat_that_is_not_there(record: Record, rng: Random) -> Record | None:
    place = some(seen(record, (Passed, Done)), rng)
    return None if place is None else with_event(record, place, Passed(len(record.players)))


def a_place_that_is_none(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).end], rng)
    return None if place is None else with_event(record, place, event_at(record, place)._replace(end="e999"))


def other_points(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).points is not None], rng)
    if place is None:
        return None
    event = event_at(record, place)
    return with_event(record, place, event._replace(points=event.points + 1))


def another_sum_of_the_ends(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).ends_sum is not None], rng)
    if place is None:
        return None
    event = event_at(record, place)
    return with_event(record, place, event._replace(ends_sum=event.ends_sum + 1))


def an_end_that_is_not_named(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).end], rng)
    return None if place is None else with_event(record, place, event_at(record, place)._replace(end=None, outer=None))


def an_outer_half_that_is_named_where_it_is_not_or_not_where_it_is(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if event_at(record, place).end], rng)
    if place is None:
        return None
    event = event_at(record, place)
    return with_event(record, place, event._replace(outer=event.tile.high if event.outer is None else None))


def a_tile_face_down_that_may_not_be(record: Record, rng: Random) -> Record | None:
    place = some([place for place in seen(record, Played) if not event_at(record, place).tile.double], rng)
    return None if place is None else with_event(record, place, event_at(record, place)._replace(face_down=True))


def a_tile_that_is_in_no_such_set(record: Record, rng: Random) -> Record | None:
    place = some(seen(record, Played), rng)
    if place is None or TILES[-1] in variants()[record.variant].rules(dict(record.options), len(record.players)).tiles:
        return None
    return with_event(record, place, event_at(record, place)._replace(tile=TILES[-1]))


def a_second_deal(record: Record, rng: Random) -> Record | None:
    index = last_round(record)
    events = events_of(record, index)
    return with_lines(record, index, [*events, events[0]])


def a_pass_before_the_lead(record: Record, rng: Random) -> Record | None:
    index = last_round(record)
    deal, *moves = events_of(record, index)
    assert isinstance(deal, RecordedDeal)
    return with_lines(record, index, [deal, Passed(rng.choice(held_by(deal))), *moves])


def held_by(deal: RecordedDeal) -> list[int]:
    return [seat for seat, hand in enumerate(deal.hands) if hand != ()]


def a_draw_from_an_empty_stock(record: Record, rng: Random) -> Record | None:
    index = last_round(record)
    deal = event_at(record, (index, 0))
    stock = deal.stock if isinstance(deal.stock, int) else 0
    place = some([place for place in seen(record, Passed) if event_at(record, place).seat != record.viewer], rng)
    drawn = [each for each in seen(record, (Drew, DrewView)) if place and each[1] < place[1]]
    if place is None or len(drawn) < stock:
        return None
    return with_event(record, place, DrewView(event_at(record, place).seat, None))


FOUND = [
    ({"wrong_seen"}, a_hand_that_nobody_could_see),
    ({"wrong_seen"}, a_viewer_who_is_not_there),
    ({"wrong_seen"}, the_draw_of_another),
    ({"wrong_seen", "missing_seed"}, a_count_in_a_running_round),
    ({"not_held"}, a_tile_laid_twice),
    ({"not_held"}, a_tile_of_the_viewers_own_hand_laid_by_another),
    ({"wrong_turn"}, a_move_of_a_seat_that_is_not_there),
    ({"illegal_move"}, a_place_that_is_none),
    ({"wrong_points"}, other_points),
    ({"wrong_draw"}, a_draw_from_an_empty_stock),
    ({"wrong_ends_sum"}, another_sum_of_the_ends),
    ({"unnamed_end"}, an_end_that_is_not_named),
    ({"unnamed_half"}, an_outer_half_that_is_named_where_it_is_not_or_not_where_it_is),
    ({"illegal_move"}, a_tile_face_down_that_may_not_be),
    ({"not_held"}, a_tile_that_is_in_no_such_set),
    ({"not_dealt"}, a_second_deal),
    ({"illegal_move"}, a_pass_before_the_lead),
]


@pytest.mark.parametrize(("codes", "tampering"), [pytest.param(*each, id=each[1].__name__) for each in FOUND])
def test_what_cannot_have_been_seen_is_found(codes: set[str], tampering: Tampering) -> None:
    rng = Random(f"partial {tampering.__name__}")
    done = 0
    for record in running_records():
        changed = tampering(record, rng)
        if changed is None or changed == record:
            continue
        found = {finding.code for finding in verify(parse_record(format_record(changed))).findings}
        assert found
        assert found <= codes
        done += 1
    assert done


SHAPES = [
    (key, seats) for key, variant in variants().items() for seats in sorted({variant.players.low, variant.players.high})
]
"""Every game with its fewest and with its most players."""


def running(key: str, seats: int) -> Iterator[Match]:
    for case in short_cases(key, 60, 80):
        match = fair(case)
        last = match.steps[-1].after
        if case.seats == seats and last.phase == PLAYING and last.layout.placements:
            yield match


@pytest.mark.parametrize(("key", "seats"), SHAPES)
def test_not_everybody_can_have_passed_in_a_running_round(key: str, seats: int) -> None:
    for match in islice(running(key, seats), 3):
        holding = [seat for seat, hand in enumerate(match.steps[-1].after.hands) if hand]
        for viewer in (SPECTATOR, *match.seats):
            record = kept(match, viewer)
            index = last_round(record)
            for passes in ([*holding, *holding], holding[:1] * 2):
                changed = with_lines(record, index, [*events_of(record, index), *map(Passed, passes)])
                assert {finding.code for finding in verify(changed).findings} == {"wrong_pass"}
    passes = holding[:2] * 8000
    changed = with_lines(record, index, [*events_of(record, index), *map(Passed, passes)])
    assert {finding.code for finding in verify(changed).findings} == {"wrong_pass"}


@pytest.mark.parametrize(("key", "seats"), SHAPES)
def test_a_turn_of_several_tiles_is_not_ended_without_a_tile(key: str, seats: int) -> None:
    (match, *_) = running(key, seats)
    record = kept(match, SPECTATOR)
    index = last_round(record)
    changed = with_lines(record, index, [*events_of(record, index), *[Done(match.steps[-1].seat)] * 2])
    assert {finding.code for finding in verify(changed).findings} == {"wrong_done"}


@pytest.mark.parametrize(("key", "seats"), SHAPES)
def test_what_was_seen_to_the_end_of_a_round_is_sound(key: str, seats: int) -> None:
    """Above all of blocked rounds, with the passes of everybody but one, and of those who keep a drawn tile."""
    choices = [options for count, options in setups(key) if count == seats]
    reasons: Counter[str] = Counter()
    for number in range(100):
        match = fair(Case(key, seats, choices[number % len(choices)], f"blocked {number}", number, 500))
        for at, step in enumerate(match.steps):
            reason = ended_by(step.events)
            if reason != "blocked" and (reason is None or reasons[reason] >= 3):
                continue
            reasons[reason] += 1
            for moves in range(at, max(at - 2 * seats, 1), -1):
                if match.steps[moves - 1].after.phase == PLAYING:
                    viewer = match.rng.choice([SPECTATOR, *match.seats])
                    assert verify(kept(match, viewer, moves)).verified
        if reasons["blocked"] >= 6:
            break
    # Among the many ends of nine players, random play does not block a round.
    assert reasons["blocked" if (key, seats) != ("fido", 9) else "out"]


def ended_by(events: Sequence[Any]) -> str | None:
    return next((event.round.ended_by for event in events if isinstance(event, RoundEnded)), None)


def a_move_out_of_turn(record: Record, rng: Random) -> Record | None:
    laid = [place for place in seen(record, (Played, DrewView, Passed, Done)) if place[1] > 1]
    place = some(laid, rng)
    if place is None or len(record.players) < 4:
        return None
    event = event_at(record, place)
    seats = len(record.players)
    changed = (event.seat + seats // 2) % seats
    if record.viewer in {changed, event.seat}:
        return None
    if isinstance(event, Played | DrewView):
        return with_event(record, place, event._replace(seat=changed))
    return with_event(record, place, type(event)(changed))


def a_pass_though_there_is_a_stock(record: Record, rng: Random) -> Record | None:
    place = some(seen(record, DrewView), rng)
    if place is None or record.variant == "domino":
        return None
    return with_event(record, place, Passed(event_at(record, place).seat))


@pytest.mark.parametrize("tampering", [a_move_out_of_turn, a_pass_though_there_is_a_stock])
def test_turns_of_a_running_round_are_not_checked_and_the_report_says_so(tampering: Tampering) -> None:
    rng = Random(f"partial {tampering.__name__}")
    reports = [verify(changed) for record in running_records() if (changed := tampering(record, rng)) is not None]
    assert any(report.verified for report in reports)
    assert all("not the turns" in " ".join(report.notes()) for report in reports)


def test_the_rounds_that_are_over_are_checked_as_in_a_whole_record() -> None:
    rng = Random("the rounds that are over")
    for tampering, code in ((another_score, "wrong_scores"), (a_changed_seed, "wrong_seed")):
        found = [verify(changed) for record in running_records() if (changed := tampering(record, rng)) is not None]
        assert found
        assert all({finding.code for finding in report.findings} == {code} for report in found)


def test_the_report_says_that_it_is_partial() -> None:
    for record in running_records():
        report = verify(record)
        assert report.verified
        assert report.partial
        assert any("partial" in note for note in report.notes())
        assert isinstance(event_at(record, (last_round(record), 0)), RecordedDeal)
