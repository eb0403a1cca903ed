"""A record and events in their several media types; JSON for whoever wants it is in ``test_bad_requests``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, status_and_code


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/plain", "text/plain"),
        ("text/*", "text/plain"),
        ("text/plain, */*;q=0.9", "text/plain"),
        ("text/plain;q=0.9, application/json;q=0.8", "text/plain"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("text/plain;q=0.8, application/json;q=0.9", "application/json"),
        ("text/plain;q=0.8, */*", "application/json"),
        ("text/plain, */*", "application/json"),
        ("*/*, text/plain;q=0", "application/json"),
        ("*/*, application/json;q=0", "text/plain"),
        ("application/json;q=0.0, text/*;q=0.001", "text/plain"),
        ("text/plain, application/json", "application/json"),
        # Loosely written: what older Java sends, weights that are no numbers, entries that are no types.
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/json"),
        *[(accept, "application/json") for accept in ("*", ",,", "json", "video/mp4;q=0,8", "text/html, plain;q=")],
        ("text/plain; q=.9, application/json; Q = .8", "text/plain"),
        ("text/plain;q=x, application/json;q=0.5", "text/plain"),
        ('application/json;q=".5", text/plain;q=2', "text/plain"),
    ],
)
def test_a_record_is_text_only_where_text_has_a_higher_weight(accept: str, kind: str, api: Api) -> None:
    table = api.create("domino", 2)
    assert api.get(f"{table.path}/record", headers={"Accept": accept}).mimetype == kind


@pytest.mark.parametrize("accept", ["text/event-stream, */*", "application/x-ndjson, application/json"])
def test_events_are_a_stream_only_where_a_stream_has_a_higher_weight(accept: str, api: Api) -> None:
    table = api.create("domino", 2)
    assert api.get(f"{table.path}/events", headers={"Accept": accept}).mimetype == "application/json"


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        *[(accept, "de") for accept in ("de;q=.9, en;q=.8", "ja, de_AT;q=x", "DE", "en;q=0, de;q=.1", "de;q=1.5, en")],
        *[(accept, "en") for accept in ("*;q=.1", "de;q=.0", ",", "de;q=.8, en;q=.9")],
    ],
)
def test_a_loosely_written_language_is_understood(accept: str, language: str, api: Api) -> None:
    assert api.get("/problems", headers={"Accept-Language": accept}).headers["Content-Language"] == language


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        *[(accept, "gzip") for accept in ("gzip;q=.5", "br, x-gzip", "*;q=.1", "GZIP; Q=1.", "gzip;q=x")],
        *[(accept, None) for accept in ("gzip;q=.0, *", "x-gzip;q=0", "*;q=0", "nonsense;;q=", ",")],
    ],
)
def test_a_loosely_written_coding_is_understood(accept: str, coding: str | None, api: Api) -> None:
    assert api.get("/openapi.yaml", headers={"Accept-Encoding": accept}).headers.get("Content-Encoding") == coding


@pytest.mark.parametrize(
    ("kind", "coding"),
    [
        *[(f"application/json; charset={name}", "") for name in ("utf8", "UTF_8", "us-ascii", '"ASCII"', "")],
        *[("application/json", coding) for coding in ("Identity", "identity, identity", " ")],
    ],
)
def test_a_loosely_written_type_of_a_body_is_understood(kind: str, coding: str, api: Api) -> None:
    body = b'{"variant": "domino", "players": [{"name": "Al"}, {"name": "Bo"}]}'
    answer = api.ask("POST", "/v1/games", data=body, content_type=kind, headers={"Content-Encoding": coding})
    assert answer.status_code == 201


# A record as the body


def test_a_record_is_taken_as_text_alone(api: Api) -> None:
    table = api.create("domino", 2, options={"limit": 1})
    for _ in table.play(1):
        pass
    text = api.get(f"{table.path}/record", headers={"Accept": "text/plain"}).data
    for content_type in ("text/plain", "text/plain; charset=UTF-8", "Text/Plain", "text/vnd.domino-record"):
        answer: Any = api.ask("POST", "/v1/verifications", data=text, content_type=content_type)
        assert (answer.status_code, answer.json["verified"]) == (200, True)
    as_json: Any = api.get(f"{table.path}/record").get_json()
    for path in ("/v1/verifications", "/v1/replays"):
        for body in ({"record": text.decode()}, as_json):
            assert status_and_code(api.post(path, body)) == (415, "unsupported_media_type")


@pytest.mark.parametrize("record", [b"", b"no record\n", b"\0", b'[Record "1"]\r\n', b'[Record "1"]\n\xff\n'])
def test_a_text_that_is_no_record_is_refused_with_its_place(record: bytes, api: Api) -> None:
    answer: Any = api.ask("POST", "/v1/verifications", data=record, content_type="text/plain")
    assert status_and_code(answer) == (422, "invalid")
    assert answer.json["detail"].startswith("line ")
    assert [each["reason"] for each in answer.json["causes"]] == [answer.json["reason"]]
