"""What ``docs/fairness.md`` shows is so: its ten lines deal the published vectors, its example adds up."""

from __future__ import annotations

import hmac
import json
import re
from hashlib import sha256
from itertools import count
from pathlib import Path
from struct import unpack
from typing import Any, Final

import pytest

from tests.vectors.verifiers import VECTORS as FILE

PAGE: Final = (Path(__file__).parents[2] / "docs" / "fairness.md").read_text(encoding="utf-8")
VECTORS: Final[dict[str, Any]] = json.loads(FILE.read_bytes())


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """The functions of the page, in names of their own."""
    names: dict[str, Any] = {"hmac": hmac, "sha256": sha256, "count": count, "unpack": unpack}
    (code,) = blocks("python")
    exec(code, names)
    return names


def test_the_lines_of_the_page_deal_every_published_round(shown: dict[str, Any]) -> None:
    dealt = 0
    for vector in VECTORS["documents"]:
        document = vector["document"]
        for word, published in zip(vector["says"], document["rounds"], strict=False):
            if word != "holds":
                continue
            seed = bytes.fromhex(published["seed"])
            assert shown["commitment"](seed).hex() == published["commitment"]
            if "hands" in published:
                where = (
                    document["game_id"],
                    published["round"],
                    published["client_seeds"],
                    document["set"],
                    published["attempt"],
                )
                order = shown["order"](seed, *where)
                assert order[sum(map(len, published["hands"])) :] == published["stock"]
                for hand in published["hands"]:
                    taken, order = order[: len(hand)], order[len(hand) :]
                    assert sorted(taken, key=lambda tile: [int(half) for half in tile.split("-")]) == hand
                dealt += 1
    assert dealt > 40


def test_the_lines_of_the_page_are_about_ten() -> None:
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith("def")]) <= 13


def test_the_example_of_the_page_is_the_first_document_of_the_vectors(shown: dict[str, Any]) -> None:
    (example,) = [block for block in blocks("text") if block.startswith("seed")]
    lines = re.split(r"\n(?=\w)", example.strip())
    published = {
        name: " ".join(rest.split()) for name, rest in (re.split(r"\s{2,}", line, maxsplit=1) for line in lines)
    }
    document = VECTORS["documents"][0]["document"]
    first = document["rounds"][0]
    assert f"`{document['game_id']}`" in PAGE
    seed, key = bytes.fromhex(first["seed"]), bytes.fromhex(published["shuffle seed"])
    assert (published["seed"], published["commitment"]) == (first["seed"], first["commitment"])

    fields = shown["fields"]("domino-deal-1", document["game_id"], 1, 2, *first["client_seeds"])
    written = re.findall(r"^ *(?:fields +)?((?:[0-9a-f]+ )+) *(?:\"|the|round|2)", lines[2], re.MULTILINE)
    assert bytes.fromhex("".join(written)) == fields
    assert hmac.digest(seed, fields, "sha256") == key
    block = hmac.digest(key, shown["fields"]("domino-shuffle-1", 1, 0, 0), "sha256")
    assert published["block 0"] == block.hex()
    words = unpack(">3I", block[:12])
    numbers = [f"0x{word:08x} mod {n} = {word % n}" for word, n in zip(words, (28, 27, 26), strict=True)]
    assert published["numbers"] == ", ".join([*numbers, "…"])
    assert published["order"].split() == shown["order"](seed, document["game_id"], 1, first["client_seeds"], 6, 0)
    assert [published["seat 0"].split(), published["seat 1"].split()] == first["hands"]
    assert published["stock"].split() == first["stock"]


def test_the_page_names_files_that_are_there() -> None:
    named = set(re.findall(r"docs/(verify/[\w.]+)", PAGE))
    assert named == {"verify/verify.py", "verify/verify.mjs", "verify/vectors.json"}
    assert all((FILE.parents[1] / name).is_file() for name in named)
