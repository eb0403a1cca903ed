"""``/problems`` and the table of reasons: every reason is listed, in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import service
from service.engine.errors import Reason
from service.reasons import PARAMS, REASONS, param_type, sentence
from service.texts import LANGUAGES, template
from service.web.problems.answers import PROBLEMS, problem_title
from tests.api.client import Api

RAISED_WITH_A_REASON = re.compile(
    r"Reason|invalid|RequestError|IllegalMove|Unauthorized|NotFound|Forbidden|NotYourTurn|NotInMatch|RoundOver|GameOver"
    r"|NotStarted|SeatsTaken|StaleVersion|KeyReused|InvalidForkPoint"
)
"""The names that are called with the word of a reason first."""


def words_in_source() -> Iterator[tuple[str, str]]:
    """The words of all reasons in the service's source, each with its file."""
    for path in Path(*service.__path__).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            word = node.args[0]
            if RAISED_WITH_A_REASON.fullmatch(name) and isinstance(word, ast.Constant) and isinstance(word.value, str):
                yield word.value, path.name


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_every_word_in_the_source_is_a_reason() -> None:
    found = list(words_in_source())
    assert len(found) > 60
    assert [(word, file) for word, file in found if word not in REASONS] == []


@pytest.mark.parametrize("word", REASONS)
def test_a_reason_has_a_code_and_a_sentence_of_its_own_in_every_language(word: str) -> None:
    assert REASONS[word] in PROBLEMS
    assert re.fullmatch("[a-z][a-z0-9_]*", word)
    english = template(f"reasons.{word}", "en")
    assert len({template(f"reasons.{word}", language) for language in LANGUAGES}) == len(LANGUAGES)
    assert placeholders(english) <= PARAMS.keys()
    values: dict[type, Any] = {int: 3, str: "x", list: ["x", "y"]}
    params = {name: values[param_type(name)] for name in placeholders(english)}
    for language in LANGUAGES:
        text = sentence(Reason(word, params), language)
        assert not re.search(r"\{\w+\}", text)
        assert text[-1] in ".]" or "record" in word or "faulty" in word


def test_every_code_has_a_reason() -> None:
    assert set(REASONS.values()) == PROBLEMS.keys()


def test_problems_lists_every_code_and_reason(api: Api) -> None:
    for language in LANGUAGES:
        answer = api.get("/problems", headers={"Accept": "application/json", "Accept-Language": language})
        problems = answer.get_json()["problems"]
        assert answer.headers["Content-Language"] == language
        titles = {each["code"]: each["title"] for each in problems}
        assert titles == {code: problem_title(code, language) for code in PROBLEMS}
        assert {each["reason"] for problem in problems for each in problem["reasons"]} == REASONS.keys()
    assert api.get("/problems").mimetype == "application/json"


def test_the_page_has_an_anchor_for_every_code_and_reason(api: Api) -> None:
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for language, heading in (("en", "Problems"), ("de", "Probleme")):
        answer = api.ask_unchecked("GET", "/problems", headers={"Accept": browser, "Accept-Language": language})
        assert (answer.status_code, answer.mimetype) == (200, "text/html")
        assert sorted(re.findall(r' id="(\w+)"', answer.text)) == sorted(PROBLEMS.keys() | REASONS.keys())
        assert f"<h1>{heading}</h1>" in answer.text
        assert f'<html lang="{language}">' in answer.text
