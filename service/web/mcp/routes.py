"""``POST /mcp``: an assistant plays, by the Model Context Protocol.

Owns the translation from calls of tools to requests to this service itself: each passes through the whole application,
so that tokens, limits, validation, redaction and the log are those of ``/v1``, and what a tool returns is what the
operation answers. Nothing is kept between two requests. Does not depend on any game.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote_to_bytes, urlsplit

import orjson
from flask import Blueprint, current_app

from service.reasons import REASONS
from service.web.http.body import body_units, read_json
from service.web.http.current import current_environ
from service.web.http.errors import RequestError
from service.web.http.headers import negotiate
from service.web.http.middleware import REQUEST_ID
from service.web.http.responses import JSON, RawResponse
from service.web.mcp.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    WITH_HANDSHAKE,
    Call,
    Fault,
    agreed_version,
    id_of,
    read_call,
)
from service.web.mcp.tools import TOOLS, ToolRequest
from service.web.quotas import limit_reads
from service.web.services import Services, current_services

blueprint: Final = Blueprint("mcp", __name__)

_OK: Final = "200 OK"
_HOURS_MS: Final = 3_600_000
_SERVER: Final = {"name": "domino-service", "title": "Dominoes", "version": version("domino-service")}
_INSTRUCTIONS: Final = (
    "Play dominoes with people and computer players. Choose a game with list_games, read explain_rules, call "
    "start_game, then look and play in turns until `status` is `finished`; after a round, `deal` is a move. You see "
    "your own hand only: neither ask for the token of another seat, nor show yours. Answers are JSON."
)
_LISTED: Final = [tool.listed(name) for name, tool in TOOLS.items()]
_KEPT: Final = (
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "SCRIPT_NAME",
    "HTTP_HOST",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_AUTHORIZATION",
    "HTTP_TRACEPARENT",
    "gunicorn.socket",
    "wsgi.version",
    "wsgi.url_scheme",
    "wsgi.errors",
    "wsgi.multithread",
    "wsgi.multiprocess",
    "wsgi.run_once",
)
"""What a request of a tool has of the one that called it; a token among its arguments replaces one in the header."""
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")


@blueprint.post("/mcp")
def handle_message() -> RawResponse:
    """Answer one message."""
    services = current_services()
    negotiate(JSON)
    message: Any = None
    try:
        _check_origin(services)
        limit_reads(services.limits, body_units())
        message = _read_message()
        call = read_call(message, _headers())
        if call.id is None:
            return RawResponse("202 ACCEPTED", [("Content-Length", "0")])
        result = _result(services, call)
    except Fault as fault:
        return _answer({"id": id_of(message), "error": fault.error}, fault.status)
    except _ForeignOrigin as fault:
        return _answer({"id": None, "error": {"code": INVALID_REQUEST, "message": str(fault)}}, "403 FORBIDDEN")
    return _answer({"id": call.id, "result": result})


class _ForeignOrigin(Exception):
    """A page of another origin sent the request: perhaps without the knowledge of who reads it."""


def _check_origin(services: Services) -> None:
    """Raise ``_ForeignOrigin`` for a page that this service has not sent, and that is not on the machine itself.

    Otherwise any page could play at a service that only its reader reaches, by a name that leads there.
    """
    origin = current_environ().get("HTTP_ORIGIN")
    if origin is None:
        return
    hosts = {urlsplit(address).hostname for address in services.addresses}
    try:
        host = urlsplit(origin).hostname
    except ValueError:  # no URL
        host = None
    if host not in {*hosts, *_LOCAL}:
        raise _ForeignOrigin("This service takes no messages from pages of that origin.")


def _read_message() -> Any:
    try:
        return read_json()
    except RequestError as error:
        if REASONS[error.reason.word] != "malformed":
            raise
        raise Fault(PARSE_ERROR, "The body is not valid JSON.") from None


def _headers() -> Mapping[str, str]:
    environ = current_environ()
    return {
        name: environ[key]
        for name, key in (
            ("mcp-protocol-version", "HTTP_MCP_PROTOCOL_VERSION"),
            ("mcp-method", "HTTP_MCP_METHOD"),
            ("mcp-name", "HTTP_MCP_NAME"),
        )
        if key in environ
    }


def _result(services: Services, call: Call) -> dict[str, Any]:
    """Return the result of a call. Raises ``Fault``."""
    if call.method == "tools/call":
        return _done(call, _call_tool(call.params))
    limit_reads(services.limits, 1)
    if call.method == "tools/list":
        return _done(call, {"tools": _LISTED}, lasts=True)
    if call.is_modern and call.method == "server/discover":
        known = {"supportedVersions": [*MODERN, *WITH_HANDSHAKE], "capabilities": {"tools": {}}}
        return _done(call, {**known, "instructions": _INSTRUCTIONS}, lasts=True)
    if not call.is_modern and call.method == "initialize":
        agreed = {"protocolVersion": agreed_version(call.params), "capabilities": {"tools": {}}}
        return {**agreed, "serverInfo": _SERVER, "instructions": _INSTRUCTIONS}
    if not call.is_modern and call.method == "ping":
        return {}
    raise Fault(METHOD_NOT_FOUND, "Method not found")


def _done(call: Call, result: dict[str, Any], *, lasts: bool = False) -> dict[str, Any]:
    """Return the result as a revision without a handshake has it; whether it ``lasts``, so that it may be kept."""
    if not call.is_modern:
        return result
    kept = {"ttlMs": _HOURS_MS, "cacheScope": "public"} if lasts else {}
    return {**result, "resultType": "complete", **kept, "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER}}


def _call_tool(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tool returns. Raises ``Fault`` for a tool that does not exist."""
    name, arguments = params.get("name"), params.get("arguments", {})
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise Fault(INVALID_PARAMS, f"Unknown tool. There are: {', '.join(TOOLS)}.")
    if not isinstance(arguments, dict):
        raise Fault(INVALID_PARAMS, "The arguments have to be an object.")
    try:
        wanted = tool.request(arguments)
    except ValueError as error:
        return _text(str(error), is_error=True)
    status, body = _ask(wanted)
    return _text(body.decode(), is_error=status >= 400)


