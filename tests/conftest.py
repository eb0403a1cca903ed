"""What all tests share: files that record how things are, compared or written anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write perft files and recorded matches anew")


@pytest.fixture
def rewriting(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture
def same_as_file(rewriting: bool) -> Callable[[Path, str], None]:
    """Compare a text with a file line by line; with ``--rewrite`` make the file say so."""

    def compare(path: Path, text: str) -> None:
        if rewriting:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing; pytest --rewrite writes it"
        assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()

    return compare
