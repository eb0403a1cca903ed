"""The pages that define records and their checks say what the code does."""

from __future__ import annotations

import hmac
import re
from pathlib import Path

from service.engine.deal import seed_of_decision
from service.engine.variants import variants
from service.records.bot_checks import ALL_DECISIONS, CHEAP_DECISIONS
from service.records.parser import parse_record
from service.records.verification import verify
from service.records.writer import format_record

PAGE = (Path(__file__).parents[2] / "docs/record.md").read_text("utf-8")
FAIRNESS = (Path(__file__).parents[2] / "docs/fairness.md").read_text("utf-8")


def test_its_example_is_verified() -> None:
    example = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0]
    record = parse_record(example)
    assert format_record(record) == example
    report = verify(record)
    assert report.findings == ()
    assert (report.deals, report.proven, report.finished) == (1, 1, True)


def test_it_names_every_game() -> None:
    assert all(f"`{key}`" in PAGE for key in variants())


def test_the_page_on_fairness_has_the_seed_of_a_decision() -> None:
    fields = b"\0\0\0\x0cdomino-bot-1" + b"\0\0\0\x012" + b"\0\0\0\x0241"
    seed = hmac.digest(bytes(range(32)), fields, "sha256")
    assert seed_of_decision(bytes(range(32)), 2, 41) == seed
    assert f"```text\n{seed.hex()}\n```" in FAIRNESS


def test_it_says_how_many_decisions_are_made_again() -> None:
    assert f"at most {CHEAP_DECISIONS.max_choices:,};" in PAGE
    assert f"at most {ALL_DECISIONS.max_choices:,}," in PAGE
