"""Every kind of tampering that a report has a word for; it raises ``NoOccasion`` of a record that gives none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from random import Random
from typing import Any

from service.engine.deal import round_seed, seed_from_text
from service.engine.events import (
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
    ScoreLine,
)
from service.engine.presence import ABSENCES, Claimed, Forfeited, Left, Resigned, Returned, TimedOut
from service.engine.referee import forced_move, legal_moves
from service.engine.state import PLAYING, State
from service.engine.tiles import TILES, sort_tiles
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.records.record import ARRANGED, Record, RecordedRound, VersionedEvent
from service.records.replay import AUTOMATIC_EVENTS, Step, replay_record
from service.records.verification import rules_of


class NoOccasion(Exception): ...


Tampering = Callable[[Record, Random], Record | None]
"""What is done to a record, or nothing where it gives no occasion."""
Place = tuple[int, int]

TAMPERINGS: list[tuple[str, Tampering, frozenset[str]]] = []
"""The code that must be found, what is done, and the codes that may come along."""


def finds(code: str, *along: str) -> Callable[[Callable[[Record, Random], Record]], Tampering]:
    def put(tampering: Callable[[Record, Random], Record]) -> Tampering:
        @wraps(tampering)
        def attempt(record: Record, rng: Random) -> Record | None:
            try:
                return tampering(record, rng)
            except NoOccasion:
                return None

        TAMPERINGS.append((code, attempt, frozenset(along)))
        return attempt

    return put


# How a record is changed


def with_round(record: Record, index: int, **changes: Any) -> Record:
    rounds = list(record.rounds)
    rounds[index] = rounds[index]._replace(**changes)
    return replace(record, rounds=tuple(rounds))


def with_lines(record: Record, index: int, lines: list[RecordedEvent]) -> Record:
    """Other lines in a round, all lines numbered anew."""
    changed = [[line.event for line in each.lines] for each in record.rounds]
    changed[index] = lines
    version = 1
    rounds = []
    for each, events in zip(record.rounds, changed, strict=True):
        rounds.append(each._replace(lines=tuple([VersionedEvent(version + at, e) for at, e in enumerate(events, 1)])))
        version += len(events)
    return replace(record, rounds=tuple(rounds))


def events_of(record: Record, index: int) -> list[RecordedEvent]:
    return [line.event for line in record.rounds[index].lines]


def with_event(record: Record, place: Place, event: RecordedEvent) -> Record:
    return with_events(record, place, [event], instead_of=1)


def with_events(record: Record, place: Place, events: Sequence[RecordedEvent], *, instead_of: int = 0) -> Record:
    """The record with these events before the one in that place, or in the place of so many."""
    index, at = place
    lines = events_of(record, index)
    lines[at : at + instead_of] = events
    return with_lines(record, index, lines)


def with_changes(record: Record, place: Place, **changes: Any) -> Record:
    event = event_at(record, place)
    changed = event._replace(**changes) if isinstance(event, Played) else replace(event, **changes)
    return with_event(record, place, changed)


def places(record: Record, kind: type | tuple[type, ...]) -> list[Place]:
    return [
        (index, at)
        for index, each in enumerate(record.rounds)
        for at, line in enumerate(each.lines)
        if isinstance(line.event, kind)
    ]


def event_at(record: Record, place: Place) -> Any:
    return record.rounds[place[0]].lines[place[1]].event


def some(things: Sequence[Any], rng: Random) -> Any:
    if not things:
        raise NoOccasion
    return rng.choice(things)


def dealt_by(record: Record) -> Rules:
    rules, _ = rules_of(record)
    assert rules is not None
    return rules


def moments(record: Record) -> Iterator[tuple[Place, State]]:
    """Every line together with the state before it, in which somebody is to move."""
    state = None
    for step in replay_record(record, dealt_by(record)):
        assert isinstance(step, Step)
        index, at = step.place
        assert isinstance(at, int)
        if state is not None and state.phase == PLAYING and at and not isinstance(step.line.event, RoundEnded):
            yield (index, at), state
        state = step.state


def some_moment(record: Record, rng: Random, fits: Callable[[Any, State], bool]) -> tuple[Place, State]:
    found: tuple[Place, State] = some(
        [(place, state) for place, state in moments(record) if fits(event_at(record, place), state)], rng
    )
    return found


def over(record: Record) -> list[int]:
    return [index for index, _ in places(record, RoundEnded)]


def dealt_in(record: Record) -> list[int]:
    return [index for index, each in enumerate(record.rounds) if each.lines]


def with_deal(record: Record, index: int, **changes: Any) -> Record:
    return with_changes(record, (index, 0), **changes)


def with_seed(record: Record, rng: Random) -> int:
    """A round of which the seed is told."""
    index: int = some([index for index, each in enumerate(record.rounds) if each.seed], rng)
    return index


def unproven(record: Record) -> Record:
    """The same, its deals arranged."""
    rounds = [RecordedRound(each.number, lines=each.lines) for each in record.rounds if each.lines]
    return replace(record, fairness=ARRANGED, rounds=tuple(rounds))


# The head


@finds("unknown_variant")
def another_game(record: Record, rng: Random) -> Record:
    return replace(record, variant="chess")


@finds("unknown_edition")
def another_edition(record: Record, rng: Random) -> Record:
    return replace(record, edition=record.edition + 1)


@finds("bad_players", "wrong_client_seeds", "bad_options")
def too_many_players(record: Record, rng: Random) -> Record:
    return replace(record, players=record.players * 7)


@finds("bad_players", "unknown_bot")
def an_open_seat(record: Record, rng: Random) -> Record:
    return replace(record, players=("", *record.players[1:]))


@finds("bad_options")
def a_rule_out_of_bounds(record: Record, rng: Random) -> Record:
    return replace(record, options=tuple([(key, 2000) for key, _ in record.options]))


@finds("bad_options")
def a_rule_left_out(record: Record, rng: Random) -> Record:
    settled = [choice for choice in record.options if choice[0] in {"stake", "others_write_own", "rounds", "teams"}]
    kept = tuple([choice for choice in record.options if choice not in settled])
    changed = replace(record, options=kept)
    rules, _ = rules_of(changed)
    if rules is None or any(rules.settings[key] != value for key, value in record.options):
        raise NoOccasion
    return changed


@finds("wrong_fairness")
def luck_that_was_not_claimed(record: Record, rng: Random) -> Record:
    rounds = tuple([each for each in record.rounds if each.lines])
    return replace(record, fairness=ARRANGED, rounds=rounds)


@finds("wrong_fairness")
def an_arranged_deal_among_proven_ones(record: Record, rng: Random) -> Record:
    return with_deal(record, rng.choice(dealt_in(record)), arranged=True)


@finds("missing_game")
def no_game(record: Record, rng: Random) -> Record:
    return replace(record, game=rng.choice(["", "x" * 65, "\ud800"]))


@finds("wrong_deal")
def another_game_id(record: Record, rng: Random) -> Record:
    if not over(record):
        raise NoOccasion
    return replace(record, game="another")


@finds("wrong_seen")
def a_whole_record_that_somebody_has_seen(record: Record, rng: Random) -> Record:
    return replace(record, viewer=rng.choice(["spectator", 0, 99]))


@finds("wrong_result")
def another_result(record: Record, rng: Random) -> Record:
    if record.result is None:
        return replace(record, result=(0,))
    return replace(record, result=rng.choice([None, (*record.result, 99), (99,)]))


# Luck


@finds("missing_commitment")
def a_commitment_left_out(record: Record, rng: Random) -> Record:
    return with_round(record, rng.randrange(len(record.rounds)), commitment=None)


@finds("missing_commitment")
def the_round_to_come_left_out(record: Record, rng: Random) -> Record:
    return replace(record, rounds=record.rounds[:-1])


@finds("missing_seed", "wrong_attempt")
def a_seed_left_out(record: Record, rng: Random) -> Record:
    return with_round(record, with_seed(record, rng), seed=None)


@finds("early_seed")
def a_seed_told_too_soon(record: Record, rng: Random) -> Record:
    index = some([index for index, each in enumerate(record.rounds) if each.seed is None], rng)
    return with_round(record, index, seed=round_seed(seed_from_text("x"), index + 1))


@finds("wrong_seed")
def a_changed_seed(record: Record, rng: Random) -> Record:
    index = with_seed(record, rng)
    seed = record.rounds[index].seed
    assert seed is not None
    return with_round(record, index, seed=bytes([seed[0] ^ 1]) + seed[1:])


@finds("wrong_seed")
def a_changed_commitment(record: Record, rng: Random) -> Record:
    return with_round(record, with_seed(record, rng), commitment=bytes(32))


@finds("wrong_client_seeds")
def a_client_seed_left_out(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    given = record.rounds[index].client_seeds
    assert given is not None
    return with_round(record, index, client_seeds=rng.choice([None, given[1:], ("x" * 65, *given[1:])]))


@finds("wrong_client_seeds")
def client_seeds_told_before_the_deal(record: Record, rng: Random) -> Record:
    return with_round(record, len(record.rounds) - 1, client_seeds=("",) * len(record.players))


@finds("wrong_deal", "wrong_attempt")
def a_changed_client_seed(record: Record, rng: Random) -> Record:
    index = some(over(record), rng)
    given = record.rounds[index].client_seeds
    assert given is not None
    first = given[0] + "!" if len(given[0]) < 64 else ""
    return with_round(record, index, client_seeds=(first, *given[1:]))


@finds("wrong_attempt")
def another_number_of_the_deal(record: Record, rng: Random) -> Record:
    index = some(over(record), rng)
    attempt = record.rounds[index].attempt
    assert attempt is not None
    return with_round(record, index, attempt=rng.choice([None, attempt + 1, 10**15 - 1]))


@finds("wrong_deal", "not_held", "wrong_draw", "wrong_turn", "illegal_move", "wrong_pass", "wrong_hands", "wrong_lines",
       "wrong_scores", "early_count", "missing_count", "wrong_round_winner", "wrong_round_loser", "wrong_done",
       "wrong_carried", "wrong_manche", "wrong_reason", "wrong_flip")  # fmt: skip
def two_tiles_swapped(record: Record, rng: Random) -> Record:
    index = some(over(record), rng)
    dealt = event_at(record, (index, 0))
    held = [(seat, tile) for seat, hand in enumerate(dealt.hands) for tile in hand if not tile.double]
    (one, first), (other, second) = rng.sample(held, 2)
    if one == other:
        raise NoOccasion
    swap = {first: second, second: first}
    hands = tuple([sort_tiles([swap.get(tile, tile) for tile in hand]) for hand in dealt.hands])
    return with_deal(record, index, hands=hands)


# Deals


@finds("wrong_round")
def another_number_of_a_round(record: Record, rng: Random) -> Record:
    index = rng.randrange(len(record.rounds))
    return with_round(record, index, number=record.rounds[index].number + 1)


@finds("not_dealt")
def a_deal_left_out(record: Record, rng: Random) -> Record:
    index = some([index for index in dealt_in(record) if len(record.rounds[index].lines) > 1], rng)
    return with_lines(record, index, events_of(record, index)[1:])


@finds("not_dealt")
def a_second_deal(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    events = events_of(record, index)
    return with_lines(record, index, [events[0], *events])


@finds("not_dealt")
def an_arranged_round_that_was_not_dealt(record: Record, rng: Random) -> Record:
    record = unproven(record)
    return replace(record, rounds=(*record.rounds, RecordedRound(len(record.rounds) + 1)))


@finds("wrong_seats", "wrong_attempt", "wrong_deal")
def a_hand_too_many(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    return with_deal(record, index, hands=(*event_at(record, (index, 0)).hands, ()))


@finds("wrong_seats")
def a_seat_passed_over(record: Record, rng: Random) -> Record:
    """A deal that is sound for the others."""
    rules, dealt = dealt_by(record), event_at(record, (0, 0))
    seats = rules.seats - 1
    size = rules.hand_size(seats)
    if not size:
        raise NoOccasion
    tiles = [tile for hand in (*dealt.hands[1:], dealt.stock, dealt.hands[0]) for tile in hand]
    tiles.sort(key=lambda tile: not tile.double)
    hands = tuple([sort_tiles(tiles[seat * size : (seat + 1) * size]) for seat in range(seats)])
    return with_deal(unproven(record), 0, hands=((), *hands), stock=tuple(tiles[seats * size :]))


@finds("wrong_hand_size")
def a_tile_put_back(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    dealt = event_at(record, (index, 0))
    seat = rng.choice([seat for seat, hand in enumerate(dealt.hands) if hand])
    hands = (*dealt.hands[:seat], dealt.hands[seat][1:], *dealt.hands[seat + 1 :])
    return with_deal(record, index, hands=hands, stock=(*dealt.stock, dealt.hands[seat][0]))


@finds("wrong_set")
def a_tile_twice(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    dealt = event_at(record, (index, 0))
    one, *others = [seat for seat, hand in enumerate(dealt.hands) if hand]
    hands = list(dealt.hands)
    hands[one] = sort_tiles((hands[others[0]][0], *hands[one][1:]))
    return with_deal(record, index, hands=tuple(hands))


@finds("wrong_set")
def a_tile_that_is_in_no_such_set(record: Record, rng: Random) -> Record:
    if TILES[-1] in dealt_by(record).tiles:
        raise NoOccasion
    dealt = event_at(record, (0, 0))
    return with_deal(record, 0, hands=((*dealt.hands[0][:-1], TILES[-1]), *dealt.hands[1:]))


@finds("wrong_set")
def a_tile_that_is_missing(record: Record, rng: Random) -> Record:
    index = some([index for index in dealt_in(record) if event_at(record, (index, 0)).stock], rng)
    return with_deal(record, index, stock=event_at(record, (index, 0)).stock[1:])


@finds("unsorted_hand")
def an_unsorted_hand(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    dealt = event_at(record, (index, 0))
    seat = some([seat for seat, hand in enumerate(dealt.hands) if len(hand) > 1], rng)
    return with_deal(record, index, hands=(*dealt.hands[:seat], dealt.hands[seat][::-1], *dealt.hands[seat + 1 :]))


@finds("not_openable")
def a_deal_without_a_double_in_any_hand(record: Record, rng: Random) -> Record:
    if record.variant not in {"fido", "domino"}:
        raise NoOccasion
    dealt = event_at(record, (0, 0))
    tiles = [tile for hand in (*dealt.hands, dealt.stock) for tile in hand]
    tiles.sort(key=lambda tile: tile.double)
    hands, start = [], 0
    for hand in dealt.hands:
        hands.append(sort_tiles(tiles[start : start + len(hand)]))
        start += len(hand)
    if any(tile.double for tile in tiles[:start]):
        raise NoOccasion
    return with_deal(unproven(record), 0, hands=tuple(hands), stock=tuple(tiles[start:]))


@finds("hidden_tile")
def a_hidden_draw(record: Record, rng: Random) -> Record:
    place = some(places(record, Drew), rng)
    return with_event(record, place, DrewView(event_at(record, place).seat, None))


@finds("hidden_tile")
def a_hidden_hand(record: Record, rng: Random) -> Record:
    index = rng.choice(dealt_in(record))
    dealt = event_at(record, (index, 0))
    hands = tuple([len(hand) or hand for hand in dealt.hands])
    seen = RecordedDeal(dealt.round, dealt.arranged, hands, dealt.stock)
    return with_event(record, (index, 0), seen)


# Moves


@finds("wrong_version")
def a_version_twice(record: Record, rng: Random) -> Record:
    index, at = rng.choice(places(record, object))
    if not at:
        raise NoOccasion
    lines = list(record.rounds[index].lines)
    lines[at] = lines[at]._replace(version=lines[at - 1].version)
    return with_round(record, index, lines=tuple(lines))


@finds("wrong_version")
def a_version_between_a_move_and_its_count(record: Record, rng: Random) -> Record:
    place = some(places(record, RoundEnded), rng)
    index, at = place
    lines = list(record.rounds[index].lines)
    lines[at:] = [line._replace(version=line.version + 1000) for line in lines[at:]]
    later = [
        each._replace(lines=tuple([line._replace(version=line.version + 1000) for line in each.lines]))
        for each in record.rounds[index + 1 :]
    ]
    changed = record.rounds[index]._replace(lines=tuple(lines))
    return replace(record, rounds=(*record.rounds[:index], changed, *later))


@finds("wrong_turn")
def a_move_out_of_turn(record: Record, rng: Random) -> Record:
    place = some(places(record, (Played, Drew, Passed, Done, Flipped)), rng)
    mover = event_at(record, place).seat
    return with_changes(record, place, seat=rng.choice([seat for seat in range(len(record.players)) if seat != mover]))


@finds("not_held")
def a_tile_of_another_hand(record: Record, rng: Random) -> Record:
    place, state = some_moment(record, rng, lambda event, state: isinstance(event, Played))
    mover = event_at(record, place).seat
    foreign = [tile for seat, hand in enumerate(state.hands) for tile in hand if seat != mover]
    return with_changes(record, place, tile=some(foreign, rng))


def joins(event: Any, state: State) -> bool:
    return isinstance(event, Played) and bool(state.layout.placements)


@finds("illegal_move")
def a_tile_where_it_does_not_fit(record: Record, rng: Random) -> Record:
    place, state = some_moment(record, rng, joins)
    offers = event_at(record, place).tile.offers
    closed = [end.name for end in state.layout.ends if end.gate != "open" or not offers & end.wants]
    return with_changes(record, place, end=rng.choice([*closed, "e999"]))


@finds("illegal_move")
def a_tile_face_down_that_may_not_be(record: Record, rng: Random) -> Record:
    place = some([place for place in places(record, Played) if not event_at(record, place).tile.double], rng)
    return with_changes(record, place, face_down=True)


@finds("unnamed_end")
def an_end_that_is_not_named(record: Record, rng: Random) -> Record:
    return with_changes(record, some_moment(record, rng, joins)[0], end=None, outer=None)


@finds("unnamed_half")
def an_outer_half_that_is_named_where_it_is_not_or_not_where_it_is(record: Record, rng: Random) -> Record:
    place, _ = some_moment(record, rng, joins)
    event = event_at(record, place)
    return with_changes(record, place, outer=event.tile.high if event.outer is None else None)


@finds("wrong_ends_sum")
def another_sum_of_the_ends(record: Record, rng: Random) -> Record:
    place = some(places(record, Played), rng)
    counted = event_at(record, place).ends_sum
    return with_changes(record, place, ends_sum=7 if counted is None else counted + 1)


@finds("wrong_points")
def other_points(record: Record, rng: Random) -> Record:
    place = some(places(record, Played), rng)
    points = event_at(record, place).points
    return with_changes(record, place, points=7 if points is None else points + 1)


@finds("wrong_draw")
def another_tile_drawn(record: Record, rng: Random) -> Record:
    place, state = some_moment(record, rng, lambda event, state: isinstance(event, Drew) and len(state.stock) > 1)
    return with_changes(record, place, tile=rng.choice(state.stock[1:]))


def instead(record: Record, rng: Random, action: str, kind: Any) -> Record:
    """Something else in the place of a move, which may not be done there."""
    rules = dealt_by(record)

    def may_not(event: Any, state: State) -> bool:
        if not isinstance(event, Played | Drew | Passed | Done | Flipped):
            return False
        return state.turn is not None and action not in [move.action for move in legal_moves(rules, state, state.turn)]

    place, state = some_moment(record, rng, may_not)
    return with_event(record, place, kind(state.turn))


@finds("wrong_draw")
def a_draw_by_somebody_who_may_not(record: Record, rng: Random) -> Record:
    return instead(record, rng, "draw", lambda seat: Drew(seat, TILES[0]))


@finds("wrong_pass")
def a_pass_by_somebody_who_may_not(record: Record, rng: Random) -> Record:
    return instead(record, rng, "pass", Passed)


@finds("wrong_auto")
def a_move_by_choice_marked_as_made_by_the_service(record: Record, rng: Random) -> Record:
    rules = dealt_by(record)

    def by_choice(event: Any, state: State) -> bool:
        return isinstance(event, Drew | Passed) and forced_move(rules, state) is None

    return with_changes(record, some_moment(record, rng, by_choice)[0], auto=True)


@finds("wrong_done")
def a_done_by_somebody_who_may_not(record: Record, rng: Random) -> Record:
    return instead(record, rng, "done", Done)


@finds("wrong_flip")
def a_flip_by_somebody_who_may_not(record: Record, rng: Random) -> Record:
    return instead(record, rng, "flip", Flipped)


@finds("after_the_count")
def a_move_after_the_count(record: Record, rng: Random) -> Record:
    index = some([index for index in over(record) if record.result is None or index != over(record)[-1]], rng)
    return with_lines(record, index, [*events_of(record, index), Passed(0)])


@finds("after_the_end")
def a_move_after_the_end(record: Record, rng: Random) -> Record:
    if record.result is None:
        raise NoOccasion
    index = max(index for index, each in enumerate(record.rounds) if each.lines)  # also one that forfeits have ended
    extra: list[RecordedEvent] = [Passed(0), Eliminated(0), Finished((0,))]
    return with_lines(record, index, [*events_of(record, index), rng.choice(extra)])


@finds("after_the_end")
def a_round_after_the_end(record: Record, rng: Random) -> Record:
    if record.result is None:
        raise NoOccasion
    record = unproven(record)
    more = RecordedRound(len(record.rounds) + 1, lines=(VersionedEvent(10_000, event_at(record, (0, 0))),))
    return replace(record, rounds=(*record.rounds, more))


@finds("unfinished_round", "missing_seed", "early_seed", "wrong_attempt")
def a_round_broken_off(record: Record, rng: Random) -> Record:
    index = some([index for index in dealt_in(record)[:-1] if len(record.rounds[index].lines) > 4], rng)
    if isinstance(event_at(record, (index, 1)), TimedOut):
        raise NoOccasion
    return with_lines(record, index, events_of(record, index)[:2])


# Counts


@finds("early_count")
def a_count_too_soon(record: Record, rng: Random) -> Record:
    index, at = some([place for place in places(record, RoundEnded) if place[1] > 2], rng)
    return with_events(record, (index, 2), [], instead_of=at - 2)


@finds("missing_count", "missing_seed", "early_seed", "wrong_attempt")
def a_count_left_out(record: Record, rng: Random) -> Record:
    place = some(places(record, RoundEnded), rng)
    events = events_of(record, place[0])
    rest: list[RecordedEvent] = rng.choice([events[place[1] + 1 :], [], [Passed(0)]])
    return with_lines(record, place[0], [*events[: place[1]], *rest])


def recount(name: str, change: Callable[[RoundResult], dict[str, Any]]) -> Callable[[Record, Random], Record]:
    """Change something in a count."""

    def recounted(record: Record, rng: Random) -> Record:
        place = some(places(record, RoundEnded), rng)
        counted = event_at(record, place).round
        return with_event(record, place, RoundEnded(counted._replace(**change(counted))))

    recounted.__name__ = name
    return recounted


def without_stars(counted: RoundResult) -> dict[str, Any]:
    if counted.manche is None:
        raise NoOccasion
    return {"manche": None}


def dearer_first_hand(counted: RoundResult) -> dict[str, Any]:
    first, *others = counted.hands
    return {"hands": (first._replace(value=first.value + 1), *others)}


finds("wrong_reason")(recount("another_reason", lambda it: {"ended_by": "closed" if it.ended_by == "out" else "out"}))
finds("wrong_round_winner")(recount("another_winner", lambda it: {"winner": 0 if it.winner is None else None}))
finds("wrong_round_loser")(recount("another_loser", lambda it: {"loser": 0 if it.loser is None else None}))
finds("wrong_carried")(recount("other_points_carried", lambda it: {"carried": it.carried + 5}))
finds("wrong_manche")(recount("other_stars", lambda it: {"manche": Manche(1, (1,) * len(it.scores))}))
finds("wrong_manche")(recount("stars_left_out", without_stars))
another_score = finds("wrong_scores")(
    recount("another_score", lambda it: {"scores": (it.scores[0] + 1, *it.scores[1:])})
)
finds("wrong_hands")(recount("another_value_of_a_hand", dearer_first_hand))
finds("wrong_hands")(recount("a_hand_left_out", lambda it: {"hands": it.hands[1:]}))
finds("wrong_lines")(
    recount("another_score_card", lambda it: {"lines": (*it.lines, ScoreLine(0, 0, "1.8", "nothing"))})
)


@finds("wrong_elimination")
def somebody_put_out(record: Record, rng: Random) -> Record:
    index = some([index for index in over(record) if record.result is None or index != over(record)[-1]], rng)
    return with_lines(record, index, [*events_of(record, index), Eliminated(0)])


@finds("wrong_elimination")
def somebody_left_in(record: Record, rng: Random) -> Record:
    return without(record, some(places(record, Eliminated), rng))


@finds("wrong_winners")
def other_winners(record: Record, rng: Random) -> Record:
    place = some(places(record, Finished), rng)
    return with_event(record, place, Finished((*event_at(record, place).winners, 99)))


@finds("wrong_winners", "missing_seed")
def a_match_ended_too_soon(record: Record, rng: Random) -> Record:
    index = dealt_in(record)[-1]
    if record.result is not None or index not in over(record):
        raise NoOccasion
    return with_lines(record, index, [*events_of(record, index), Finished((0,))])


@finds("wrong_winners", "missing_seed", "early_seed")
def an_end_left_out(record: Record, rng: Random) -> Record:
    return without(record, some(places(record, Finished), rng))


# Who plays the seats


def without(record: Record, place: Place) -> Record:
    return with_events(record, place, [], instead_of=1)


def after(place: Place) -> Place:
    return place[0], place[1] + 1


def somewhere(record: Record, rng: Random) -> Place:
    """Where a seat is to move that nobody but its person plays."""
    found: list[Place] = []
    before: Step | None = None
    for step in replay_record(record, dealt_by(record)):
        assert isinstance(step, Step)
        turn = None if before is None else before.state.turn
        if before is not None and turn is not None and not isinstance(step.line.event, (*AUTOMATIC_EVENTS, Returned)):
            index, at = step.place
            assert isinstance(at, int)
            if record.bot_at(turn) is None and before.presence.plays(turn):
                found.append((index, at))
        before = step
    place: Place = some(found, rng)
    return place


def before(record: Record, place: Place) -> Step:
    """The step before the event in this place."""
    steps = replay_record(record, dealt_by(record))
    return [step for step in steps if isinstance(step, Step) and step.place < place][-1]


def person_to_move(record: Record, place: Place) -> int:
    turn = before(record, place).state.turn
    assert turn is not None
    return turn


@finds("wrong_presence")
def somebody_away_leaves(record: Record, rng: Random) -> Record:
    place = some(places(record, Left), rng)
    return with_events(record, after(place), [event_at(record, place)])


@finds("wrong_presence")
def somebody_comes_back_who_is_there(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    return with_events(record, place, [Returned(person_to_move(record, place))])


@finds("wrong_presence")
def a_return_left_out(record: Record, rng: Random) -> Record:
    """Then the seat is away already when it leaves again."""
    found = []
    for place in places(record, Returned):
        seat = event_at(record, place).seat
        later = [each for each in places(record, (Left, Returned, TimedOut, Claimed)) if each > place]
        following = next((event for each in later if (event := event_at(record, each)).seat == seat), None)
        if isinstance(following, Left) and seat in before(record, place).presence.away:
            found.append(place)
    return without(record, some(found, rng))


@finds("wrong_presence")
def somebody_who_does_not_exist_leaves(record: Record, rng: Random) -> Record:
    return with_events(record, somewhere(record, rng), [Left(len(record.players))])


@finds("wrong_presence")
def a_computer_player_leaves(record: Record, rng: Random) -> Record:
    if not record.bots:
        raise NoOccasion
    return with_events(record, somewhere(record, rng), [Left(record.bots[0].seat)])


@finds("wrong_presence")
def a_time_that_is_over_for_a_seat_that_is_not_to_move(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    if record.clock is None or record.clock.absence == "claim":
        raise NoOccasion
    turn, seats = person_to_move(record, place), before(record, place).state.active_seats()
    others = [seat for seat in seats if seat != turn and record.bot_at(seat) is None]
    return with_events(record, place, [TimedOut(some(others, rng), record.clock.absence)])


@finds("wrong_presence")
def another_consequence_of_a_time_that_is_over(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    right = None if record.clock is None or record.clock.absence == "claim" else record.clock.absence
    then = rng.choice([absence for absence in ABSENCES if absence != right])
    return with_events(record, place, [TimedOut(person_to_move(record, place), then)])


@finds("wrong_presence")
def a_claim_that_nobody_may_make(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    turn = person_to_move(record, place)
    can = record.clock is not None and record.clock.absence == "claim"
    return with_events(record, place, [Claimed(turn, turn if can else (turn + 1) % len(record.players))])


@finds("wrong_presence")
def a_forfeit_without_a_reason(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    return with_events(record, place, [Forfeited(person_to_move(record, place))])


@finds("wrong_presence")
def somebody_who_has_forfeited_resigns(record: Record, rng: Random) -> Record:
    found = []
    for index, at in places(record, Forfeited):
        following = events_of(record, index)[at + 1 :]
        if following and not isinstance(following[0], Finished):
            found.append((index, at))
    place = some(found, rng)
    return with_events(record, after(place), [Resigned(event_at(record, place).seat)])


@finds("wrong_presence")
def a_forfeit_left_out(record: Record, rng: Random) -> Record:
    found = [place for place in places(record, Forfeited) if place[1] + 1 < len(events_of(record, place[0]))]
    return without(record, some(found, rng))


@finds("after_the_end")
def somebody_leaves_after_the_end(record: Record, rng: Random) -> Record:
    return with_events(record, after(some(places(record, Finished), rng)), [Left(0)])


@finds("wrong_winners", "missing_seed")
def an_end_by_forfeit_with_several_sides_left(record: Record, rng: Random) -> Record:
    place = somewhere(record, rng)
    if record.result is not None:
        raise NoOccasion
    return with_events(record, place, [Finished((0,), ended_by="forfeit")])


@finds("wrong_winners")
def winners_that_have_forfeited(record: Record, rng: Random) -> Record:
    """Or others at least than those who had not."""
    place = some(places(record, Finished), rng)
    forfeited = before(record, place).presence.forfeited
    if not forfeited:
        raise NoOccasion
    return with_event(record, place, Finished(tuple(forfeited), event_at(record, place).ended_by))


@finds("wrong_winners")
def another_reason_of_the_end(record: Record, rng: Random) -> Record:
    place = some(places(record, Finished), rng)
    return with_changes(record, place, ended_by=None if event_at(record, place).ended_by else "forfeit")


@finds("unknown_bot")
def a_level_that_does_not_exist(record: Record, _rng: Random) -> Record:
    if not record.bots:
        raise NoOccasion
    return replace(record, bots=(record.bots[0]._replace(level="wise"), *record.bots[1:]))


@finds("wrong_bot_move")
def another_level_than_that_which_played(record: Record, _rng: Random) -> Record:
    """Not of a seat that had little to choose."""
    if not record.bots or record.result is None:
        raise NoOccasion
    if sum(event_at(record, place).seat == record.bots[0].seat for place in places(record, Played)) < 40:
        raise NoOccasion
    level = "random" if record.bots[0].level == "greedy" else "greedy"
    return replace(record, bots=(record.bots[0]._replace(level=level), *record.bots[1:]))
