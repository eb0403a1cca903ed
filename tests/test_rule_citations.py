"""Numbered rules: whatever names a rule by its number names one that ``docs/rules.md`` and the rule pages have.

The registry of variants is walked, so a new game is tested because it exists: it needs a chapter in ``docs/rules.md``
and the numbers of that chapter in both of its rule pages.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from service.engine.events import RoundEnded
from service.engine.variants import variants
from service.texts import LANGUAGES, rule_page
from tests.laws.matches import Match, cases

ROOT: Final = Path(__file__).parents[1]
ENGINE: Final = ROOT / "service" / "engine"
FOLDERS: Final = ("service", "docs", "tests", "tools", "bench")
SUFFIXES: Final = (".py", ".md", ".lua", ".txt", ".mjs", ".lark")

NUMBER: Final = r"\d+\.\d+"
SHARED: Final = r"A\d+"
"""The number of a rule that several games share."""
CASE: Final = r"(?: ([a-z])(?=[),.;:]))?"
"""The letter of a case, as in ``1.7 b``."""
ANY_CASE: Final = CASE.replace("([a-z])", "[a-z]")
RULE: Final = rf"(?:{NUMBER}{ANY_CASE}|{SHARED})"
CITATION: Final = re.compile(rf"\brules? ({RULE}(?:(?:, |; | and | or | to ){RULE})*)")
SCORE_LINE: Final = re.compile(rf"\brule[\"']?: [\"']({NUMBER})[\"']|(?<=[ ,;:][+-])\d+ ({NUMBER}) \"")
"""A score line as JSON, as YAML, or in a record: ``+5 3.6 "35 ÷ 7"``."""
CHAPTER_CITATION: Final = re.compile(r"\(rules (\d+)\)")
TEST_NAME: Final = re.compile(r"\bdef test_(\d+)_(\d+)_(?:([b-z])_)?")
"""A test's rule; a letter after it is a case of the rule, but for ``a``, which may be the article."""


class Citation(NamedTuple):
    """A place that names a rule: its number, and the letter of one of its cases or nothing."""

    place: str
    number: str
    letter: str = ""


# What is numbered


@cache
def chapters() -> dict[str, str]:
    """The key of the game of every chapter of ``docs/rules.md``, by the number of the chapter."""
    found = re.findall(r'^<a id="rules-(\d+)"></a>\n\n## (\d+)\. .* \(`([a-z0-9-]+)`\)$', _document(), re.MULTILINE)
    assert all(anchor == heading for anchor, heading, _ in found)
    assert len({number for number, _, _ in found}) == len(found)
    return {number: key for number, _, key in found}


@cache
def statements() -> dict[str, str]:
    """The text of every statement of ``docs/rules.md`` by its number, in the order of the page."""
    parts = re.split(r'^<a id="rule-(\d+)-(\d+)"></a>', _document(), flags=re.MULTILINE)
    found = {}
    for chapter, number, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        name = f"{chapter}.{number}"
        assert name not in found, f"{name} has two anchors"
        assert text.startswith(f"**{name}** "), f"the anchor of {name} stands before another statement"
        found[name] = re.split(r"^(?:#|<a )", text, maxsplit=1, flags=re.MULTILINE)[0]
    return found


@cache
def shared_statements() -> list[str]:
    """The numbers of the statements that several games share, in the order of the page."""
    return re.findall(rf'^<a id="rule-({SHARED})"></a>\*\*\1\*\* ', _document(), re.MULTILINE)


def numbers_of_game(key: str) -> list[str]:
    """The numbers that ``docs/rules.md`` has for this game, in the order of the page."""
    (chapter,) = [number for number, game in chapters().items() if game == key]
    return [number for number in statements() if number.partition(".")[0] == chapter]


def numbers_of_page(page: str) -> list[str]:
    """The numbers of the statements of a rule page: each begins a paragraph, in bold."""
    return re.findall(rf"^\*\*({NUMBER})\*\* (?=\S)", page, re.MULTILINE)


def is_a_rule(cited: Citation) -> bool:
    """Whether the statement exists and, where a case is named, has that case."""
    if cited.number in shared_statements():
        return True
    text = statements().get(cited.number)
    return text is not None and (not cited.letter or f"* ({cited.letter}) " in text)


def _document() -> str:
    return (ROOT / "docs" / "rules.md").read_text("utf-8")


def test_every_game_has_one_chapter_with_statements_and_every_chapter_is_that_of_a_game() -> None:
    assert sorted(chapters().values()) == sorted(variants())
    assert {number.partition(".")[0] for number in statements()} == set(chapters())


def test_the_statements_of_a_chapter_are_numbered_without_a_gap() -> None:
    for chapter, key in chapters().items():
        numbers = numbers_of_game(key)
        assert numbers == [f"{chapter}.{number}" for number in range(1, len(numbers) + 1)]


def test_the_statements_that_games_share_are_numbered_without_a_gap() -> None:
    numbers = shared_statements()
    assert numbers == [f"A{number}" for number in range(1, len(numbers) + 1)]
    assert len(numbers) == _document().count('<a id="rule-A')


# Who cites


def files() -> Iterator[Path]:
    """Every text that may cite a rule."""
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "openapi.yaml")
    for folder in FOLDERS:
        for parent, folders, names in os.walk(ROOT / folder):
            folders[:] = sorted(set(folders) - {"node_modules"})
            yield from (Path(parent, name) for name in sorted(names) if Path(name).suffix in SUFFIXES)


