"""Anybody can check a deal: the two programs in ``docs/verify`` do it without our code, and agree to the letter."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from service.engine.variants import variants
from tests.vectors.provable import dealt_again, of_variant
from tests.vectors.verifiers import FOLDER, VECTORS, Document, Verifier, in_javascript, in_python, says, write_documents

pytestmark = pytest.mark.gate


@pytest.fixture(params=[in_python, in_javascript], ids=["python", "javascript"])
def verifier(request: pytest.FixtureRequest) -> Verifier:
    found: Verifier = request.param()
    return found


@cache
def generated(key: str) -> tuple[Document, ...]:
    return tuple(of_variant(key, 8))


@cache
def finished() -> tuple[Document, ...]:
    """Matches of every game whose seeds are all revealed."""
    found = [each for key in variants() for each in generated(key) if says(each)[-1] == "holds"]
    return tuple(sorted(found, key=lambda each: len(each["rounds"])))


# The vectors


def test_the_published_vectors_hold(verifier: Verifier) -> None:
    vectors = json.loads(VECTORS.read_bytes())
    kinds = ("commitments", "shuffle_seeds", "orders", "documents")
    assert verifier.run("--vectors", VECTORS) == (
        0,
        "".join(f"{kind}: {len(vectors[kind])} of {len(vectors[kind])} hold\n" for kind in kinds),
        "",
    )


def test_every_vector_that_does_not_hold_is_named(verifier: Verifier, tmp_path: Path) -> None:
    vectors = json.loads(VECTORS.read_bytes())
    for kind in ("commitments", "shuffle_seeds"):
        vectors[kind][-1]["seed"] = "00" * 32
    vectors["orders"][-1]["order"] = " ".join(reversed(vectors["orders"][-1]["order"].split()))
    vectors["documents"][-1]["says"] = ["holds"]
    (tmp_path / "vectors.json").write_text(json.dumps(vectors))
    said = verifier.run("--vectors", "vectors.json", folder=tmp_path)
    assert said.left == 1
    for kind in ("commitments", "shuffle_seeds", "orders", "documents"):
        last = len(vectors[kind]) - 1
        assert f"{kind}: {last} of {last + 1} hold\n  {kind}[{last}] does not\n" in said.out


# Documents of real matches


def test_every_deal_of_generated_matches_holds(verifier: Verifier, tmp_path: Path) -> None:
    documents = [each for key in variants() for each in generated(key)]
    vectors: dict[str, Any] = {kind: [] for kind in ("commitments", "shuffle_seeds", "orders")}
    vectors["documents"] = [{"document": each, "says": says(each)} for each in documents]
    (tmp_path / "generated.json").write_text(json.dumps(vectors))
    said = verifier.run("--vectors", "generated.json", folder=tmp_path)
    assert (said.left, said.out.splitlines()[-1]) == (0, f"documents: {len(documents)} of {len(documents)} hold")


def test_the_generated_matches_have_later_rounds_seats_that_are_out_and_both_kinds_of_end() -> None:
    documents = [each for key in variants() for each in generated(key)]
    rounds = [entry for each in documents for entry in each["rounds"]]
    assert max(len(each["rounds"]) for each in documents) > 5
    assert any([] in entry.get("hands", ()) for entry in rounds)
    assert {word for each in documents for word in says(each)[-1:]} == {"holds", "open"}
    assert {each["set"] for each in documents} >= {6, 9, 12}


def test_a_deal_that_was_dealt_again_holds(verifier: Verifier, tmp_path: Path) -> None:
    documents = dealt_again()
    assert {entry.get("attempt") for each in documents for entry in each["rounds"]} >= {0, 1, 2}
    said = verifier.run(*write_documents(tmp_path, documents), folder=tmp_path)
    assert said.left == 0
    assert said.wrong == [[]] * len(documents)


def test_nobody_deals_again_while_somebody_holds_a_double() -> None:
    """What the programs take for granted of every game there is (rules 3.3, 5.3)."""
    for key in variants():
        variant = variants()[key]
        for seats in {variant.players.low, max(variant.players.low, min(variant.players.high, 4))}:
            rules = variant.rules({}, seats)
            doubles = [tile for tile in rules.tiles if tile.double]
            for tile in doubles:
                start = rules.start()
                others = [each for each in rules.tiles if not each.double]
                hands = ((tile,), *[(others[seat],) for seat in range(1, seats)])
                assert rules.opening(start._replace(round=1, hands=hands)) is not None


def test_what_is_printed_of_a_good_document(verifier: Verifier) -> None:
    document = json.loads(VECTORS.read_bytes())["documents"][0]["document"]
    said = verifier.run(given=json.dumps(document).encode())
    first, second = [each["commitment"] for each in document["rounds"]]
    assert said.left == 0
    assert said.out.splitlines() == [
        f'game "{document["game_id"]}", 2 seats, set up to double-6',
        "round 1: holds: the seed fits the commitment, and the deal follows from the seed",
        f"  commitment {first}",
        f"  client seeds {' '.join(map(json.dumps, document['rounds'][0]['client_seeds']))}",
        "round 2: open: the seed is not revealed yet",
        f"  commitment {second}",
        "1 hold, 1 open, 0 wrong",
    ]


def test_a_game_none_of_whose_seeds_is_told_is_no_success(verifier: Verifier) -> None:
    document = generated("domino")[0]
    assert says(document) == ["open"]
    said = verifier.run("-", given=json.dumps(document).encode())
    assert (said.left, said.out.splitlines()[-1]) == (2, "0 hold, 1 open, 0 wrong")


def test_what_a_seat_wrote_cannot_command_the_terminal(verifier: Verifier) -> None:
    document = deepcopy(generated("domino")[1])
    document["rounds"][0]["client_seeds"][0] = '\x1b[2J"\u202e\x7f\u2028🁣'
    said = verifier.run(given=json.dumps(document).encode())
    assert '  client seeds "\\u001b[2J\\"\\u202e\\u007f\\u2028\\ud83c\\udc63"' in said.out


# Tampering

Round = dict[str, Any]
Tamper = Callable[[Document, Round], object]


def exchange(a: list[Any], i: int, b: list[Any], j: int) -> None:
    a[i], b[j] = b[j], a[i]


def holders(entry: Round) -> list[list[str]]:
    return [hand for hand in entry["hands"] if hand]


def exchange_hands(entry: Round) -> None:
    """Exchange two hands with tiles: whose hand is empty, a deal cannot tell."""
    first, second, *_ = [seat for seat, hand in enumerate(entry["hands"]) if hand]
    exchange(entry["hands"], first, entry["hands"], second)


def other_digit(text: str) -> str:
    return ("1" if text[0] == "0" else "0") + text[1:]


def move_boundary(entry: Round) -> None:
    first, second, *rest = entry["client_seeds"]
    entry["client_seeds"] = [(first + second)[:-1], (first + second)[-1:], *rest]
    if entry["client_seeds"][:2] == [first, second]:
        entry["client_seeds"][:2] = [first + second, ""]


TAMPERS: Final[dict[str, Tamper]] = {
    "a tile of each of two hands": lambda _, entry: exchange(holders(entry)[0], 0, holders(entry)[1], 0),
    "two hands": lambda _, entry: exchange_hands(entry),
    "a hand in another order": lambda _, entry: holders(entry)[0].reverse(),
    "a tile fewer in a hand": lambda _, entry: holders(entry)[0].pop(),
    "a tile more in the stock": lambda _, entry: entry["stock"].append("0-0"),
    "a tile of another hand": lambda _, entry: holders(entry)[0].__setitem__(0, holders(entry)[1][0]),
    "the seed": lambda _, entry: entry.update(seed=other_digit(entry["seed"])),
    "the commitment": lambda _, entry: entry.update(commitment=other_digit(entry["commitment"])),
    "a client seed": lambda _, entry: entry["client_seeds"].__setitem__(-1, entry["client_seeds"][-1] + "x"),
    "the first client seed": lambda _, entry: entry["client_seeds"].__setitem__(0, "another"),
    "where a client seed ends": lambda _, entry: move_boundary(entry) if any(entry["client_seeds"][:2]) else None,
    "a client seed fewer": lambda _, entry: entry["client_seeds"].pop(),
    "no client seeds": lambda _, entry: entry.pop("client_seeds"),
    "another attempt": lambda _, entry: entry.update(attempt=entry["attempt"] + 1),
    "no attempt": lambda _, entry: entry.pop("attempt"),
    "no seed": lambda _, entry: entry.pop("seed"),
    "no hands": lambda _, entry: entry.pop("hands"),
    "no stock": lambda _, entry: entry.pop("stock"),
    "another round": lambda _, entry: entry.update(round=entry["round"] + 1),
    "a seat fewer": lambda _, entry: entry["hands"].pop(),
}


class Tampered(NamedTuple):
    """A document, with what was changed and the numbers of the rounds in which it was."""

    what: str
    document: Document
    rounds: list[int]


def tampered_with(what: str, count: int) -> list[Tampered]:
    """Return so many documents, without those that this leaves as they are."""
    rng, found = Random(what), []
    for document in rng.sample(finished(), min(count, len(finished()))):
        changed = deepcopy(document)
        TAMPERS[what](changed, rng.choice(changed["rounds"][:-1]))
        if changed != document:
            rounds = [number for number, each in enumerate(document["rounds"], 1) if each not in changed["rounds"]]
            found.append(Tampered(what, changed, rounds))
    assert len(found) > count // 3
    return found


def test_what_was_tampered_with_is_found_and_its_round_named(tmp_path: Path) -> None:
    tampered = [each for what in TAMPERS for each in tampered_with(what, 12)]
    names = write_documents(tmp_path, [each.document for each in tampered])
    found = in_python().run(*names, folder=tmp_path)
    assert (found.left, found.problems) == (1, "")
    assert [each.what for each, rounds in zip(tampered, found.wrong, strict=True) if rounds != each.rounds] == []
    assert in_javascript().run(*names, folder=tmp_path) == found


def test_no_value_of_a_round_can_be_changed_without_notice(tmp_path: Path) -> None:
    """Every tile, number and text there is in a whole match, one after the other."""
    document = next(each for each in finished() if len(each["rounds"]) > 4 and each["set"] == 6)
    changed = [each for key in ("game_id", "seats", "set", "rounds") for each in altered(document, key)]
    assert len(changed) > 100
    names = write_documents(tmp_path, changed)
    found = in_python().run(*names, folder=tmp_path)
    unread = found.problems.splitlines()
    assert found.left == 1
    assert all(found.wrong)
    assert len(found.wrong) + len(unread) == len(changed)
    assert in_javascript().run(*names, folder=tmp_path) == found


def altered(document: Document, key: str) -> Iterator[Document]:
    """The document with one of the values under ``key`` changed a little."""
    for path in paths(document[key]):
        copy = deepcopy(document)
        *way, last = key, *path
        inner: Any = copy
        for place in way:
            inner = inner[place]
        value = inner[last]
        inner[last] = value + 1 if isinstance(value, int) else other_digit(value) if value else "x"
        yield copy


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The way to every value in here that holds no others."""
    if not isinstance(value, (dict, list)):
        yield ()
        return
    for place, inner in value.items() if isinstance(value, dict) else enumerate(value):
        for path in paths(inner):
            yield (place, *path)


