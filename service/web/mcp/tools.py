"""The tools for assistants: what each is called with, and the request to the service that it is.

Owns their names, descriptions and arguments, which assistants read, so that they are in English. Each is one operation
of ``/v1``: its tokens, limits, validation and redaction are those of the API. Does not depend on the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from service.texts import LANGUAGES
from service.web.fields.queries import MAX_WAIT_SECONDS

MAX_TEXT_CHARS: Final = 200
"""More than a token, a key or the id of a game has."""

_TEXT: Final = {"type": "string", "maxLength": MAX_TEXT_CHARS}
_GAME: Final = {"game": {**_TEXT, "description": "The id of the game."}}
_TOKEN: Final = {
    "token": {
        **_TEXT,
        "description": "The secret token of your seat. Show it to nobody, least of all to other players.",
    }
}
_LANGUAGE: Final = {"language": {"type": "string", "enum": list(LANGUAGES), "description": "Of names and sentences."}}
_KEY: Final = {
    "idempotency_key": {
        **_TEXT,
        "description": "16 to 200 letters and digits of your own: with the same ones again, nothing is done twice.",
    }
}


class ToolRequest(NamedTuple):
    """A request to the service; ``body`` is ``None`` for one without a body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """By their keys in the WSGI environment."""
    body: Any = None


class Tool(NamedTuple):
    """A tool; ``path`` may name the arguments ``game`` and ``variant``, ``query`` are arguments that go there.

    ``body`` is the argument that is the body, ``*`` for all that are left, empty for none.
    """

    description: str
    method: str
    path: str
    arguments: Mapping[str, Any]
    required: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    fixed_query: Mapping[str, str] = {}
    body: str = ""
    is_open: bool = False
    """Whether other arguments than these are passed on, to be checked by the service."""

    def listed(self, name: str) -> dict[str, Any]:
        """Return the tool as clients list it."""
        return {
            "name": name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": self.arguments,
                "required": list(self.required),
                "additionalProperties": self.is_open,
            },
            "annotations": {
                "readOnlyHint": self.method == "GET",
                "destructiveHint": False,
                "idempotentHint": self.method == "GET",
                "openWorldHint": False,
            },
        }

    def request(self, arguments: Mapping[str, Any]) -> ToolRequest:
        """Return the request that a call with these arguments is.

        Raises ``ValueError`` with a sentence for a wrong one.
        """
        given = {key: value for key, value in arguments.items() if value is not None}
        missing = [key for key in self.required if key not in given]
        if missing:
            raise ValueError(f"Missing: {', '.join(missing)}.")
        unknown = [] if self.is_open else [key for key in given if key not in self.arguments]
        if unknown:
            raise ValueError(f"Unknown: {', '.join(sorted(unknown)[:5])}. Allowed: {', '.join(self.arguments)}.")
        path = self.path.format(**{key: quote(_segment(given.pop(key), key), safe="") for key in _in_path(self.path)})
        headers = {}
        for key, header, prefix in _HEADERS:
            if key in given and key in self.arguments:
                headers[header] = prefix + _header(given.pop(key), key)
        asked = {key: _query(given.pop(key), key) for key in self.query if key in given}
        body = given if self.body == "*" else given.get(self.body)
        return ToolRequest(self.method, path, urlencode({**self.fixed_query, **asked}), headers, body)


_HEADERS: Final = (
    ("token", "HTTP_AUTHORIZATION", "Bearer "),
    ("language", "HTTP_ACCEPT_LANGUAGE", ""),
    ("idempotency_key", "HTTP_IDEMPOTENCY_KEY", ""),
)
"""The arguments that are headers of the request."""


def _in_path(path: str) -> list[str]:
    return [key for key in ("game", "variant") if f"{{{key}}}" in path]


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT_CHARS:
        raise ValueError(f"{key} has to be a text of 1 to {MAX_TEXT_CHARS} characters.")
    return value


def _segment(value: object, key: str) -> str:
    text = _text(value, key)
    if "/" in text:  # it would lead to another operation
        raise ValueError(f"{key} has no slash in it.")
    return text


def _header(value: object, key: str) -> str:
    text = _text(value, key)
    if not (text.isascii() and text.isprintable()):
        raise ValueError(f"{key} has to be of printable ASCII characters.")
    return text


def _query(value: object, key: str) -> str:
    if type(value) is not int:
        raise ValueError(f"{key} has to be a whole number.")
    return str(value)[:MAX_TEXT_CHARS]


TOOLS: Final[Mapping[str, Tool]] = {
    "list_games": Tool(
        "List the domino games that can be played, each with its players, its difficulty, how long a match takes, and "
        "the levels of computer players.",
        "GET",
        "/v1/variants",
        _LANGUAGE,
    ),
    "explain_rules": Tool(
        "Explain one game: its rules as a text for players, its house rules, how it is scored.",
        "GET",
        "/v1/variants/{variant}",
        {"variant": {**_TEXT, "description": "The id of the game in the list, such as `block`."}, **_LANGUAGE},
        ("variant",),
    ),
    "start_game": Tool(
        "Start a game. The answer has the id of the game, and the token of each person's seat: give a person nothing "
        "but their own, and keep yours. Seats that are open are joined with `join_code`.",
        "POST",
        "/v1/games",
        {
            "variant": {**_TEXT, "description": "The id of the game, such as `block`."},
            "players": {
                "type": "array",
                "items": {"type": "object"},
                "description": 'The seats in order: {"name": "Ada"} a person, {"bot": "greedy"} a computer player, '
                '{"open": true} for somebody to join.',
            },
            "rules": {"type": "object", "description": "House rules that differ from the defaults."},
            "pace": {"type": "number", "description": "Seconds that computer players take for a move; 0 is at once."},
            **_LANGUAGE,
            **_KEY,
        },
        ("variant", "players"),
        body="*",
        is_open=True,
    ),
    "look": Tool(
        "See the table as your seat may see it: your hand, the ends, whose turn it is (`to_act`), your legal moves, "
        "and a sentence on how the game stands (`text`). Without a token, what a spectator sees. With `after`, the "
        "version that you know, and `wait`, it waits for the others.",
        "GET",
        "/v1/games/{game}",
        {
            **_GAME,
            **_TOKEN,
            "after": {"type": "integer", "minimum": 0, "description": "The version that you have seen last."},
            "wait": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_WAIT_SECONDS,
                "description": "Seconds to wait at most for a later version.",
            },
            **_LANGUAGE,
        },
        ("game",),
        query=("after", "wait"),
        fixed_query={"text": "true"},
    ),
    "play": Tool(
        "Make a move: one of the legal moves that `look` lists, unchanged. The answer is the table after it, or why "
        "the move is refused, with the legal ones.",
        "POST",
        "/v1/games/{game}/moves",
        {
            **_GAME,
            **_TOKEN,
            "move": {"type": "object", "description": "A legal move, exactly as it is listed."},
            **_LANGUAGE,
            **_KEY,
        },
        ("game", "token", "move"),
        body="move",
    ),
    "score": Tool(
        "See the score card: every point of every round, and the rule that it follows from.",
        "GET",
        "/v1/games/{game}/score",
        {**_GAME, **_TOKEN, **_LANGUAGE},
        ("game",),
    ),
}
