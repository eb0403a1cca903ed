"""``POST /mcp``: an assistant plays, by the Model Context Protocol, and learns what anybody would.

``tests/whole/test_mcp.py`` plays whole matches with the official client.
"""

from __future__ import annotations

import logging
from typing import Any

import orjson
import pytest
from werkzeug.test import TestResponse

from service.engine.variants import variants
from service.web.http.body import BODY_UNIT_BYTES, MAX_BODY_BYTES
from service.web.mcp.protocol import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    WITH_HANDSHAKE,
)
from service.web.mcp.tools import TOOLS
from tests.api.client import Api, Table
from tests.support.application import create_app, rate_limits
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}


def send(api: Api, message: Any, **headers: str) -> TestResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.ask_unchecked("POST", "/mcp", json=message, headers=named)


def modern(api: Api, method: str, **params: Any) -> Any:
    """The result of a request of the revision without a handshake."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": META}}
    headers = {"MCP_Protocol_Version": MODERN[0], "Mcp_Method": method}
    if "name" in params:
        headers["Mcp_Name"] = params["name"]
    answer = send(api, message, **headers)
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    value = answer.get_json()
    assert (value["jsonrpc"], value["id"]) == ("2.0", 7)
    assert value["result"]["resultType"] == "complete"
    return value["result"]


def older(api: Api, method: str, **params: Any) -> Any:
    """The result of a request of a revision with a handshake."""
    message = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
    answer = send(api, message, MCP_Protocol_Version=WITH_HANDSHAKE[0])
    assert answer.status_code == 200
    return answer.get_json()["result"]


def text_of(result: Any) -> str:
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


def tool(api: Api, name: str, **arguments: Any) -> tuple[str, bool]:
    """The text that a tool returns, and whether it is an error; the same under both kinds of revisions."""
    results = [modern(api, "tools/call", name=name, arguments=arguments)]
    if TOOLS[name].method == "GET":
        results.append(older(api, "tools/call", name=name, arguments=arguments))
    assert len({text_of(result) for result in results}) == 1
    return text_of(results[0]), results[0]["isError"]


# Both kinds of revisions


def test_a_client_without_a_handshake_discovers_the_service(api: Api) -> None:
    found = modern(api, "server/discover")
    assert found["supportedVersions"] == [*MODERN, *WITH_HANDSHAKE]
    assert found["capabilities"] == {"tools": {}}
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "domino-service"
    assert (found["ttlMs"] > 0, found["cacheScope"]) == (True, "public")


@pytest.mark.parametrize("wanted", [*WITH_HANDSHAKE, "1999-01-01", None])
def test_a_handshake_agrees_on_a_revision_and_keeps_nothing(wanted: str | None, api: Api) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": wanted}}
    answer = send(api, message)
    agreed = wanted if wanted in WITH_HANDSHAKE else WITH_HANDSHAKE[0]
    assert answer.get_json()["result"]["protocolVersion"] == agreed
    assert "Mcp-Session-Id" not in answer.headers
    assert "Set-Cookie" not in answer.headers
    assert older(api, "ping") == {}


def test_both_list_the_same_tools_which_are_read_only_where_nothing_changes(api: Api) -> None:
    listed = modern(api, "tools/list")["tools"]
    assert listed == older(api, "tools/list")["tools"]
    assert [each["name"] for each in listed] == [
        "list_games",
        "explain_rules",
        "start_game",
        "look",
        "play",
        "score",
    ]
    assert [each["name"] for each in listed if not each["annotations"]["readOnlyHint"]] == ["start_game", "play"]
    for each in listed:
        assert set(each["inputSchema"]["required"]) <= each["inputSchema"]["properties"].keys()


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_neither_a_stream_nor_a_session(method: str, api: Api) -> None:
    answer = api.ask_unchecked(method, "/mcp")
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 3, "result": {}},
    ],
)
def test_what_needs_no_answer_gets_none(message: Any, api: Api) -> None:
    answer = send(api, message)
    assert (answer.status_code, answer.data) == (202, b"")


# What a tool returns is what the operation answers


def test_a_tool_returns_the_bytes_of_the_operation(api: Api) -> None:
    table = api.create("domino", 2)
    token, path = table.tokens[0], table.path
    for name, arguments, address, bearer in (
        ("list_games", {}, "/v1/variants", None),
        ("list_games", {"language": "es"}, "/v1/variants", None),
        ("explain_rules", {"variant": "latin"}, "/v1/variants/latin", None),
        ("explain_rules", {"variant": "no such?game"}, "/v1/variants/no%20such%3Fgame", None),
        ("look", {"game": table.id}, f"{path}?text=true", None),
        ("look", {"game": table.id, "token": token}, f"{path}?text=true", token),
        ("look", {"game": table.id, "token": token, "language": "de"}, f"{path}?text=true", token),
        ("look", {"game": table.id, "token": token, "after": 1, "wait": 1}, f"{path}?text=true", token),
        ("look", {"game": "x" * 22}, f"/v1/games/{'x' * 22}?text=true", None),
        ("look", {"game": table.id, "after": -1}, f"{path}?text=true&after=-1", None),
        ("score", {"game": table.id, "token": token}, f"{path}/score", token),
    ):
        headers = {"Accept-Language": str(arguments.get("language", "en"))}
        expected = api.ask_unchecked("GET", address, token=bearer, headers=headers)
        assert tool(api, name, **arguments) == (expected.get_data(as_text=True), expected.status_code >= 400), name


def test_a_game_is_started_and_played(api: Api) -> None:
    wanted = {
        "variant": "block",
        "players": [{"name": "Ada"}, {"name": "Bo"}],
        "seed": "x",
        "idempotency_key": "once-and-only-once",
    }
    text, is_error = tool(api, "start_game", **wanted)
    assert not is_error, text
    made, again = orjson.loads(text), orjson.loads(tool(api, "start_game", **wanted)[0])
    assert again["seats"] == made["seats"]
    game, tokens = made["game"]["id"], [each["token"] for each in made["seats"]]
    (seat,) = made["game"]["to_act"]
    seen = orjson.loads(tool(api, "look", game=game, token=tokens[seat])[0])
    assert seen["text"]
    played, is_error = tool(api, "play", game=game, token=tokens[seat], move=seen["legal_moves"][0])
    assert not is_error
    assert orjson.loads(played)["version"] == seen["version"] + 1
    refused, is_error = tool(api, "play", game=game, token=tokens[seat], move=seen["legal_moves"][0])
    assert is_error
    assert orjson.loads(refused)["code"] == "stale_version"


def test_a_number_beyond_64_bits_is_refused_as_by_the_operation(api: Api) -> None:
    wanted = {"variant": "block", "players": [{"name": "Ada"}, {"name": "Bo"}], "rules": {"target": 10**30}}
    expected = api.ask_unchecked("POST", "/v1/games", json=wanted)
    assert expected.status_code == 422
    assert tool(api, "start_game", **wanted) == (expected.get_data(as_text=True), True)


def test_a_token_or_key_of_the_connection_counts_where_the_tool_has_none(api: Api) -> None:
    table, other = api.create("domino", 2), api.create("domino", 2)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for arguments, token in (
        ({"game": table.id}, table.tokens[0]),
        ({"game": table.id, "token": table.tokens[1]}, table.tokens[1]),
        ({"game": table.id, "token": other.tokens[0]}, other.tokens[0]),
    ):
        call = {**message, "params": {"name": "look", "arguments": arguments}}
        result = send(api, call, Authorization=f"Bearer {table.tokens[0]}").get_json()["result"]
        expected = api.ask_unchecked("GET", f"{table.path}?text=true", token=token)
        assert text_of(result) == expected.get_data(as_text=True)


def test_a_seat_sees_its_own_hand_and_nobody_elses(api: Api) -> None:
    table = api.create("domino", 2)
    hands = [set(api.view(table, seat)["you"]["hand"]) for seat in (0, 1)]
    for seat in (0, 1):
        shown = tool(api, "look", game=table.id, token=table.tokens[seat])[0]
        assert all(f'"{tile}"' in shown for tile in hands[seat])
        assert not any(f'"{tile}"' in shown for tile in hands[1 - seat])
    assert '"you"' not in tool(api, "look", game=table.id)[0]


# What is refused


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("look", {}, "Missing: game."),
        ("play", {"game": "g", "move": {}}, "Missing: token."),
        ("look", {"game": 5}, "game has to be a text"),
        ("look", {"game": ""}, "game has to be a text"),
        ("look", {"game": "g" * 201}, "game has to be a text"),
        ("look", {"game": "g", "token": "a\r\nX-Evil: b"}, "token has to be of printable"),
        ("look", {"game": "g", "token": ["a"]}, "token has to be a text"),
        ("look", {"game": "g", "after": "1&x=2"}, "after has to be a whole number"),
        ("look", {"game": "g", "after": True}, "after has to be a whole number"),
        ("look", {"game": "g", "seat": 1}, "Unknown: seat."),
        ("look", {"game": "g/events"}, "game has no slash"),
        ("list_games", {"language": "x\n"}, "language has to be of printable"),
    ],
)
def test_an_argument_that_is_not_valid_is_explained_to_the_assistant(
    name: str, arguments: dict[str, Any], said: str, api: Api
) -> None:
    text, is_error = tool(api, name, **arguments)
    assert is_error
    assert text.startswith(said)


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        ([], {}, 400, INVALID_REQUEST),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {}, 400, INVALID_REQUEST),
        ("ping", {}, 400, INVALID_REQUEST),
        ({"id": 1, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": "x" * 201, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 2**53, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 10**30, "method": "ping"}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": 2}, {}, 400, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, {}, 400, INVALID_PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}, {}, 404, METHOD_NOT_FOUND),
        ({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}, {}, 404, METHOD_NOT_FOUND),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, {}, 400, INVALID_PARAMS),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "cheat"}}, {}, 400, INVALID_PARAMS),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look", "arguments": []}},
            {},
            400,
            INVALID_PARAMS,
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"MCP_Protocol_Version": "2030-01-01"},
            400,
            UNSUPPORTED_VERSION,
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
            {"MCP_Protocol_Version": MODERN[0], "Mcp_Method": "tools/list"},
            400,
            INVALID_PARAMS,
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}},
            {"MCP_Protocol_Version": MODERN[0], "Mcp_Method": "ping"},
            400,
            HEADER_MISMATCH,
        ),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}, {}, 400, HEADER_MISMATCH),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": META, "name": "score"}},
            {"MCP_Protocol_Version": MODERN[0], "Mcp_Method": "tools/call", "Mcp_Name": "look"},
            400,
            HEADER_MISMATCH,
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"_meta": META}},
            {"MCP_Protocol_Version": MODERN[0], "Mcp_Method": "initialize"},
            404,
            METHOD_NOT_FOUND,
        ),
    ],
)
def test_a_message_that_is_not_valid_is_refused(
    message: Any, headers: dict[str, str], status: int, code: int, api: Api
) -> None:
    answer = send(api, message, **headers)
    value = answer.get_json()
    assert (answer.status_code, value["error"]["code"]) == (status, code)
    given = message.get("id") if isinstance(message, dict) else None
    assert value["id"] == (given if isinstance(given, int | str) and given not in ("x" * 201, 2**53, 10**30) else None)
    if code == UNSUPPORTED_VERSION:
        assert value["error"]["data"]["supported"][0] == MODERN[0]


@pytest.mark.parametrize("body", [b"", b"{", b'{"jsonrpc":"2.0","id":1,"id":2}', b"\xff", b"[" * 5000])
def test_what_is_no_json_is_a_parse_error(body: bytes, api: Api) -> None:
    answer = api.ask_unchecked("POST", "/mcp", data=body, content_type="application/json")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, PARSE_ERROR)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"data": b"{}", "content_type": "text/plain"}, 415),
        ({"data": b"x" * (MAX_BODY_BYTES + 1), "content_type": "application/json"}, 413),
        ({"json": {}, "headers": {"Accept": "text/html"}}, 406),
    ],
)
def test_a_request_is_bounded_as_all_others(arguments: dict[str, Any], status: int, api: Api) -> None:
    answer = api.ask_unchecked("POST", "/mcp", **arguments)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")


def test_a_large_message_counts_as_several_reads_whatever_it_says() -> None:
    limits = rate_limits(clock=lambda: 0.0, read=6)  # one of them is that of every message
    store = MemoryStore(60)
    app = create_app(build_games(store, store, [b"s" * 32], 60), limits=limits)
    api = Api(app.test_client())
    message = {"jsonrpc": "2.0", "id": 1, "method": "x" * (5 * BODY_UNIT_BYTES)}
    assert [send(api, message).status_code for _ in range(2)] == [404, 429]


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        ("http://a]b", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:3000", 200),
    ],
)
def test_a_page_of_another_origin_does_not_play_here(origin: str, status: int, api: Api) -> None:
    answer = send(api, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, Origin=origin)
    assert answer.status_code == status
    assert answer.get_json()["id"] == (1 if status == 200 else None)


def test_no_token_is_in_the_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    table: Table = api.create("block", 2)
    tool(api, "look", game=table.id, token=table.tokens[0])
    tool(api, "play", game=table.id, token=table.tokens[0], move={"action": "pass"})
    said = " ".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert said
    assert table.tokens[0] not in said
    assert table.id not in said


def test_every_game_is_listed_and_explained(api: Api) -> None:
    listed = orjson.loads(tool(api, "list_games")[0])
    assert {each["id"] for each in listed["variants"]} == set(variants())
    for key in variants():
        assert orjson.loads(tool(api, "explain_rules", variant=key)[0])["rules"].startswith("# ")
