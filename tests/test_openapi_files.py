"""The committed OpenAPI document is what ``make openapi`` writes, in each of its files, and from every operation."""

from __future__ import annotations

from service.web.openapi.operations import operation_of
from tools.openapi.example_app import example_app
from tools.openapi.examples import record_examples
from tools.openapi.files import ROOT, build_files

NOT_RECORDED = {"getEventReader"}
"""A file of the page: it has no example."""


def test_the_files_of_the_document_are_up_to_date() -> None:
    outdated = [str(path.relative_to(ROOT)) for path, content in build_files().items() if path.read_bytes() != content]
    assert not outdated, "run make openapi"


def test_every_other_operation_succeeds_in_the_recorded_session() -> None:
    with example_app() as (app, advance_clock):
        recorded = record_examples(app, advance_clock).operations
        described = [operation_of(view) for view in app.view_functions.values()]
    succeeded = {operation for operation, status, _ in recorded if status < 300}
    assert {each.id for each in described if each is not None} == succeeded | NOT_RECORDED
    assert not succeeded & NOT_RECORDED
