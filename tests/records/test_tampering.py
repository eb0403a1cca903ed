"""Whatever is changed in a record is found, and named."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from service.records.bot_checks import ALL_DECISIONS, NO_DECISIONS
from service.records.parser import parse_record
from service.records.report import CODES
from service.records.verification import verify
from service.records.writer import format_record
from tests.records.building import long_records
from tests.records.hosted import hosted_records
from tests.records.tampering import TAMPERINGS, Tampering
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

ENOUGH = 12
"""So many records are tampered with in each way, in the gate half of them, if as many give occasion."""
CODES_OF_A_LINE = frozenset(list(CODES)[list(CODES).index("wrong_turn") :]) - {"wrong_bot_move"}
"""What is wrong with a move or a count is said of its line."""


def changed_lines(one: str, other: str) -> Iterator[tuple[int, str]]:
    """The lines that differ, with their numbers, in two texts of as many lines."""
    if one.count("\n") == other.count("\n"):
        for number, (line, changed) in enumerate(zip(one.splitlines(), other.splitlines(), strict=True), 1):
            if line != changed:
                yield number, changed


@pytest.mark.parametrize(
    ("code", "tampering", "along"), [pytest.param(*each, id=each[1].__name__) for each in TAMPERINGS]
)
def test_it_is_found_and_named(code: str, tampering: Tampering, along: frozenset[str]) -> None:
    rng = Random(f"tampering {tampering.__name__}")
    records = [*long_records(), *hosted_records()]
    rng.shuffle(records)
    done = 0
    for record in records:
        changed = tampering(record, rng)
        if changed is None or changed == record:
            continue
        text = format_record(changed)
        assert text.encode()
        assert text != format_record(record)
        report = verify(parse_record(text), bots=ALL_DECISIONS if code == "wrong_bot_move" else NO_DECISIONS)
        found = {finding.code for finding in report.findings}
        assert code in found
        assert found <= {code} | along
        assert not report.verified
        for finding in report.findings:
            assert finding.line is not None
            assert 1 <= finding.line <= text.count("\n")
        lines = [at for at, line in changed_lines(format_record(record), text) if line]
        if len(lines) == 1 and code in CODES_OF_A_LINE:
            assert [finding.line for finding in report.findings if finding.code == code] == lines
        done += 1
        if done == fewer(ENOUGH):
            return
    assert done, "no record gave occasion"


def test_untouched_they_are_verified() -> None:
    for record in [*long_records(), *hosted_records()]:
        assert verify(record, bots=ALL_DECISIONS).findings == ()


def test_every_code_is_found_somewhere() -> None:
    assert {code for code, _, _ in TAMPERINGS} == set(CODES)
