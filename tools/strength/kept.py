"""What was measured in any run: outcomes in one file for each name, a line for each.

Does not depend on what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import orjson

T = TypeVar("T", bound="tuple[Any, ...]")


DIGITS: Final = 5
"""After the point, of a figure, so that the pages are the same from the file."""


def read_lines(path: Path) -> list[Any]:
    """Return the values in the lines of a file; none without one."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write the file, a value on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join([orjson.dumps(value) + b"\n" for value in values]))


class KeptOutcomes(Generic[T]):
    """The outcomes in a folder; ``form`` makes one of the values in a line."""

    def __init__(self, folder: Path, form: Callable[..., T]) -> None:
        self._folder = folder
        self._form: Callable[..., T] = form
        self._outcomes: dict[str, list[T]] = {}

    def named(self, name: str) -> list[T]:
        """Return what was measured under this name, which may have folders before it."""
        if name not in self._outcomes:
            self._outcomes[name] = [self._form(*values) for values in read_lines(self._path(name))]
        return self._outcomes[name]

    def keep(self, name: str, outcomes: Sequence[T]) -> None:
        """Keep these too."""
        self.named(name).extend(outcomes)
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b"".join([orjson.dumps(list(outcome)) + b"\n" for outcome in outcomes]))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"
