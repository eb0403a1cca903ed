"""Examples for the document, taken from the running application: a short session, played for real.

The session is deterministic if the clock and the random bytes of the application are, so that the document does not
change from one run to the next. It is a match of one short round, and the example of a variant is shortened, so that
each example stays readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from service.web.openapi.operations import operation_of

_MAX_MOVES: Final = 100
_REJECTED_AT_VERSION: Final = 10
_MAX_PARAGRAPHS: Final = 2
_MAX_OPTIONS: Final = 2
_MAX_DEAL_ROWS: Final = 2


class Example(NamedTuple):
    """The body of a request, if it had one, and the body of its response."""

    request: Any
    response: Any


Examples = Mapping[tuple[str, int], Example]
"""By operation id and response status."""


class _Session:
    """Sends requests to the application and keeps the first exchange of each operation and status."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._client = app.test_client()
        self.examples: dict[tuple[str, int], Example] = {}

    def send(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> Any:
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        response = self._client.open(
            path, method=method, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        self._keep(method, path, body, response)
        return response.get_json(silent=True)

    def text(self, path: str) -> str:
        return self._client.get(path).get_data(as_text=True)

    def _keep(self, method: str, path: str, body: Any, response: TestResponse) -> None:
        try:
            endpoint, _ = self._app.url_map.bind("localhost").match(path.partition("?")[0], method)
        except HTTPException:
            return
        described = operation_of(self._app.view_functions[endpoint])
        if described is not None and response.is_json:
            self.examples.setdefault((described.id, response.status_code), Example(body, response.get_json()))


def record_examples(app: Flask) -> Examples:
    """Play a session and keep an example of each operation and status that comes up."""
    session = _Session(app)
    send = session.send
    for path in ("/v1/variants", "/v1/variants/menschenwolf", "/v1/variants/chess", "/healthz", "/readyz"):
        send("GET", path)
    _shorten_variant(session.examples["getVariant", 200].response)
    game_created = send(
        "POST",
        "/v1/games",
        {
            "variant": "menschenwolf",
            "players": [{"name": "Ada", "client_seed": "three blind mice"}, {"open": True}],
            "rules": {"limit": 60},
        },
    )
    send("POST", "/v1/games", {"variant": "domino", "players": [{"name": "Ada"}], "rules": {"hand": 9}})
    game = f"/v1/games/{game_created['game']['id']}"
    tokens = {0: game_created["seats"][0]["token"]}
    send("POST", f"{game}/players", {"name": "Bo", "join_code": "ABCDEFGHIJKLMNOP"})
    joined = send("POST", f"{game}/players", {"name": "Bo", "join_code": game_created["join_code"]})
    send("POST", f"{game}/players", {"name": "Cleo", "join_code": game_created["join_code"]})
    tokens[1] = joined["token"]
    for method, path in (("GET", game), ("GET", f"{game}/moves"), ("GET", f"{game}/score"), ("POST", f"{game}/moves")):
        send(method, path, {"action": "pass"} if method == "POST" else None, "seat_with_an_unknown_token")
    for path in ("", "/moves", "/score", "/events", "/fairness", "/record"):
        send("GET", f"/v1/games/{'A' * 22}{path}")
    send("POST", f"{game}/players", {"join_code": game_created["join_code"]})
    _play(session, game, tokens)
    return session.examples


def _shorten_variant(variant: dict[str, Any]) -> None:
    paragraphs = variant["rules"].split("\n\n")[:_MAX_PARAGRAPHS]
    variant["rules"] = "\n\n".join([*paragraphs, "…"])
    options = variant["options"]
    options["properties"] = dict(list(options["properties"].items())[:_MAX_OPTIONS])
    del variant["deals"][_MAX_DEAL_ROWS:]


def _play(session: _Session, game: str, tokens: dict[int, str]) -> None:
    view = session.send("GET", game, token=tokens[0])
    for _ in range(_MAX_MOVES):
        if view["status"] == "finished":
            break
        seat = view["turn"]["seat"] if "turn" in view else 0
        legal = session.send("GET", f"{game}/moves", token=tokens[seat])["moves"]
        if view["version"] == _REJECTED_AT_VERSION:
            for rejected in ({"action": "flip"}, {**legal[0], "version": 3}, {"action": "play"}):
                session.send("POST", f"{game}/moves", rejected, tokens[seat])
        view = session.send("POST", f"{game}/moves", legal[0], tokens[seat])
    session.send("GET", f"{game}/events?after=2&limit=2", token=tokens[0])
    session.send("POST", f"{game}/players/0/token", token=tokens[0])
    session.send("GET", f"{game}/score")
    session.send("GET", f"{game}/fairness")
    session.send("GET", f"{game}/record", Accept="application/json")
    record = session.text(f"{game}/record")
    session.send("POST", "/v1/verifications", {"record": record})
    session.send("POST", "/v1/verifications", {"record": record.replace("\n", "\r\n")})
