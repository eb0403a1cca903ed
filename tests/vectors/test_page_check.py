"""The page checks deals in the browser, where only https brings cryptography: its own agrees with Python's."""

from __future__ import annotations

import hmac
import json
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

import service.client
from tests.support.waiting import PATIENCE
from tests.vectors.provable import dealt_again
from tests.vectors.test_verifiers import TAMPERS, finished, tampered_with
from tests.vectors.verifiers import VECTORS, Document, node_or_skip, says

PROGRAM = Path(__file__).with_name("page_check.mjs")
CHECKS = Path(service.client.__file__).parent / "checks"

Pairs = list[tuple[bytes, bytes]]


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that says that its files are modules, as a browser is told by the page."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("sha256.js", "fairness.js"):
        shutil.copy(CHECKS / name, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def check(modules: Path, vectors: Path = VECTORS, pairs: Pairs | None = None) -> dict[str, Any]:
    given = json.dumps([[key.hex(), text.hex()] for key, text in pairs or []])
    command = [node_or_skip(), str(PROGRAM), str(modules), str(vectors)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check_documents(modules: Path, folder: Path, documents: list[Document]) -> list[list[dict[str, Any]]]:
    path = folder / "documents.json"
    vectors = {"commitments": [], "shuffle_seeds": [], "orders": [], "documents": [{"document": d} for d in documents]}
    path.write_text(json.dumps(vectors))
    found: list[list[dict[str, Any]]] = check(modules, path)["documents"]
    return found


def test_digests_and_codes_of_every_length_around_a_block_are_those_of_python(modules: Path) -> None:
    rng = Random("digests")
    pairs = [(rng.randbytes(length % 131), rng.randbytes(length)) for length in [*range(200), 1000, 70_001]]
    found = check(modules, pairs=pairs)
    assert found["digests"] == [sha256(text).hexdigest() for _, text in pairs]
    assert found["codes"] == [hmac.new(key, text, "sha256").hexdigest() for key, text in pairs]


def test_the_published_vectors_hold_in_the_page(modules: Path) -> None:
    vectors = json.loads(VECTORS.read_bytes())
    found = check(modules)
    assert found["commitments"] == [each["commitment"] for each in vectors["commitments"]]
    assert found["shuffle_seeds"] == [each["shuffle_seed"] for each in vectors["shuffle_seeds"]]
    assert found["orders"] == [each["order"] for each in vectors["orders"]]
    said = [[finding["verdict"] for finding in each] for each in found["documents"]]
    assert said == [each["says"] for each in vectors["documents"]]


@pytest.mark.gate
def test_every_deal_of_generated_matches_holds_in_the_page(modules: Path, tmp_path: Path) -> None:
    documents = [*finished(), *dealt_again()]
    found = check_documents(modules, tmp_path, documents)
    assert [[finding["verdict"] for finding in each] for each in found] == [says(each) for each in documents]


@pytest.mark.gate
def test_the_page_finds_what_was_tampered_with_and_names_its_round(modules: Path, tmp_path: Path) -> None:
    tampered = [each for what in TAMPERS for each in tampered_with(what, 10)]
    found = check_documents(modules, tmp_path, [each.document for each in tampered])
    wrong = [[index for index, each in enumerate(said, 1) if each["verdict"] == "wrong"] for said in found]
    assert [each.what for each, rounds in zip(tampered, wrong, strict=True) if rounds != each.rounds] == []


def test_what_is_no_fairness_document_is_not_judged_in_the_page(modules: Path, tmp_path: Path) -> None:
    given: list[Any] = [None, [], {}, "x", {"provable": False}, {"provable": True, "method": "another"}]
    assert check_documents(modules, tmp_path, given) == [[]] * len(given)
