"""The texts of the service are complete in every language, and the check that says so finds what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from service.texts import DEFAULT_LANGUAGE, LANGUAGES
from tools.check_texts import TEXTS, findings

NEW_LANGUAGE: Final = """
from service import texts
from service.render.sentences.numbers import number_word
from service.render.sentences.texts import text
from service.web.page import routes as client
from service.web.http.headers import accepted_language
print(texts.__file__)
print(", ".join(texts.LANGUAGES))
print(texts.named(texts.LANGUAGES))
print(accepted_language({"HTTP_ACCEPT_LANGUAGE": "fr, es-MX;q=0.8, en;q=0.5"}))
print(text("dealt", "es", round=number_word(2, "es")))
print('data-languages="en de es"' in client._index().decode(), "texts/es/views.json" in client._files())
"""

Spoil = Callable[[dict[str, Any]], object]

BOTH: Final = ("en", "de")

SPOILT: Final[list[tuple[tuple[str, ...], str, Spoil, list[str]]]] = [
    (("de",), "reasons", lambda each: each.pop("key_reused"), ["de: reasons.key_reused is missing"]),
    (("de",), "reasons", lambda each: each.update(new="Neu."), ["de: reasons.new is not in en"]),
    (("de",), "sentences", lambda each: each.update(passed="Ja."), ["de: sentences.passed names nothing, not name"]),
    (("de",), "sentences", lambda each: each.update(rematched=""), ["de: sentences.rematched is empty"]),
    (("de",), "tiles", lambda each: each["pips"].pop(), ["de: tiles.pips is not a list of as many words"]),
    (BOTH, "reasons", lambda each: each.pop("key_reused"), ["reasons.key_reused is used and missing"]),
    (BOTH, "reasons", lambda each: each.update(new="New."), ["reasons.new is not used"]),
    (BOTH, "problems", lambda each: each["gone"].pop("title"), ["problems.gone.title is used and missing"]),
    (BOTH, "problems", lambda each: each.pop("page_title"), ["problems.page_title is used and missing"]),
    (BOTH, "sentences", lambda each: each.pop("drew.tile.you"), ["sentences.drew.tile.you is used and missing"]),
    (BOTH, "sentences", lambda each: each.pop("points.one"), ["sentences.points.one is used and missing"]),
    (BOTH, "sentences", lambda each: each.update(new="New."), ["sentences.new is not used"]),
    (BOTH, "sentences", lambda each: each.update({"drew.twice": "Two."}), ["sentences.drew.twice is not used"]),
    (BOTH, "tiles", lambda each: each.pop("doubles"), ["tiles.doubles is used and missing"]),
    (BOTH, "options", lambda each: each["teams"].pop("title"), ["options.teams.title is used and missing"]),
    (BOTH, "options", lambda each: each.update(colour={"title": "Colour"}), ["options.colour.title is not used"]),
    (
        BOTH,
        "options",
        lambda each: each["opening"]["values"].pop("rotate"),
        ["options.opening.values.rotate is used and missing"],
    ),
    (BOTH, "games/fido", lambda each: each.pop("summary"), ["games.fido.summary is used and missing"]),
    (BOTH, "games/kozel", lambda each: each["regions"].pop("Козёл"), ["games.kozel.regions.Козёл is used and missing"]),
    (BOTH, "page/table", lambda each: each["table"].pop("draw"), ["page.table.table.draw is used and missing"]),
    (BOTH, "page/table", lambda each: each["table"].pop("stock"), ["page.table.table.stock is used and missing"]),
    (BOTH, "page/table", lambda each: each["table"].update(foo="Foo"), ["page.table.table.foo is not used"]),
    (("de",), "page/table", lambda each: each["table"]["stock"].update(few="{count} Steine"), []),
    (("de",), "page/table", lambda each: each["table"]["stock"].pop("one"), []),
    (
        ("de",),
        "page/table",
        lambda each: each["table"]["stock"].pop("other"),
        ["de: page.table.table.stock.other is missing"],
    ),
    (
        ("de",),
        "page/table",
        lambda each: each["table"].update(round="Runde"),
        ["de: page.table.table.round names nothing, not round"],
    ),
    (BOTH, "levels", lambda each: each.update(master={"summary": "Wins."}), ["levels.master.summary is not used"]),
]


def spoil(folder: Path, name: str, change: Spoil) -> None:
    path = folder / f"{name}.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TEXTS, tmp_path / "texts"))


def test_every_text_is_there_in_every_language_and_used() -> None:
    assert findings(TEXTS) == []


def test_the_default_language_is_the_first_one() -> None:
    assert LANGUAGES[0] == DEFAULT_LANGUAGE
    assert {"en", "de"} <= set(LANGUAGES)
    assert len(set(LANGUAGES)) == len(LANGUAGES)


@pytest.mark.parametrize(("languages", "name", "change", "expected"), SPOILT)
def test_what_is_missing_unused_or_different_is_found(
    copied: Path, languages: tuple[str, ...], name: str, change: Spoil, expected: list[str]
) -> None:
    for language in languages:
        spoil(copied, f"{language}/{name}", change)
    assert findings(copied) == expected


def test_a_key_that_is_written_twice_is_found(copied: Path) -> None:
    path = copied / "de" / "levels.json"
    path.write_text(path.read_text("utf-8").replace("{", '{ "case": "Fall",', 1), "utf-8")
    assert findings(copied) == ["de/levels.json: case is there twice"]


def test_each_game_has_one_rule_page_in_each_language(copied: Path) -> None:
    (copied / "de" / "games" / "fido.md").rename(copied / "de" / "games" / "fifi.md")
    assert findings(copied) == ["de: fido has no rule page", "de: no game has the rule page fifi"]


def test_another_language_is_another_folder_and_no_code(tmp_path: Path) -> None:
    package = Path(shutil.copytree(TEXTS.parent, tmp_path / "service"))
    shutil.copytree(package / "texts" / "de", package / "texts" / "es")
    spoil(package / "texts" / "es", "language", lambda each: each.update(in_english="Spanish"))
    assert findings(package / "texts") == []
    command = [sys.executable, "-c", NEW_LANGUAGE]
    told = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.splitlines() == [
        str(tmp_path / "service" / "texts" / "__init__.py"),
        "en, de, es",
        "English, German or Spanish",
        "es",
        "Runde zwei ist gegeben.",
        "True True",
    ]
