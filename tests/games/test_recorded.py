"""Recorded matches: what was asked, what happened, and the table at the end of every round, line by line.

A file begins with the game and all that the match depends on. Then come the moves, ``> seat move``, each
followed by its events in the notation of the engine; after a count, indented, how things stand. A test
makes the recorded moves again and compares what comes of them. ``pytest --rewrite`` plays and records
every match anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, get_args

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.errors import Refusal
from service.engine.events import Event, Reason, RoundEnded
from service.engine.layout import Layout
from service.engine.moves import ACTIONS, Move
from service.engine.notation import format_event, format_move, parse_event, parse_move
from service.engine.options import spell
from service.engine.play import advance
from service.engine.state import FINISHED, State
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import Case, Choices, Match, option_values, setups

HERE: Final = Path(__file__).parent
LONGEST: Final = 5_000

Asked = tuple[int, Move]


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
                fewest = next(options for _, options in simple if (option.key, value) in options)
                counts = [seats for seats, options in simple if options == fewest]
                wanted.append((counts[len(counts) // 2], fewest))
    for number, (seats, options) in enumerate(wanted):
        yield Case(key, seats, options, f"told {number}", number, LONGEST)


def file_of(case: Case) -> Path:
    chosen = [f"{name}-{spell(value)}" for name, value in case.options]
    return HERE / case.key / ("-".join([f"{case.seats}-players", *chosen]).replace("_", "-") + ".txt")


CASES: Final = [
    pytest.param(case, id=f"{case.key}/{file_of(case).stem}") for key in variants() for case in recorded(key)
]


# How they are written


def head(case: Case) -> Iterator[str]:
    yield f"variant {case.key}"
    yield f"seats {case.seats}"
    yield f"rules {' '.join([f'{name}={spell(value)}' for name, value in case.options]) or '-'}"
    yield f"seed {case.seed}"


def transcript(case: Case, asked: list[Asked]) -> Iterator[str]:
    rules = variants()[case.key].rules(dict(case.options), case.seats)
    deck = Deck(seed_from_text(case.seed))
    state = rules.start()
    yield from head(case)
    for seat, move in asked:
        yield f"> {seat} {format_move(move)}"
        try:
            events, state = advance(rules, deck, state, seat, move)
        except Refusal as refusal:
            yield f"refused: {refusal.code}: {refusal}"
            return
        yield from map(format_event, events)
        if any(isinstance(event, RoundEnded) for event in events):
            yield from table(rules, state)


def table(rules: Rules, state: State) -> Iterator[str]:
    yield f"  layout {' '.join(placements(state.layout))}"
    ends = [f"{end.name} {end.number} {end.side} of {end.host} {end.gate}" for end in state.layout.ends]
    yield f"  ends {', '.join(ends)}"
    if rules.counted:
        yield f"  sum of the ends {state.layout.ends_sum}"
    yield f"  totals {' '.join(map(str, state.totals))}"
    yield f"  in {' '.join(map(str, state.seats_in())) or '-'}"
    for word, value in (("carry", state.carry), ("leader", state.leader), ("dealer", state.dealer)):
        if value is not None and (value or word != "carry"):
            yield f"  {word} {value}"
    if state.phase == FINISHED and rules.settlement:
        settled = rules.settlement(state)
        yield f"  settled by {settled.mode}: {' '.join(map(str, settled.amounts))}"
        for payment in settled.payments:
            yield f"  {payment.payer} pays {payment.payee} {payment.amount}"


def placements(layout: Layout) -> Iterator[str]:
    for index, (tile, host, side, seat, face_down) in enumerate(layout.placements):
        where = f"@{host}.{side}" if host >= 0 else ""
        yield f"{index}:{tile}{where}{'!' if face_down else ''}({seat})"


# The tests


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_match_goes_as_it_went(
    case: Case, same_as_file: Callable[[Path, str], None], rewriting: bool
) -> None:
    path = file_of(case)
    if rewriting:
        asked = [(step.seat, step.move) for step in Match(case).steps]
    else:
        asked = list(moves_in(path)) if path.exists() else []
    same_as_file(path, "\n".join([*transcript(case, asked), ""]))


def moves_in(path: Path) -> Iterator[Asked]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("> "):
            _, seat, move = line.split(" ", 2)
            yield int(seat), parse_move(move)


def events_in(path: Path) -> Iterator[Event]:
    for line in path.read_text(encoding="utf-8").splitlines()[4:]:
        if not line.startswith((">", " ")):
            yield parse_event(line)


def test_every_game_has_its_matches_and_every_file_belongs_to_one() -> None:
    wanted = {file_of(case) for key in variants() for case in recorded(key)}
    assert set(HERE.glob("*/*.txt")) == wanted
    assert {path.parent.name for path in wanted} == set(variants())


@pytest.mark.parametrize("key", variants())
def test_every_value_of_a_choice_is_recorded(key: str) -> None:
    wanted = {(option.key, value) for option in variants()[key].options for value in option.values}
    defaults = {(option.key, option.default) for option in variants()[key].options}
    assert wanted <= defaults | {choice for case in recorded(key) for choice in case.options}


def test_the_recordings_show_every_action_and_reason_and_every_match_ends() -> None:
    actions, reasons = set(), set()
    for path in HERE.glob("*/*.txt"):
        actions |= {move.action for _, move in moves_in(path)}
        events = list(events_in(path))
        reasons |= {event.round.ended_by for event in events if isinstance(event, RoundEnded)}
        assert format_event(events[-1]).startswith("finished: "), path.name
    assert actions == set(ACTIONS)
    assert reasons == set(get_args(Reason))
