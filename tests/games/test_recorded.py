"""Recorded matches: whole records, and the table at the end of every round, line by line.

A record (``docs/record.md``) has all that was dealt, asked for and counted. A test makes its moves again, deals from
the seed of the case, and compares what comes of them. Beside each record stands a file of tables: how things stood
after each count, with the tree of the layout, its ends and the totals, which a record leaves for its reader to find
out. They are kept as text and not as a digest, so that a difference says what has changed. ``pytest --rewrite`` plays
and records every match anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, get_args

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.errors import Refusal
from service.engine.events import Dealt, EndReason, Event, Finished, RoundEnded
from service.engine.layout import Layout
from service.engine.moves import ACTIONS, DEAL, Move
from service.engine.options import format_value
from service.engine.referee import advance
from service.engine.state import FINISHED, State
from service.engine.variant import Rules
from service.engine.variants import variants
from service.engine.view import RecordedEvent
from service.reasons import REASONS
from service.records.event_checks import move_of
from service.records.parser import parse_record
from service.records.record import Record
from service.records.replay import AUTOMATIC_EVENTS
from service.records.verification import verify
from service.records.writer import build_record, format_record, resolved_options
from tests.laws.matches import SHORTENED, Case, Choices, Match, option_values, setups

HERE: Final = Path(__file__).parent
LONGEST: Final = 5_000
NAMES: Final = ("Ada", "Bo", "Cy", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jo", "Kai", "Lea", "Max")


ADDED_LATER: Final = frozenset({("latin", "first_lead", "highest_double"), ("latin", "table", "international")})
"""Values of options that come last in their game, so that the matches recorded before keep their seeds."""


# Which matches


def recorded(key: str) -> Iterator[Case]:
    """The fewest, some and the most players by default, and one match for every other value of an option.

    Of an option with a great many values the second one: short, and not the default.
    """
    simple = sorted(setups(key), key=lambda setup: len(setup[1]))
    default = [seats for seats, options in simple if not options]
    wanted: list[tuple[int, Choices]] = [
        (seats, ()) for seats in sorted({default[0], default[len(default) // 2], default[-1]})
    ]
    for option in variants()[key].options:
        values = option_values(option) if option.values or option.high - option.low < 10 else (option.low + 1,)
        for value in values:
            if value != option.default:
                others = [] if option.key == "target" else SHORTENED.get(key, ())
                fewest = next(options for _, options in simple if {(option.key, value), *others} <= set(options))
                counts = [seats for seats, options in simple if options == fewest]
                wanted.append((counts[len(counts) // 2], fewest))
    wanted.sort(key=lambda each: not ADDED_LATER.isdisjoint([(key, *choice) for choice in each[1]]))
    for number, (seats, options) in enumerate(wanted):
        yield Case(key, seats, options, f"told {number}", number, LONGEST)


def file_of(case: Case) -> Path:
    chosen = [f"{name}-{format_value(value)}" for name, value in case.options]
    return HERE / case.key / ("-".join([f"{case.seats}-players", *chosen]).replace("_", "-") + ".txt")


# How they are written


def played_again(case: Case, asked: list[Move]) -> Iterator[tuple[tuple[Event, ...], State]]:
    """The events of each move and the state after them. Raises ``Refusal`` where one is not legal any more."""
    rules = variants()[case.key].rules(dict(case.options), case.seats)
    deck = Deck(seed_from_text(case.seed))
    state = rules.start()
    for move in asked:
        seat = state.active_seats()[0] if state.turn is None else state.turn
        events, state = advance(rules, deck, state, seat, move=move)
        yield events, state


def transcript(case: Case, asked: list[Move]) -> tuple[str, str]:
    """The record, and the tables."""
    recipe = variants()[case.key]
    rules = recipe.rules(dict(case.options), case.seats)
    events: list[Event] = []
    tables: list[str] = []
    trouble = ""
    try:
        for happened, state in played_again(case, asked):
            events += happened
            if any(isinstance(event, RoundEnded) for event in happened):
                tables += [f"round {state.round}", *table(rules, state)]
    except Refusal as refusal:
        trouble = f"refused: {REASONS[refusal.reason.word]}: {refusal}\n"
    head = Record(
        variant=recipe.key,
        edition=recipe.edition,
        options=resolved_options(recipe, rules),
        players=NAMES[: case.seats],
        fairness="arranged",
    )
    return format_record(build_record(head, enumerate(events, 2))) + trouble, "\n".join([*tables, ""])


def table(rules: Rules, state: State) -> Iterator[str]:
    yield f"  layout {' '.join(placements(state.layout))}"
    ends = [f"{end.name} {end.number} {end.side} of {end.host} {end.gate}" for end in state.layout.ends]
    yield f"  ends {', '.join(ends)}"
    if state.layout.counts_ends:
        yield f"  sum of the ends {state.layout.ends_sum}"
    yield f"  totals {' '.join(map(str, state.totals))}"
    yield f"  in {' '.join(map(str, state.active_seats())) or '-'}"
    for word, value in (("carry", state.carry), ("leader", state.next_leader), ("dealer", state.dealer)):
        if value is not None and (value or word != "carry"):
            yield f"  {word} {value}"
    if state.phase == FINISHED and rules.settlement:
        settled = rules.settlement(state)
        yield f"  settled by {settled.mode}: {' '.join(map(str, settled.amounts))}"
        for payment in settled.payments:
            yield f"  {payment.payer} pays {payment.payee} {payment.amount}"


def placements(layout: Layout) -> Iterator[str]:
    for index, (tile, host, side, seat, face_down, outer) in enumerate(layout.placements):
        where = f"@{host}.{side}" if host >= 0 else ""
        where += "" if outer is None else f":{outer}"
        yield f"{index}:{tile}{where}{'!' if face_down else ''}({seat})"


# The tests


@pytest.mark.parametrize("key", variants())
def test_a_recorded_match_goes_as_it_went(
    key: str, same_as_file: Callable[[Path, str], None], rewriting: bool, subtests: pytest.Subtests
) -> None:
    for case in recorded(key):
        path = file_of(case)
        with subtests.test(path.stem):
            if rewriting:
                asked = [step.move for step in Match(case).steps]
            else:
                asked = list(moves_in(record_in(path))) if path.exists() else []
            record, tables = transcript(case, asked)
            same_as_file(path, record)
            same_as_file(path.with_suffix(".tables"), tables)


@pytest.mark.parametrize("key", variants())
def test_a_recorded_match_is_verified_without_its_seed(key: str, subtests: pytest.Subtests) -> None:
    for case in recorded(key):
        with subtests.test(file_of(case).stem):
            report = verify(record_in(file_of(case)))
            assert report.findings == ()
            assert report.finished


def record_in(path: Path) -> Record:
    return parse_record(path.read_text(encoding="utf-8"))


def moves_in(record: Record) -> Iterator[Move]:
    for event in events_in(record):
        if not isinstance(event, AUTOMATIC_EVENTS):
            yield DEAL if isinstance(event, Dealt) else move_of(event)


def events_in(record: Record) -> Iterator[RecordedEvent]:
    for each in record.rounds:
        for line in each.lines:
            yield line.event


def test_every_game_has_its_matches_and_every_file_belongs_to_one() -> None:
    wanted = {file_of(case) for key in variants() for case in recorded(key)}
    assert set(HERE.glob("*/*.txt")) == wanted
    assert set(HERE.glob("*/*.tables")) == {path.with_suffix(".tables") for path in wanted}
    assert {path.parent.name for path in wanted} == set(variants())


@pytest.mark.parametrize("key", variants())
def test_every_value_of_a_choice_is_recorded(key: str) -> None:
    wanted = {(option.key, value) for option in variants()[key].options for value in option.values}
    defaults = {(option.key, option.default) for option in variants()[key].options}
    assert wanted <= defaults | {choice for case in recorded(key) for choice in case.options}


def test_the_recordings_show_every_action_and_reason_and_every_match_ends() -> None:
    actions, reasons = set(), set()
    for path in HERE.glob("*/*.txt"):
        record = record_in(path)
        actions |= {move.action for move in moves_in(record)}
        events = list(events_in(record))
        reasons |= {event.round.ended_by for event in events if isinstance(event, RoundEnded)}
        assert isinstance(events[-1], Finished), path.name
    assert actions == set(ACTIONS)
    assert reasons == set(get_args(EndReason))
