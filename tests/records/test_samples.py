"""The sample records are those of their names, and a reader takes them as an editor may have left them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from service.engine.variants import variants
from service.library import read_record, verify
from service.records.writer import FILE_SUFFIX, format_record
from tests.records.test_parsing import AS_AN_EDITOR_LEAVES_IT
from tests.support.waiting import PATIENCE
from tools.sample_records import FOLDER, samples, text_of

ROOT = Path(__file__).parents[2]
FILES = sorted(FOLDER.glob(f"*{FILE_SUFFIX}"))


def test_there_is_a_sample_of_each_game_and_the_page_names_all() -> None:
    assert {each.stem for each in FILES} == set(samples())
    assert {read_record(each.read_bytes()).variant for each in FILES} == set(variants())
    page = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"`{each.name}`" in page for each in FILES)


@pytest.mark.parametrize("name", samples())
def test_a_sample_is_written_again_as_it_is(name: str) -> None:
    assert (FOLDER / f"{name}{FILE_SUFFIX}").read_text("utf-8") == text_of(name, samples()[name])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_is_verified(path: Path) -> None:
    record = read_record(path.read_bytes())
    report = verify(record)
    assert report.verified
    assert record.result is not None
    assert report.decisions > 0 or not record.bots
    assert report.proven == (0 if path.stem == "domino-arranged" else report.deals)


@pytest.mark.gate
@pytest.mark.parametrize("change", AS_AN_EDITOR_LEAVES_IT.values(), ids=AS_AN_EDITOR_LEAVES_IT)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_survives_an_editor(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text("utf-8")
    assert format_record(read_record(change(text).encode())) == text


def test_the_command_verifies_a_file_that_an_editor_has_left(tmp_path: Path) -> None:
    edited = tmp_path / "match.domino"
    edited.write_bytes(b"\xef\xbb\xbf" + (FOLDER / "fido.domino").read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    command = [sys.executable, "-m", "service", "verify", str(edited)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