# What is no fairness document

UNREADABLE: Final[dict[str, tuple[bytes, str]]] = {
    "nothing": (b"", "this is not JSON"),
    "no JSON": (b"{", "this is not JSON"),
    "a number that is none": (b'{"provable": false, "seats": NaN}', "this is not JSON"),
    "not UTF-8": (b'"\xff"', "this is not JSON"),
    "a mark at the beginning": (b"\xef\xbb\xbf{}", "this is not JSON"),
    "a list": (b"[]", "this is not a fairness document"),
    "a null": (b"null", "this is not a fairness document"),
    "a problem": (b'{"status": 404, "code": "not_found"}', "this is not a fairness document"),
    "an arranged game": (
        b'{"provable": false, "rounds": []}',
        "there is nothing to check: the deals of this game were arranged, or not committed to",
    ),
    "another method": (
        b'{"provable": true, "method": "domino-deal-2"}',
        "this program knows the method domino-deal-1 only",
    ),
}


def test_what_is_no_fairness_document_is_told_in_a_line(verifier: Verifier, tmp_path: Path) -> None:
    for what, (given, _) in UNREADABLE.items():
        (tmp_path / what).write_bytes(given)
    told = "".join([f"{what}: {problem}\n" for what, (_, problem) in UNREADABLE.items()])
    assert verifier.run(*UNREADABLE, folder=tmp_path) == (2, "", told)


