"""A text that is no record is refused, with the line and the column where it cannot be right."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records.parser import MAX_CHARS, MAX_LINE_CHARS, MAX_OPTIONS, MAX_ROUNDS, decode_record, parse_record
from service.records.record import InvalidRecord, RecordedBot, RecordedClock
from service.records.verification import verify
from service.records.writer import format_record
from tests.laws.matches import steady

GOOD = """\
[Record "1"]
[GameId "5m1Gd5tIvN3vYhYkS0oJGA"]
[Variant "fido"]
[Edition "1"]
[Options "set=12 rounds=1"]
[Player 0 "Ada"]
[Player 1 "Bo"]
[Player 2 "C\\000022y"]
[Date "2026-11-21T21:16:28.123Z"]
[Fairness "domino-deal-1"]
[Seen "2"]
[Result "*"]

[Round 1]
[Commitment "000000000000000000000000000000000000000000000000000000000000000a"]
[ClientSeeds "a" "" "c"]
[Attempt 0]
[Seed "000000000000000000000000000000000000000000000000000000000000000b"]
2. dealt: 0-3 6-6 / - | 0-1
3. 2: 6-6 = 24 +0
7. 0: draw ?
8. ended out; winner 0; scores 0 0 64; hands 0: - = 0, 2: 6-6 = 50; lines 2: +64 2.11 "0 + 14"
9. finished: 0 2

