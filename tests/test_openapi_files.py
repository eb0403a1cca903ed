"""The committed OpenAPI document is what ``make openapi`` writes, in each of its files."""

from __future__ import annotations

from tools.openapi.files import ROOT, build_files


def test_the_files_of_the_document_are_up_to_date() -> None:
    outdated = [str(path.relative_to(ROOT)) for path, content in build_files().items() if path.read_bytes() != content]
    assert not outdated, "run make openapi"
