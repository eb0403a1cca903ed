"""Checks the texts of ``service/texts``: ``python -m tools.check_texts`` prints what is wrong, one finding a line.

Every language has the same keys, lists of the same lengths, the same values in each text, and the same rule pages; no
text is much longer than in English, no key is written twice, none that the code names is missing, and none is there
that no code names. The exit status is 1 if anything is found.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final

from service.engine.variants import variants
from service.games.model.seats import LEVELS
from service.reasons import REASONS
from service.texts import DEFAULT_LANGUAGE, Text, languages_in, read_texts
from service.web.problems.answers import PROBLEMS

ROOT: Final = Path(__file__).parents[1]
TEXTS: Final = ROOT / "service" / "texts"
CLIENT: Final = ROOT / "service" / "client"

Texts = Mapping[str, Text]
"""The texts and lists of a language, by their keys."""

_ONLY_IN_ENGLISH: Final = {"message"}
"""Values that are themselves in English, so that other languages may leave them out."""
_FORMS: Final = (".one", ".other", ".=0")
"""The forms of a text that depends on a number."""
_NUMBERS: Final = {"number", "count"}
"""Values that a form of such a text may leave out."""
_KEY_OF_CALL: Final = {
    **dict.fromkeys(("text", "template", "words", "has_text", "plural"), 0),
    "about": 1,
    "in_person": 2,
}
"""The position of the key in the calls that name one."""
_OTHER_PERSON: Final = ("about", "in_person")
"""Calls whose key also stands for the text in the second person."""
_OPTIONAL_FORMS: Final = (".zero", ".one", ".two", ".few", ".many", ".=0")
"""The forms of a text of the page, beside ``.other``, of which each language has those that it needs."""
_OF_TABLES: Final = ("reasons.", "problems.", "games.", "options.", "levels.")
"""The beginnings of keys that the code makes from tables, each of whose rows is known here."""
_PAGE: Final = "page."
_LONGER: Final = 1.5
"""How many times as long as in English a text may be in another language, and how many characters more then."""
_MORE: Final = 40
_MORE_IN_LABEL: Final = 20
_LABELS: Final = (".title", ".name")
"""The ends of the keys of labels, for which there is little room, beside those of the page."""
_MODULE: Final = "service.texts"
_SENTENCES: Final = "service.render.sentences.texts"
"""The module by which others name the keys of sentences, without their first part."""


def main() -> int:
    """Check the texts; returns the exit status."""
    found = findings(TEXTS)
    sys.stderr.write("".join([f"{each}\n" for each in found]))
    return 1 if found else 0


def findings(folder: Path) -> list[str]:
    """Return what is wrong with the texts in this folder, which has a folder for each language."""
    languages = {each: dict(read_texts(folder / each)) for each in languages_in(folder)}
    english = languages[DEFAULT_LANGUAGE]
    found = [*_written_twice(folder), *_usage_findings(english), *_page_findings(folder)]
    for language, texts in languages.items():
        if language != DEFAULT_LANGUAGE:
            found += [f"{language}: {each}" for each in _differences(english, texts)]
    return found


def _written_twice(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.json")):
        twice: list[str] = []

        def keep(pairs: list[tuple[str, Any]], twice: list[str] = twice) -> dict[str, Any]:
            names = [name for name, _ in pairs]
            twice += sorted({name for name in names if names.count(name) > 1})
            return dict(pairs)

        json.loads(path.read_text("utf-8"), object_pairs_hook=keep)
        yield from [f"{path.relative_to(folder)}: {name} is there twice" for name in twice]


def _page_findings(folder: Path) -> Iterator[str]:
    for language in languages_in(folder):
        pages = {path.stem for path in (folder / language / "games").glob("*.md")}
        yield from [f"{language}: {key} has no rule page" for key in sorted(variants().keys() - pages)]
        yield from [f"{language}: no game has the rule page {key}" for key in sorted(pages - variants().keys())]
        for key in sorted(pages & variants().keys()):
            english, other = [_rule_page_length(folder, each, key) for each in (DEFAULT_LANGUAGE, language)]
            if other > _LONGER * english:
                yield f"{language}: the rule page {key} is overlong, {other} characters where English has {english}"


def _rule_page_length(folder: Path, language: str, key: str) -> int:
    return len((folder / language / "games" / f"{key}.md").read_text("utf-8"))


def _differences(english: Texts, other: Texts) -> Iterator[str]:
    yield from [f"{key} is missing" for key in english if key not in other and not _is_own_form(key, english)]
    yield from [
        f"{key} is not in {DEFAULT_LANGUAGE}" for key in other if key not in english and not _is_own_form(key, english)
    ]
    for key, value in other.items():
        expected = english.get(key)
        if expected is None:
            continue
        if type(value) is not type(expected) or (isinstance(value, tuple) and len(value) != len(expected)):
            yield f"{key} is not a list of as many words"
        elif not value or not all(value):
            yield f"{key} is empty"
        elif not _same_values(key, _values(value), _values(expected)):
            yield f"{key} names {_listed(_values(value))}, not {_listed(_values(expected))}"
        elif _length(value) > _LONGER * _length(expected) + _more(key):
            yield f"{key} is overlong, {_length(value)} characters where English has {_length(expected)}"


def _is_own_form(key: str, english: Texts) -> bool:
    """Return whether it is a form of a text of the page that not every language has."""
    stem, _, _ = key.rpartition(".")
    return key.startswith(_PAGE) and key.endswith(_OPTIONAL_FORMS) and f"{stem}.other" in english


def _same_values(key: str, values: set[str], expected: set[str]) -> bool:
    optional = _ONLY_IN_ENGLISH | (_NUMBERS if key.endswith(_FORMS) else set())
    return values - optional == expected - optional


def _values(value: Text) -> set[str]:
    texts = [value] if isinstance(value, str) else value
    return {name for each in texts for _, name, _, _ in Formatter().parse(each) if name is not None}


def _more(key: str) -> int:
    return _MORE_IN_LABEL if key.startswith(_PAGE) or key.endswith(_LABELS) else _MORE


def _length(value: Text) -> int:
    """Return the characters of the longest text, without its values."""
    texts = [value] if isinstance(value, str) else value
    return max([sum([len(literal) for literal, _, _, _ in Formatter().parse(each)]) for each in texts])


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(values)) or "nothing"


# ── Which keys are used ──────────────────────────────────────────────────────────────────────────────────────────────


def _usage_findings(texts: Texts) -> Iterator[str]:
    sources = _sources()
    page_keys, page_patterns = _keys_of_page(texts)
    named = {*_keys_of_tables(texts), *page_keys}.union(*[source.keys for source in sources])
    literals = set().union(*[source.literals for source in sources])
    key_patterns = [*page_patterns, *[pattern for source in sources for pattern in source.key_patterns]]
    patterns = key_patterns + [pattern for source in sources for pattern in source.patterns]
    yield from [f"{key} is used and missing" for key in sorted(named - texts.keys())]
    for pattern in key_patterns:
        if not any(pattern.fullmatch(key) for key in texts):
            yield f"{pattern.pattern} is used and missing"
    for key in texts:
        made = not key.startswith(_OF_TABLES) and any(each.fullmatch(key) for each in patterns)
        if key not in named and key not in literals and not made:
            yield f"{key} is not used"


@cache
def _sources() -> tuple[_Source, ...]:
    """Return the modules of the service that name keys."""
    modules = {path: path.read_text("utf-8") for path in sorted((ROOT / "service").rglob("*.py"))}
    # That module is given all its keys.
    del modules[ROOT.joinpath(*_SENTENCES.split(".")).with_suffix(".py")]
    return tuple([_Source(source) for source in modules.values() if _MODULE in source or _SENTENCES in source])


def _keys_of_tables(texts: Texts) -> Iterator[str]:
    """Yield the keys that follow from tables of the code: of reasons, problems, games, their options and levels."""
    yield from [f"reasons.{word}" for word in REASONS]
    for code, problem in PROBLEMS.items():
        yield f"problems.{code}.title"
        if problem.only_reason is None:
            yield f"problems.{code}.description"
    for level in LEVELS:
        yield from [f"levels.{level}.{part}" for part in ("name", "summary", "strength")]
    for variant in variants().values():
        own = f"games.{variant.key}"
        yield from (f"{own}.name", f"{own}.summary", f"{own}.scoring")
        yield from [f"{own}.regions.{alias.name}" for alias in variant.aliases]
        yield from [f"{own}.words.{word}" for word in variant.words]
        for option in variant.options:
            for part in ("title", "description"):
                yield _own_or_shared(texts, own, f"{option.key}.{part}")
            titles = [_own_or_shared(texts, own, f"{option.key}.values.{value}") for value in option.values]
            # Of values that are words; of numbers, where one has a title.
            if any(isinstance(value, str) for value in option.values) or any(key in texts for key in titles):
                yield from titles


def _own_or_shared(texts: Texts, game: str, key: str) -> str:
    """Return the key of a text on a house rule: that of the game, else the one that several share."""
    own = f"{game}.options.{key}"
    return own if own in texts else f"options.{key}"


def _keys_of_page(texts: Texts) -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the keys that the modules of the page name, and those that they make of an area and a name.

    A key with forms stands for all of them. What is missing is found by the compiler, too.
    """
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for key in texts:
        if key.startswith(_PAGE):
            forms[".".join(key.split(".")[:4])].add(key)
    stems = {tuple(key.split(".")[1:3]) for key in forms}
    file_of = {area: f"{_PAGE}{file}.{area}." for file, area in stems}
    areas = "|".join(sorted(file_of))
    modules = [path for path in CLIENT.rglob("*.js") if "vendor" not in path.parts]
    sources = [path.read_text("utf-8") for path in sorted(modules)]
    keys = set()
    for area, name in {each for source in sources for each in re.findall(rf'"({areas})\.(\w+)"', source)}:
        key = f"{file_of[area]}{name}"
        keys |= forms.get(key, {key})
    made = {area for source in sources for area in re.findall(rf"`({areas})\.\$", source)}
    return keys, [re.compile(re.escape(file_of[area]) + ".+") for area in sorted(made)]


