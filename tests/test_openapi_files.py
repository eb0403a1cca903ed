"""The OpenAPI document has every operation, and says with shared parts what it says without; people can read it.

That it is what ``make openapi`` writes, in each of its files, is a part of ``make check``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import yaml

from tools.openapi.document import document
from tools.openapi.example_app import example_app
from tools.openapi.examples import record_examples
from tools.openapi.files import DOCUMENT
from tools.openapi.layout import resolve, to_yaml
from tools.openapi.operations import operation_of
from tools.openapi.session import Examples

pytestmark = pytest.mark.gate


class Built(NamedTuple):
    """The examples, the ids of all operations, and the document in which nothing is shared."""

    examples: Examples
    operations: set[str]
    unshared: dict[str, Any]


@pytest.fixture(scope="module")
def built() -> Iterator[Built]:
    with example_app() as example:
        examples = record_examples(*example)
        described = [operation_of(view) for view in example.app.view_functions.values()]
        yield Built(examples, {each.id for each in described if each is not None}, document(example.app, examples))


def test_every_operation_succeeds_in_the_recorded_session(built: Built) -> None:
    assert built.operations == {operation for operation, status, _ in built.examples.operations if status < 300}


def test_what_is_shared_says_the_same_as_if_it_were_not(built: Built) -> None:
    committed = read(DOCUMENT.read_text())
    assert {"headers", "parameters", "responses", "examples"} <= committed["components"].keys()
    assert resolve(committed) == resolve(read(to_yaml(built.unshared)))


def read(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)
