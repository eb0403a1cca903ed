"""The grammar and the parser agree on what a record is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark, UnexpectedInput

from service.engine.tiles import TILES
from service.engine.variants import variants
from service.records.parser import parse_record
from service.records.record import InvalidRecord
from service.records.writer import format_record
from tests.laws.matches import Match, law, steady
from tests.records.building import arranged, fair, kept, viewers
from tests.records.hosted import hosted_records
from tests.records.test_parsing import BAD, FULL, GOOD, as_written, is_place, pieces
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
GRAMMAR = Lark((ROOT / "docs/record.lark").read_text("utf-8"), parser="lalr", lexer="contextual")
LEFT_OPEN = ("A tile is written", "The players are numbered")
"""How the parser refuses what the grammar cannot say."""


def grammatical(text: str) -> bool:
    try:
        GRAMMAR.parse(text)
    except UnexpectedInput:
        return False
    return True


def refused(text: str) -> InvalidRecord | None:
    """Why the parser refuses the text, if it does; else the text is the one spelling of the record."""
    try:
        record = parse_record(text)
    except InvalidRecord as refusal:
        return refusal
    assert format_record(record) == as_written(text)
    return None


def agree(text: str) -> None:
    refusal = refused(text)
    if refusal is None:
        assert grammatical(as_written(text))
    else:
        assert is_place(text, refusal.line, refusal.column)
        assert refusal.sentence.startswith(LEFT_OPEN) or not grammatical(as_written(text))


@law(matches=3, drawn=1)
def test_every_generated_record_is_grammatical(match: Match) -> None:
    for kind in (fair, arranged):
        kept_match = kind(match.case)
        viewer = match.rng.choice([None, *viewers(match)])
        assert grammatical(format_record(kept(kept_match, viewer)))


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("tests/games/*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_recorded_match_is_grammatical_and_verified(path: Path) -> None:
    assert refused(path.read_text("utf-8")) is None
    assert grammatical(path.read_text("utf-8"))


drawing = settings(steady, max_examples=fewer(100), suppress_health_check=list(HealthCheck))


@drawing
@given(from_lark(GRAMMAR, start="start"))
def test_what_the_grammar_says_is_accepted_or_refused_for_what_it_cannot_say(text: str) -> None:
    assert grammatical(text)
    agree(text)


round_of_tiles = from_lark(GRAMMAR, start="round", explicit={"TILE": st.sampled_from([tile.name for tile in TILES])})


@drawing
@given(st.lists(round_of_tiles, max_size=3))
def test_rounds_of_tiles_that_there_are_are_accepted(rounds: list[str]) -> None:
    head = GOOD[: GOOD.index("\n\n") + 1]
    assert refused(head + "".join([f"\n{each}" for each in rounds])) is None


@settings(drawing, max_examples=fewer(400))
@given(st.sampled_from([GOOD, FULL]), st.integers(0, len(FULL)), st.integers(0, 9), pieces | st.text(max_size=2))
def test_they_say_the_same_of_a_record_that_somebody_has_changed(text: str, at: int, cut: int, piece: str) -> None:
    agree(text[:at] + piece + text[at + cut :])


@pytest.mark.parametrize("text", [pytest.param(text, id=str(at)) for at, (text, _, _) in enumerate(BAD)])
def test_they_refuse_the_same(text: str) -> None:
    assert refused(text) is not None
    agree(text)


def test_every_key_of_a_game_and_of_a_house_rule_is_grammatical() -> None:
    for key, recipe in variants().items():
        options = " ".join([f"{option.key}=1" for option in recipe.options])
        assert grammatical(GOOD.replace("fido", key).replace("set=12 rounds=1", options))


def test_every_hosted_record_is_grammatical_with_moves_that_the_service_made() -> None:
    texts = [format_record(record) for record in hosted_records()]
    assert any(" auto\n" in text for text in texts)
    assert all(map(grammatical, texts))
