"""Whatever a text says that can be read at all, checking and telling it ends with a finding and not with an error."""

from __future__ import annotations

import re
from random import Random

import pytest

from service.engine.variants import variants
from service.records.fork_points import fork_point_at
from service.records.parser import parse_record
from service.records.record import InvalidForkPoint, InvalidRecord, Record
from service.records.verification import verify
from service.records.writer import format_record
from service.render.replays import replay
from service.render.transcript import render_transcript
from tests.conftest import Figures
from tests.records.building import arranged, fair, kept, short_cases, viewers
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

TIMES = 15
"""So often is each record changed."""
_WORD = re.compile(r"\d+-\d+|(?<=>)\w+|\?\d*|\d+|\b(?:pass|done|flip|eliminated|draw)\b")


def spoilt(text: str, rng: Random) -> str:
    """The text with some of its lines or words changed for others that it has."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        lines = text.splitlines()
        here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                del lines[here]
            case 1:
                lines.insert(here, lines[there])
            case 2:
                lines[here], lines[there] = lines[there], lines[here]
            case _:
                words = _WORD.findall(text)
                found = list(_WORD.finditer(lines[here]))
                if found:
                    start, end = rng.choice(found).span()
                    lines[here] = lines[here][:start] + rng.choice(words) + lines[here][end:]
        text = "".join([f"{line}\n" for line in lines])
    return text


def numbered(text: str) -> str:
    """The same with the versions in order, as else nothing but those would be found."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        lines[at] = re.sub(r"^\d+(?=\. )", str(at), line)
    return "".join([f"{line}\n" for line in lines])


def spoilt_records(key: str, rng: Random) -> list[Record]:
    records = []
    for case in short_cases(key, fewer(20), 50):
        match = rng.choice([fair, arranged])(case)
        text = numbered(format_record(kept(match, rng.choice([None, *viewers(match)]))))
        for _ in range(TIMES):
            try:
                records.append(parse_record(numbered(spoilt(text, rng))))
            except InvalidRecord:
                continue
    return records


def all_is_replayed(record: Record) -> bool:
    return sum([len(each.events) for each in replay(record, 16, "en").rounds]) == sum(
        [len(each.lines) for each in record.rounds]
    )


@pytest.mark.parametrize("key", variants())
def test_what_somebody_has_spoilt_is_checked_told_and_never_played_on_unless_it_is_sound(
    key: str, figures: Figures
) -> None:
    rng = Random(f"spoilt {key}")
    records = spoilt_records(key, rng)
    wrong = 0
    for record in records:
        report = verify(record)
        wrong += not report.verified
        assert list(render_transcript(record))
        fault = replay(record, 16, "en").fault
        assert fault in report.findings if fault else report.verified or all_is_replayed(record)
        playable = report.verified and record.viewer is None
        try:
            fork_point_at(record)
        except InvalidForkPoint:
            assert not playable or not any(each.lines for each in record.rounds)
        else:
            assert playable
    figures("records", {"spoilt and read": len(records), "of them found wrong": wrong})
    assert wrong > len(records) / 2