def test_a_value_that_has_not_its_form_is_told_in_a_line(tmp_path: Path) -> None:
    document = finished()[0]
    first, *others = document["rounds"]
    changed = []
    values: list[Any] = [None, True, -1, 1.5, 2**80, "x", "\ud83c", [], [None], [[1]], {}, [{}]]
    for value in values:
        changed += [document | {key: value} for key in ("provable", "method", "game_id", "seats", "set", "rounds")]
        changed += [document | {"rounds": [first | {key: value}, *others]} for key in first]
    names = write_documents(tmp_path, [each for each in changed if each != document])
    found = in_python().run(*names, folder=tmp_path)
    assert "Traceback" not in found.problems
    assert len(found.problems.splitlines()) + len(found.wrong) == len(names)
    assert all(found.wrong)
    assert in_javascript().run(*names, folder=tmp_path) == found


def test_a_whole_number_is_one_however_it_is_written(verifier: Verifier) -> None:
    document = finished()[0]
    text = json.dumps(document)
    otherwise = re.sub(r'("(?:round|attempt|seats)": \d+)', r"\1.0", text)
    assert otherwise != text
    said = verifier.run(given=otherwise.encode())
    assert said.left == 0
    assert said == verifier.run(given=text.encode())


def test_what_is_nested_too_deep_is_told_in_a_line(verifier: Verifier) -> None:
    said = verifier.run(given=b"[" * 200_000 + b"]" * 200_000)
    assert (said.left, said.out) == (2, "")
    assert re.fullmatch(r"-: this is not (JSON|a fairness document)\n", said.problems)