def _text(text: str, *, is_error: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _ask(wanted: ToolRequest) -> tuple[int, bytes]:
    """Return the status and the body of the answer to a request to this service itself."""
    # Not by orjson, which does not support integers beyond 64 bits.
    data = b"" if wanted.body is None else json.dumps(wanted.body).encode()
    current = current_environ()
    environ: dict[str, Any] = {key: current[key] for key in _KEPT if key in current}
    environ |= {
        "REQUEST_METHOD": wanted.method,
        "PATH_INFO": unquote_to_bytes(wanted.path).decode("latin-1"),
        "QUERY_STRING": wanted.query,
        "RAW_URI": f"{wanted.path}?{wanted.query}",
        "HTTP_ACCEPT": JSON,
        "HTTP_X_REQUEST_ID": current[REQUEST_ID],
        "wsgi.input": BytesIO(data),
        "wsgi.input_terminated": True,
        **wanted.headers,
    }
    if wanted.method == "POST":
        environ |= {"CONTENT_TYPE": JSON, "CONTENT_LENGTH": str(len(data))}
    status = 500

    def start(line: str, _headers: list[tuple[str, str]], _error: Any = None) -> Any:
        nonlocal status
        status = int(line[:3])

    body = current_app.wsgi_app(environ, start)
    try:
        return status, b"".join(body)
    finally:
        close = getattr(body, "close", None)
        if close is not None:
            close()


def _answer(message: dict[str, Any], status: str = _OK) -> RawResponse:
    return RawResponse(
        status, [("Content-Type", JSON), ("Cache-Control", "no-store")], orjson.dumps({"jsonrpc": "2.0", **message})
    )