class _Source:
    """What a module says about keys: those that it names in calls, and what else may be one."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        self._whole = {name.name for node in imports if node.module == _MODULE for name in node.names}
        """What it calls with whole keys."""
        self._prefix = "sentences." if any(node.module == _SENTENCES for node in imports) else ""
        self.keys: set[str] = set()
        self.literals: set[str] = set()
        self.key_patterns: list[re.Pattern[str]] = []
        self.patterns: list[re.Pattern[str]] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.literals |= {node.value, f"{self._prefix}{node.value}"}
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                self.patterns.append(_pattern(node, self._prefix))

    def _call(self, call: ast.Call) -> None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        at = _KEY_OF_CALL.get(name)
        if at is None or at >= len(call.args):
            return
        is_whole = isinstance(call.func, ast.Attribute) or name in self._whole
        argument = call.args[at]
        for each in [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                key = each.value if is_whole else f"{self._prefix}{each.value}"
                self.keys |= {f"{key}.one", f"{key}.other"} if name == "plural" else {key}
                self.keys |= {f"{key}.you"} if name in _OTHER_PERSON else set()
            elif isinstance(each, ast.JoinedStr) and isinstance(each.values[0], ast.Constant):
                suffixes = ("", r"\.you") if name in _OTHER_PERSON else ("",)
                self.key_patterns += [_pattern(each, "" if is_whole else self._prefix, end) for end in suffixes]


def _pattern(text: ast.JoinedStr, prefix: str, suffix: str = "") -> re.Pattern[str]:
    """Return the keys that this f-string may make."""
    parts = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\w-]+" for part in text.values]
    return re.compile(re.escape(prefix) + "".join(parts) + suffix)


if __name__ == "__main__":
    sys.exit(main())