def test_a_file_that_is_not_there_is_told_in_a_line(verifier: Verifier, tmp_path: Path) -> None:
    assert verifier.run("away.json", folder=tmp_path) == (2, "", "away.json: this file cannot be read\n")
    assert verifier.run(".", folder=tmp_path) == (2, "", ".: this file cannot be read\n")


def test_other_arguments_are_answered_with_the_usage(verifier: Verifier) -> None:
    for arguments in (["--help"], ["-x"], ["--vectors"], ["--vectors", "a", "b"]):
        said = verifier.run(*arguments)
        assert (said.left, said.out) == (2, ""), arguments
        assert re.fullmatch(r"usage: verify.*\n", said.problems), arguments


def test_a_file_that_has_no_vectors_is_told_in_a_line(verifier: Verifier, tmp_path: Path) -> None:
    for text in ("[]", "{}", '{"commitments": 1}', '{"commitments": [1]}'):
        (tmp_path / "vectors.json").write_text(text)
        said = verifier.run("--vectors", "vectors.json", folder=tmp_path)
        assert said == (2, "", "vectors.json: this is not a file of vectors\n"), text


def test_a_wrong_file_among_good_ones_is_left_as_wrong(verifier: Verifier, tmp_path: Path) -> None:
    good = finished()[0]
    wrong = deepcopy(good)
    wrong["rounds"][0]["stock"].append("0-0")
    assert verifier.run(*write_documents(tmp_path, [good, wrong]), "away", folder=tmp_path).left == 1
    assert verifier.run(*write_documents(tmp_path, [good, good]), "away", folder=tmp_path).left == 2
    assert verifier.run(*write_documents(tmp_path, [good, good]), folder=tmp_path).left == 0


# What they are made of


def test_the_python_program_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse((FOLDER / "verify.py").read_text(encoding="utf-8"))
    imported = {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_the_javascript_program_imports_nothing_but_what_node_brings() -> None:
    text = (FOLDER / "verify.mjs").read_text(encoding="utf-8")
    assert set(re.findall(r'\bfrom "(.*?)"', text)) == {"node:crypto", "node:fs"}
    assert "import(" not in text
    assert "require(" not in text