[Round 2]
[Commitment "000000000000000000000000000000000000000000000000000000000000000c"]
"""
LINES = GOOD.splitlines()
TIMES = """\
[Clock "bank=300 increment=0"]
[Absence "forfeit"]
"""
PRESENCE = """\
7. 0: left
7. 0: returned
7. 1: timed_out forfeit
7. 1: forfeited
7. 1: claimed 0
"""


FULL = (
    GOOD.replace('"Bo"', '"Greedy" bot=greedy edition=1')
    .replace("[Date", f"{TIMES}[Date")
    .replace("8. ended", f"{PRESENCE}8. ended")
    .replace("finished: 0 2", "finished: 0 2 forfeit")
)
"""The same with a computer player, a clock, and people who are away."""


def with_line(number: int, line: str) -> str:
    lines = [*LINES[: number - 1], line, *LINES[number:]]
    return "".join([f"{each}\n" for each in lines])


def without_line(number: int) -> str:
    return "".join([f"{each}\n" for each in [*LINES[: number - 1], *LINES[number:]]])


def test_the_example_is_right() -> None:
    assert format_record(parse_record(GOOD)) == GOOD


def test_computer_players_a_clock_and_who_is_away_are_read() -> None:
    record = parse_record(FULL)
    assert format_record(record) == FULL
    assert record.bots == (RecordedBot(1, "greedy", 1),)
    assert record.clock == RecordedClock(None, 300, 0, "forfeit")


def test_tags_that_may_be_absent() -> None:
    lines = [
        line for line in LINES if not line.startswith(("[Game", "[Date", "[Seen", "[Comm", "[Cl", "[Att", "[Seed"))
    ]
    text = "".join([f"{line}\n" for line in lines])
    assert format_record(parse_record(text)) == text
    head = "".join([f"{line}\n" for line in lines[: lines.index("")]])
    assert parse_record(head).rounds == ()
    assert format_record(parse_record(head)) == head


BAD = [
    ("", 1, 1),
    ("\n", 1, 1),
    (GOOD + "\n\n[Round 3]\n", 28, 1),
    ("\n\n \n" + with_line(1, '[Record "2"]'), 4, 10),
    ("\ufeff\ufeff" + GOOD, 1, 1),
    (" " + GOOD, 1, 1),
    (GOOD.replace("\n", "\r"), 1, 13),
    (with_line(4, '[Edition "1"]\n'), 5, 1),
    (GOOD + "[Round 3]\n", 27, 1),
    (with_line(1, '[Record "2"]'), 1, 10),
    (with_line(2, '[GameId ""]'), 2, 10),
    (without_line(3), 3, 2),
    (with_line(3, '[Variant "Fido"]'), 3, 11),
    (with_line(4, '[Edition "01"]'), 4, 11),
    (with_line(4, '[Edition "1" ]'), 4, 13),
    (with_line(5, '[Options "set=12  rounds=1"]'), 5, 17),
    (with_line(5, '[Options "set=012"]'), 5, 16),
    (with_line(5, '[Options "set"]'), 5, 14),
    (with_line(5, f'[Options "set={"9" * 16}"]'), 5, 30),
    (without_line(6), 6, 9),
    (with_line(7, '[Player 2 "Bo"]'), 7, 9),
    (with_line(7, '[Player 1 "Bo]'), 7, 15),
    (with_line(8, '[Player 2 "C"y"]'), 8, 14),
    (with_line(8, '[Player 2 "C\\000041y"]'), 8, 13),
    (with_line(8, '[Player 2 "C\ty"]'), 8, 13),
    (with_line(7, '[Player 1 "Bo" remote]'), 7, 15),
    (with_line(7, '[Player 1 "Bo" bot=greedy]'), 7, 26),
    (with_line(7, '[Player 1 "Bo" bot=greedy edition=0]'), 7, 35),
    (with_line(7, '[Player 1 "Bo" bot=Greedy edition=1]'), 7, 20),
    (with_line(7, '[Player 1 "Bo"  bot=greedy edition=1]'), 7, 15),
    (with_line(9, '[Clock "turn=60"]'), 10, 2),
    (with_line(9, '[Absence "bot"]'), 9, 2),
    (with_line(9, '[Clock "turn=0"]\n[Absence "bot"]'), 9, 14),
    (with_line(9, '[Clock "turn=60 increment=1"]\n[Absence "bot"]'), 9, 16),
    (with_line(9, '[Clock "bank=60"]\n[Absence "bot"]'), 9, 16),
    (with_line(9, '[Clock "turn=60"]\n[Absence "wait"]'), 10, 11),
    (with_line(9, '[Date "2026-11-21T21:16:28Z"]'), 9, 8),
    (with_line(9, '[Date "2026-13-21T21:16:28.000Z"]'), 9, 8),
    (with_line(10, '[Fairness "sure"]'), 10, 12),
    (with_line(10, '[Fairness "none"]'), 10, 12),
    (with_line(11, '[Seen "everybody"]'), 11, 8),
    (with_line(12, '[Result "0,2"]'), 12, 11),
    (with_line(12, '[Result ""]'), 12, 10),
    (with_line(14, "[Round 0]"), 14, 8),
    (with_line(14, '[Round "1"]'), 14, 8),
    (with_line(15, '[Commitment "00"]'), 15, 16),
    (with_line(15, LINES[14].replace("a", "A")), 15, 77),
    (with_line(16, "[ClientSeeds]"), 16, 1),
    (with_line(16, '[ClientSeeds "a"  "b"]'), 16, 18),
    (with_line(17, "[Attempt -1]"), 17, 10),
    (with_line(18, LINES[14]), 18, 1),
    (with_line(19, "2. dealt: 0-3 6-5 / - | 0-1"), 19, 15),
    (with_line(20, "03. 2: 6-6"), 20, 1),
    (with_line(20, "3.2: 6-6"), 20, 3),
    (with_line(20, "3. 2: 6-6 = 24 0"), 20, 16),
    (with_line(21, "7. 0: drew"), 21, 7),
    (with_line(21, "7. 0: claimed"), 21, 14),
    (with_line(21, "7. 0: claimed -1"), 21, 15),
    (with_line(21, "7. 0: timed_out"), 21, 16),
    (with_line(21, "7. 0: left 1"), 21, 11),
    (with_line(23, "9. finished: 0 2 forfeit 1"), 23, 25),
]
TOO_LONG: list[tuple[str, int, int]] = [
    ("x" * (MAX_CHARS + 1), 1, 1),
    (with_line(5, f'[Options "set=12{" rounds=1" * MAX_OPTIONS}"]'), 5, 17 + 9 * (MAX_OPTIONS - 1)),
    (with_line(6, f'[Player 0 "{"a" * MAX_LINE_CHARS}"]'), 6, MAX_LINE_CHARS + 1),
    (with_line(19, f"2. dealt: {'0-3 ' * 28_000}6-6 / - | 0-1"), 19, MAX_LINE_CHARS + 1),
    (GOOD + "\n[Round 3]\n" * (MAX_ROUNDS - 1), len(LINES) + 2 * (MAX_ROUNDS - 1), 1),
]


@pytest.mark.parametrize(
    ("text", "line", "column"), [pytest.param(*each, id=str(at)) for at, each in enumerate([*BAD, *TOO_LONG])]
)
def test_what_is_no_record_is_refused_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(InvalidRecord) as refused:
        parse_record(text)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert refused.value.sentence.endswith(".")


AS_AN_EDITOR_LEAVES_IT = {
    "byte order mark": lambda text: "\ufeff" + text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CRLF, and a byte order mark": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "no line feed at the end": lambda text: text[:-1],
    "CRLF, none at the end": lambda text: text[:-1].replace("\n", "\r\n"),
    "blank lines at the end": lambda text: text + "\n\n",
    "blank lines before": lambda text: "\n \n" + text,
    "blank lines around, CRLF": lambda text: "\r\n" + text.replace("\n", "\r\n") + "\r\n\r\n",
    "spaces at the ends of lines": lambda text: text.replace("\n", "  \n"),
    "tabs at the ends of lines": lambda text: text.replace("\n", "\t\n") + "\t",
}


@pytest.mark.parametrize("change", AS_AN_EDITOR_LEAVES_IT.values(), ids=AS_AN_EDITOR_LEAVES_IT)
@pytest.mark.parametrize("text", [GOOD, FULL], ids=["good", "full"])
def test_a_record_is_read_as_an_editor_or_a_mail_leaves_it(text: str, change: Callable[[str], str]) -> None:
    assert change(text) != text
    assert format_record(parse_record(change(text))) == text


def test_a_text_at_the_bounds_is_read() -> None:
    name = "a" * (MAX_LINE_CHARS - len('[Player 0 ""]'))
    options = "".join([f" rounds={number}" for number in range(MAX_OPTIONS - 1)])
    text = GOOD.replace("Ada", name).replace(" rounds=1", options) + "\n[Round 3]\n" * (MAX_ROUNDS - 2)
    record = parse_record(text)
    assert (record.players[0], len(record.options), len(record.rounds)) == (name, MAX_OPTIONS, MAX_ROUNDS)
    assert format_record(record) == text


def test_bytes_that_are_no_text_are_refused_with_line_and_column() -> None:
    assert decode_record(GOOD.encode()) == GOOD
    with pytest.raises(InvalidRecord) as refused:
        decode_record("[Récord\n[ü".encode() + b"\xff]\n")
    assert (refused.value.line, refused.value.column) == (2, 3)


def as_written(text: str) -> str:
    """The text without what an editor may have added, and with what it may have lost."""
    lines = [re.sub(r"[ \t\r]+\Z", "", line) for line in re.sub(r"\A\ufeff", "", text).split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def is_place(text: str, line: int, column: int) -> bool:
    """Whether there is a character in that place, or the end of a line."""
    lines = text.split("\n")
    return 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1


pieces = st.sampled_from([*' -+/|:;,=>"\\[]?*.0123456789ex\n\r\u2028é', "\n\n", "0-0", "\\000022", "?7", "[Seen "])


@steady
@given(st.sampled_from([GOOD, FULL]), st.integers(0, len(FULL)), st.integers(0, 9), pieces | st.text(max_size=3))
def test_a_text_is_refused_at_a_place_that_there_is_or_is_the_one_spelling(
    text: str, at: int, cut: int, piece: str
) -> None:
    text = text[:at] + piece + text[at + cut :]
    place = None
    try:
        assert format_record(parse_record(text)) == as_written(text)
    except InvalidRecord as refusal:
        place = refusal.line, refusal.column
    assert place is None or is_place(text, *place)


HOSTILE = [
    "[" * MAX_CHARS,
    GOOD[: GOOD.index("Ada")] + "\\" * 1_000_000,
    GOOD[: GOOD.index("Ada")] + "a" * 1_900_000,
    GOOD + "\n[Round 3]\n" * 150_000,
    GOOD + "10. 0: pass\n" * 150_000,
    GOOD.replace("0-3 6-6", "0-3 " * 400_000 + "6-6"),
    GOOD.replace("scores 0", "scores" + " 0" * 900_000),
    GOOD.replace("dealt: 0-3", "dealt: - / " * 100_000),
    "\n" * MAX_CHARS,
    "9" * MAX_CHARS,
]


def test_a_server_can_let_others_run_while_it_reads_and_checks() -> None:
    breaths = []
    record = parse_record(GOOD + "10. 0: pass\n" * 1000, lambda: breaths.append("line"))
    assert len(breaths) > 10
    verify(record, lambda: breaths.append("round"))
    assert breaths.count("round") >= 2


@pytest.mark.parametrize(
    "line",
    [
        f"9. dealt: {'0-3 ' * 4000}6-6 / - | 0-1",
        f"9. dealt: {'?1 / ' * 3000}?2 | ?7",
        f"9. ended out; scores{' 0' * 8000}; hands 0: - = 0; lines -",
        f"9. finished:{' 0' * 8000}",
        f'9. ended out; scores 0; hands 0: - = 0; lines 0: +0 1 "{"x" * 16_000}"',
        "9. 0: pass" + "\n9. 0: pass" * 1400,
    ],
)
def test_a_server_can_let_others_run_after_each_long_line(line: str) -> None:
    breaths: list[None] = []
    parse_record(GOOD + f"{line}\n" * 10, lambda: breaths.append(None))
    assert len(breaths) >= 10


def test_a_server_can_let_others_run_between_the_rounds_of_a_record() -> None:
    breaths: list[None] = []
    verify(parse_record(GOOD + "\n[Round 3]\n" * (MAX_ROUNDS - 2)), lambda: breaths.append(None))
    assert len(breaths) >= MAX_ROUNDS


@pytest.mark.parametrize("text", [pytest.param(text, id=str(at)) for at, text in enumerate(HOSTILE)])
def test_the_longest_text_is_read_or_refused_soon(text: str) -> None:
    """Far more than it takes, and far less than work that grows with the square of the length would."""
    start = time.process_time()
    with contextlib.suppress(InvalidRecord):
        parse_record(text)
    assert time.process_time() - start < 20
