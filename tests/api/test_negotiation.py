"""What an operation answers by ``Accept``: JSON, unless the client prefers another type."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from service.backends.facade import BackendsFacade
from service.web.operation import Operation, operation_of
from tests.api.client import Api, Table

ACCEPTS = {
    "Swift": None,
    "curl": "*/*",
    "axios": "application/json, text/plain, */*",
    "Kotlin": "application/json, text/plain, application/problem+json",
    "text first": "text/plain, text/event-stream, text/html, application/json",
    "equal weights": "text/*;q=0.5, application/*;q=0.5",
}
"""What clients send that parse JSON only."""

NO_JSON = {
    "getContract": "application/yaml",
    "getEventReader": "text/javascript",
    "getBoardAsSvg": "image/svg+xml",
    "getBoardAsText": "text/plain",
    "erasePlayer": None,
}
"""The media types of what the others answer; none where there is nothing to tell."""

NO_RECORD = '[Record "1"]\nbroken\n'


def operations(app: Flask) -> list[tuple[str, str, Operation]]:
    """Method and path of every documented operation."""
    found = []
    for rule in app.url_map.iter_rules():
        described = operation_of(app.view_functions[rule.endpoint])
        if described is not None:
            (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            found.append((method, rule.rule, described))
    return found


ENDPOINT = {"url": "https://hooks.example.com/", "events": ["game.turn"]}

REFUSED = {
    "makeMove": 409,
    "setPresence": 409,
    "claimSeat": 409,
    "beginRematch": 409,
    "getHint": 403,
    "beginReview": 409,
    "getReview": 404,
    "revokeKey": 404,
    "getPlayer": 404,
    "redeliverMessage": 404,
    "verifyRecord": 422,
    "replayRecord": 422,
}
"""The operations that a game with an open seat refuses, a key that is the only one, or what does not exist."""


NOT_FOR_PROGRAMS = {"getGuide", "getBackendsGuide", "getTextForAssistants", "getRobots"}
"""Texts to be read, which no generated client asks for."""


def bodies(table: Table) -> dict[str, Any]:
    """A body of each operation that takes one, in a game with an open seat."""
    return {
        "createGame": {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]},
        "joinGame": {"name": "Bo", "join_code": table.join_code},
        "makeMove": {"action": "pass"},
        "changeToken": {},
        "setPresence": {"away": True},
        "claimSeat": {"seat": 1},
        "verifyRecord": {"record": NO_RECORD},
        "replayRecord": {"record": NO_RECORD},
        "registerApplication": {"name": "Backend"},
        "createKey": {},
        "changePlayer": {"name": "Cy"},
        "createWebhook": ENDPOINT,
        "changeWebhook": {"events": ["game.finished"]},
    }


@pytest.mark.parametrize("accept", ACCEPTS.values(), ids=ACCEPTS.keys())
def test_every_operation_answers_json_to_clients_that_parse_json(
    accept: str | None, api: Api, app: Flask, backends: BackendsFacade
) -> None:
    described = operations(app)
    assert len(described) > 15
    for method, rule, operation in described:
        if operation.id in NOT_FOR_PROGRAMS:
            continue
        key = backends.keys.create("Backend").key
        players = [{"name": "Ada"}, {"open": True}]
        table = Table(api, api.post("/v1/games", {"variant": "domino", "players": players}, token=key).get_json())
        path = rule.replace("<game>", table.id).replace("<int:seat>", "0").replace("<variant>", "domino")
        path = path.replace("<message>", "msg_1")
        if "<webhook>" in path:
            path = path.replace("<webhook>", api.post("/v1/webhooks", ENDPOINT, token=key).get_json()["id"])
        headers = {} if accept is None else {"Accept": accept}
        token = {"public": None, "app": key, "app_game": key, "key_change": key}.get(operation.access, table.tokens[0])
        body = bodies(table).get(operation.id) if method in ("POST", "PUT", "PATCH") else None
        answer = api.ask(method, path.replace("<hint>", "none"), json=body, headers=headers, token=token)
        assert answer.status_code in (200, 201, 202, 204, REFUSED.get(operation.id)), operation.id
        if answer.status_code != 204:
            kind = "application/json" if answer.status_code < 400 else "application/problem+json"
            assert answer.mimetype == NO_JSON.get(operation.id, kind), operation.id


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
    ],
)
def test_a_record_is_text_only_where_text_has_a_higher_weight(accept: str, kind: str, api: Api) -> None:
    table = api.create("domino", 2)
    assert api.get(f"{table.path}/record", headers={"Accept": accept}).mimetype == kind


@pytest.mark.parametrize("accept", ["text/event-stream, */*", "application/x-ndjson, application/json"])
def test_events_are_a_stream_only_where_a_stream_has_a_higher_weight(accept: str, api: Api) -> None:
    table = api.create("domino", 2)
    assert api.get(f"{table.path}/events", headers={"Accept": accept}).mimetype == "application/json"


# A record as the body


def test_a_record_is_verified_as_text_as_it_is_in_json(api: Api) -> None:
    table = api.create("domino", 2, rules={"limit": 1})
    for _ in table.play(1):
        pass
    text = api.get(f"{table.path}/record", headers={"Accept": "text/plain"}).data
    in_json: Any = api.post("/v1/verifications", {"record": text.decode()}).json
    assert in_json["verified"]
    for content_type in ("text/plain", "text/plain; charset=UTF-8", "Text/Plain"):
        answer = api.ask("POST", "/v1/verifications", data=text, content_type=content_type)
        assert (answer.status_code, answer.json) == (200, in_json)


@pytest.mark.parametrize("record", [b"", b"no record\n", b"\0", b'[Record "1"]\r\n', b'[Record "1"]\n\xff\n'])
def test_a_text_that_is_no_record_is_refused_with_its_place(record: bytes, api: Api) -> None:
    answer: Any = api.ask("POST", "/v1/verifications", data=record, content_type="text/plain")
    assert (answer.status_code, answer.json["code"]) == (422, "invalid")
    (complaint,) = answer.json["errors"]["record"]
    assert complaint.startswith("line ")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"content_type": "text/plain; charset=latin-1"}, 415),
        ({"content_type": "text/html"}, 415),
        ({"content_type": "text/plain", "headers": {"Content-Encoding": "gzip"}}, 415),
        ({"content_type": "text/plain", "data": b"x" * (256 * 1024 + 1)}, 413),
    ],
)
def test_a_record_as_text_has_the_limits_of_every_body(sent: dict[str, Any], status: int, api: Api) -> None:
    assert api.ask("POST", "/v1/verifications", **{"data": b"x", **sent}).status_code == status


def test_no_other_operation_takes_text(api: Api) -> None:
    table = api.create("domino", 2)
    for path in ("/v1/games", f"{table.path}/players", f"{table.path}/moves"):
        answer = api.ask("POST", path, data=b"{}", content_type="text/plain", token=table.tokens[0])
        assert answer.status_code == 415
