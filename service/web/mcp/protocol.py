"""Messages of the Model Context Protocol: what a request asks for, and how it is answered.

Two kinds of revisions are spoken on one endpoint. Those up to 2025-11-25 begin with a handshake, ``initialize``, which
here is answered as any other request, as nothing is kept of it. From 2026-07-28 on there is none: each request names
its revision and what its client can do, and its headers repeat what it is, so that proxies need not read the body. Owns
which messages are valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MODERN: Final = ("2026-07-28",)
"""Revisions without a handshake."""
WITH_HANDSHAKE: Final = ("2025-11-25", "2025-06-18")
"""Revisions with one, the newest first; earlier ones have batches of messages, which nobody sends any more."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
_STATUS: Final = {METHOD_NOT_FOUND: "404 NOT FOUND"}
_BAD_REQUEST: Final = "400 BAD REQUEST"

_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
_NAMED_METHODS: Final = ("tools/call",)
"""Methods whose header ``Mcp-Name`` repeats what they name."""
_MAX_ID_CHARS: Final = 200
_MAX_ID: Final = 2**53 - 1
"""The largest whole number that every client can tell from its neighbours."""


class Fault(Exception):
    """A message that cannot be answered with a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def error(self) -> dict[str, Any]:
        """The fault as it is told."""
        told = {"code": self.code, "message": self.message}
        return told if self.data is None else {**told, "data": self.data}

    @property
    def status(self) -> str:
        """The status of the HTTP response."""
        return _STATUS.get(self.code, _BAD_REQUEST)


class Call(NamedTuple):
    """A request: its id, its method, its parameters, and whether it is of a revision without a handshake.

    ``id`` is ``None`` for a notification, or an answer, which nobody waits for.
    """

    id: str | int | None
    method: str
    params: Mapping[str, Any]
    is_modern: bool


def id_of(message: Any) -> str | int | None:
    """Return the id of a message, if it has a valid one."""
    given = message.get("id") if isinstance(message, dict) else None
    if isinstance(given, str):
        return given if len(given) <= _MAX_ID_CHARS else None
    return given if type(given) is int and abs(given) <= _MAX_ID else None


def read_call(message: Any, headers: Mapping[str, str]) -> Call:
    """Return the call that a message is; ``headers`` by their names in lower case. Raises ``Fault``."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, "The body has to be one JSON-RPC 2.0 message.")
    version = headers.get("mcp-protocol-version")
    if version is not None and version not in (*MODERN, *WITH_HANDSHAKE):
        raise _unsupported(version)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message or "method" not in message:
        return Call(None, "", {}, version in MODERN)
    if id_of(message) is None or not isinstance(method, str):
        raise Fault(INVALID_REQUEST, "The id has to be a text or a whole number, the method a text.")
    if not isinstance(params, dict):
        raise Fault(INVALID_PARAMS, "The parameters have to be an object.")
    is_modern = version in MODERN or _VERSION_KEY in _meta(params)
    if is_modern:
        _check_envelope(method, params, headers)
    return Call(id_of(message), method, params, is_modern)


def _meta(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _check_envelope(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Check what each request says of itself without a handshake. Raises ``Fault``."""
    meta = _meta(params)
    missing = [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise Fault(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    version = meta[_VERSION_KEY]
    repeated = {"mcp-protocol-version": version, "mcp-method": method}
    if method in _NAMED_METHODS and params.get("name") is not None:
        repeated["mcp-name"] = params["name"]
    for name, value in repeated.items():
        if headers.get(name) != value:
            raise Fault(HEADER_MISMATCH, f"The header {name} does not repeat what the body says.")
    if version not in MODERN:
        raise _unsupported(version)


def _unsupported(version: object) -> Fault:
    data = {"supported": [*MODERN, *WITH_HANDSHAKE], "requested": str(version)[:_MAX_ID_CHARS]}
    return Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def agreed_version(params: Mapping[str, Any]) -> str:
    """Return the revision that the client wants, or else the newest one with a handshake."""
    wanted = params.get("protocolVersion")
    return wanted if wanted in WITH_HANDSHAKE else WITH_HANDSHAKE[0]
