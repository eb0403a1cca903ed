"""The page that defines records says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from service.engine.variants import variants
from service.records.parser import parse_record
from service.records.report import CODES
from service.records.verification import verify
from service.records.writer import format_record

PAGE = (Path(__file__).parents[2] / "docs/record.md").read_text("utf-8")


def test_its_example_is_verified() -> None:
    example = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0]
    record = parse_record(example)
    assert format_record(record) == example
    report = verify(record)
    assert report.findings == ()
    assert (report.deals, report.proven, report.finished) == (1, 1, True)


def test_it_lists_every_code_with_its_meaning_in_order() -> None:
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.split("## What is checked")[1], re.MULTILINE) == list(
        CODES.items()
    )


def test_it_names_every_game() -> None:
    assert all(f"`{key}`" in PAGE for key in variants())