def citations_in(path: Path) -> Iterator[Citation]:
    """Every citation of a rule in this file, also one that is broken over two lines of a docstring or comment."""
    text = path.read_text("utf-8")
    place = str(path.relative_to(ROOT))
    flat = re.sub(r"\s+(?:#\s+)?", " ", text) if "rule" in text else ""
    for cited in CITATION.finditer(flat):
        for each in re.finditer(rf"({NUMBER}|{SHARED}){CASE}", flat[cited.start() : cited.end() + 1]):
            yield Citation(place, each[1], each[2] or "")
    for line in SCORE_LINE.finditer(text):
        yield Citation(place, line[1] or line[2])
    if path.suffix == ".py":
        for chapter, number, letter in TEST_NAME.findall(text):
            yield Citation(place, f"{chapter}.{number}", letter)


def test_every_citation_of_a_rule_resolves() -> None:
    cited = [each for path in files() for each in citations_in(path)]
    assert not [each for each in cited if not is_a_rule(each)]
    # The patterns find what they are for: every game is cited, by its code and by its tests.
    for folder in ("service/", "tests/"):
        numbers = {each.number for each in cited if each.place.startswith(folder)}
        assert {number.partition(".")[0] for number in numbers - set(shared_statements())} == set(chapters())


def test_every_citation_of_a_chapter_resolves() -> None:
    cited = {
        path.stem: chapters().get(number)
        for path in sorted((ENGINE / "variants").glob("*.py"))
        for number in CHAPTER_CITATION.findall(path.read_text("utf-8"))
    }
    assert cited == {key.replace("-", "_"): key for key in variants()}


def test_every_test_file_named_after_a_chapter_is_about_its_game() -> None:
    names = [path.stem for path in (ROOT / "tests").rglob("test_rules_*.py")]
    found = dict(name.removeprefix("test_rules_").split("_", 1) for name in names)
    assert {number: module.replace("_", "-") for number, module in found.items()} == chapters()


def test_every_link_to_a_rule_resolves() -> None:
    anchors = {f"rule-{number.replace('.', '-')}" for number in (*statements(), *shared_statements())}
    anchors |= {f"rules-{chapter}" for chapter in (*chapters(), "A")}
    for path in files():
        linked = set(re.findall(r"\(#(rules?-[A\d-]+)\)|rules\.md#(rules?-[A\d-]+)", path.read_text("utf-8")))
        assert {here or elsewhere for here, elsewhere in linked} <= anchors, path


# What a score line can say


def numbers_in_code(path: Path) -> set[str]:
    """Every string of a module that is nothing but the number of a rule."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    values = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {value for value in values if re.fullmatch(NUMBER, value)}


def numbers_in_code_of_game(key: str) -> set[str]:
    return numbers_in_code(ENGINE / "variants" / f"{key.replace('-', '_')}.py")


def test_every_rule_that_the_code_of_a_game_names_is_one_of_its_own() -> None:
    named = {key: numbers_in_code_of_game(key) for key in variants()}
    assert all(named.values()), "no score line of a game would name a rule"
    others = [f"{key}: {rule}" for key, rules in named.items() for rule in rules if rule not in numbers_of_game(key)]
    assert not others, "\n".join(others)


def test_every_rule_that_shared_code_names_is_a_rule() -> None:
    for path in sorted((ENGINE / "rules").glob("*.py")):
        assert numbers_in_code(path) <= statements().keys(), path


def rules_on_the_score_card(match: Match) -> set[str]:
    """The rules that the score lines of a match name."""
    return {line.rule for event in match.events if isinstance(event, RoundEnded) for line in event.round.lines}


@pytest.mark.gate
@pytest.mark.parametrize("key", variants())
def test_the_rules_on_score_cards_are_those_that_the_code_names(key: str) -> None:
    """So that the strings found in the code are indeed what score lines say, and all are rules of the rule pages."""
    matches = [Match(case) for case in cases(key, "rules on score cards", 60)]
    assert set().union(*[rules_on_the_score_card(match) for match in matches]) == numbers_in_code_of_game(key)


# The rule pages


def pages_without(right: Callable[[str, str], bool]) -> list[str]:
    """Return the names of the rule pages for whose game and text this does not hold."""
    pages = [(key, language, rule_page(key, language)) for key in variants() for language in LANGUAGES]
    return [f"{language}/games/{key}.md" for key, language, page in pages if not right(key, page)]


def test_a_rule_page_has_every_number_of_its_game_once_in_order_and_no_other() -> None:
    assert not pages_without(lambda key, page: numbers_of_page(page) == numbers_of_game(key))


def test_whatever_looks_like_a_number_of_a_rule_in_a_rule_page_is_one() -> None:
    looks_like_one = re.compile(rf"(?<![\d.]){NUMBER}")
    assert not pages_without(lambda key, page: set(looks_like_one.findall(page)) == set(numbers_of_game(key)))


def test_a_rule_page_has_the_same_cases_in_all_languages() -> None:
    """The cases (a), (b), … of a rule are those of ``docs/rules.md``."""

    def has_all(key: str, page: str) -> bool:
        wanted = [re.findall(r"^\* \(([a-z])\) ", statements()[rule], re.MULTILINE) for rule in numbers_of_game(key)]
        parts = re.split(rf"^\*\*{NUMBER}\*\* ", page, flags=re.MULTILINE)[1:]
        return [re.findall(r"^- \(([a-z])\) ", part, re.MULTILINE) for part in parts] == wanted

    assert not pages_without(has_all)


def test_a_rule_page_says_something_under_each_number() -> None:
    def says_something(_key: str, page: str) -> bool:
        starts = [*(found.start() for found in re.finditer(rf"^\*\*{NUMBER}\*\* ", page, re.MULTILINE)), len(page)]
        texts = [re.split(r"^#", page[here:end], maxsplit=1, flags=re.MULTILINE)[0] for here, end in pairwise(starts)]
        return min(len(text.split()) for text in texts) > 10

    assert not pages_without(says_something)
