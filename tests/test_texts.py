"""The texts of the service are complete in every language, and the check that says so finds what is wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest

from service.engine.variants import variants
from service.texts import DEFAULT_LANGUAGE, LANGUAGES, Language, rule_page, text
from tests.support.waiting import PATIENCE
from tools.check_texts import TEXTS, findings

NEW_LANGUAGE: Final = """
from service import texts
from service.render.sentences.numbers import number_word
from service.render.sentences.places import text
from service.web.page import routes as client
from service.web.http.errors import ENVIRON
from service.web.http.headers import preferred_language
print(texts.__file__)
print(", ".join(texts.LANGUAGES))
print(texts.language_names(texts.LANGUAGES))
ENVIRON.set({"HTTP_ACCEPT_LANGUAGE": "ja, it-CH;q=0.8, en;q=0.5"})
print(preferred_language())
print(text("dealt", "it", round=number_word(2, "it")))
known = f'data-languages="{" ".join(texts.LANGUAGES)}"'
print(known in client._index().decode(), "texts/it/views.json" in client._files())
"""

Spoil = Callable[[dict[str, Any]], object]

SPOILT: Final[dict[str, list[tuple[str, Spoil, str]]]] = {
    "in every language": [
        ("reasons", lambda each: each.pop("key_reused"), "reasons.key_reused is used and missing"),
        ("reasons", lambda each: each.update(new="New."), "reasons.new is not used"),
        ("problems", lambda each: each["gone"].pop("title"), "problems.gone.title is used and missing"),
        ("problems", lambda each: each.pop("page_title"), "problems.page_title is used and missing"),
        ("sentences", lambda each: each.pop("drew.tile.you"), "sentences.drew.tile.you is used and missing"),
        ("sentences", lambda each: each.pop("points.one"), "sentences.points.one is used and missing"),
        ("sentences", lambda each: each.update(new="New."), "sentences.new is not used"),
        ("sentences", lambda each: each.update({"drew.twice": "Two."}), "sentences.drew.twice is not used"),
        ("tiles", lambda each: each.pop("doubles"), "tiles.doubles is used and missing"),
        ("options", lambda each: each["teams"].pop("title"), "options.teams.title is used and missing"),
        ("options", lambda each: each.update(colour={"title": "Colour"}), "options.colour.title is not used"),
        (
            "options",
            lambda each: each["opening"]["values"].pop("rotate"),
            "options.opening.values.rotate is used and missing",
        ),
        ("games/fido", lambda each: each.pop("summary"), "games.fido.summary is used and missing"),
        ("games/kozel", lambda each: each["regions"].pop("Козёл"), "games.kozel.regions.Козёл is used and missing"),
        ("page/table", lambda each: each["table"].pop("draw"), "page.table.table.draw is used and missing"),
        ("page/table", lambda each: each["table"].pop("stock"), "page.table.table.stock is used and missing"),
        ("page/table", lambda each: each["table"].update(foo="Foo"), "page.table.table.foo is not used"),
        ("levels", lambda each: each.update(master={"summary": "Wins."}), "levels.master.summary is not used"),
    ],
    "in one language": [
        ("de/reasons", lambda each: each.pop("key_reused"), "de: reasons.key_reused is missing"),
        ("de/reasons", lambda each: each.update(new="Neu."), "de: reasons.new is not in en"),
        ("de/sentences", lambda each: each.update(passed="Ja."), "de: sentences.passed names nothing, not name"),
        ("de/sentences", lambda each: each.update(rematched=""), "de: sentences.rematched is empty"),
        ("de/tiles", lambda each: each["pips"].pop(), "de: tiles.pips is not a list of as many words"),
        (
            "de/page/table",
            lambda each: each["table"]["stock"].pop("other"),
            "de: page.table.table.stock.other is missing",
        ),
        (
            "de/page/table",
            lambda each: each["table"].update(round="Runde"),
            "de: page.table.table.round names nothing, not round",
        ),
        (
            "es/page/table",
            lambda each: each["table"].update(draw="Robar una ficha más del pozo"),
            "es: page.table.table.draw is overlong, 28 characters where English has 4",
        ),
        (
            "es/tiles",
            lambda each: each["pips"].__setitem__(0, "la mitad blanca de una ficha que tiene una mitad blanca"),
            "es: tiles.pips is overlong, 55 characters where English has 9",
        ),
    ],
    "not at all": [
        ("de/page/table", lambda each: each["table"]["stock"].update(few="{count} Steine"), ""),
        ("de/page/table", lambda each: each["table"]["stock"].pop("one"), ""),
        ("es/page/table", lambda each: each["table"].update(draw="Robar una ficha"), ""),
    ],
}
"""Changes of texts, which do not touch each other, each with what is found: files, changes and findings."""


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
    assert {"en", "de", "es"} <= set(LANGUAGES)
    assert len(set(LANGUAGES)) == len(LANGUAGES)


@pytest.mark.parametrize("where", SPOILT)
def test_what_is_missing_unused_or_different_is_found(copied: Path, where: str) -> None:
    for name, change, _ in SPOILT[where]:
        for language in LANGUAGES if where == "in every language" else [""]:
            spoil(copied / language, name, change)
    assert sorted(findings(copied)) == sorted([found for _, _, found in SPOILT[where] if found])


def test_a_key_that_is_written_twice_is_found(copied: Path) -> None:
    path = copied / "de" / "levels.json"
    path.write_text(path.read_text("utf-8").replace("{", '{ "case": "Fall",', 1), "utf-8")
    assert findings(copied) == ["de/levels.json: case is there twice"]


def test_each_game_has_one_rule_page_in_each_language(copied: Path) -> None:
    (copied / "de" / "games" / "fido.md").rename(copied / "de" / "games" / "fifi.md")
    assert findings(copied) == ["de: fido has no rule page", "de: no game has the rule page fifi"]


def test_a_rule_page_that_is_much_longer_than_in_english_is_found(copied: Path) -> None:
    path, english = [copied / language / "games" / "fido.md" for language in ("es", "en")]
    length = len(english.read_text("utf-8"))
    path.write_text("x" * (length * 3 // 2), "utf-8")
    assert findings(copied) == []
    path.write_text("x" * (length * 3 // 2 + 1), "utf-8")
    told = f"es: the rule page fido is overlong, {length * 3 // 2 + 1} characters where English has {length}"
    assert findings(copied) == [told]


def test_each_paragraph_of_a_rule_page_names_the_same_tiles_in_every_language() -> None:
    wrong = [
        f"{language}: {key}, paragraph {number} has {' '.join(named)}, not {' '.join(wanted)}"
        for key in variants()
        for language in LANGUAGES
        for number, (named, wanted) in enumerate(
            zip_longest(tiles(key, language), tiles(key, DEFAULT_LANGUAGE), fillvalue=["no paragraph"]), start=1
        )
        if named != wanted
    ]
    assert not wrong, "\n".join(wrong)


def tiles(key: str, language: Language) -> list[list[str]]:
    """Return the tiles that each paragraph of a rule page names."""
    return [sorted(re.findall(r"\d+-\d+", part)) for part in rule_page(key, language).split("\n\n")]


def test_another_language_is_another_folder_and_no_code(tmp_path: Path) -> None:
    package = Path(shutil.copytree(TEXTS.parent, tmp_path / "service"))
    shutil.copytree(package / "texts" / "de", package / "texts" / "it")
    spoil(package / "texts" / "it", "language", lambda each: each.update(in_english="Italian"))
    assert findings(package / "texts") == []
    languages = [DEFAULT_LANGUAGE, *sorted([*LANGUAGES[1:], "it"])]
    names = ["Italian" if each == "it" else text("language.in_english", each) for each in languages]
    command = [sys.executable, "-c", NEW_LANGUAGE]
    told = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert told.stdout.splitlines() == [
        str(tmp_path / "service" / "texts" / "__init__.py"),
        ", ".join(languages),
        f"{', '.join(names[:-1])} or {names[-1]}",
        "it",
        "Runde zwei ist gegeben.",
        "True True",
    ]
