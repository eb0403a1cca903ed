"""Examples for the document, taken from the running application: a short session, played for real.

The session is the same every time as long as the application has a clock and luck that are, so the
document does not change from one writing to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from service.web.openapi.operations import operation_of

MAX_MOVES = 500


class Example(NamedTuple):
    """What was sent, if there was a body, and what was answered."""

    request: Any
    response: Any


Examples = Mapping[tuple[str, int], Example]
"""By the id of the operation and the status of its answer."""


class _Session:
    """Asks the application and keeps the first exchange of each kind."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._client = app.test_client()
        self.examples: dict[tuple[str, int], Example] = {}

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> Any:
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        answer = self._client.open(
            path, method=method, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        self._keep(method, path, body, answer)
        return answer.get_json(silent=True)

    def text(self, path: str) -> str:
        return self._client.get(path).get_data(as_text=True)

    def _keep(self, method: str, path: str, body: Any, answer: TestResponse) -> None:
        try:
            endpoint, _ = self._app.url_map.bind("localhost").match(path.partition("?")[0], method)
        except HTTPException:
            return
        described = operation_of(self._app.view_functions[endpoint])
        if described is not None and answer.is_json:
            self.examples.setdefault((described.id, answer.status_code), Example(body, answer.get_json()))


def record_examples(app: Flask) -> Examples:
    """Play a session and keep an example of each operation and status that comes up."""
    session = _Session(app)
    ask = session.ask
    for path in ("/v1/variants", "/v1/variants/domino", "/v1/variants/chess", "/healthz", "/readyz"):
        ask("GET", path)
    opened = ask(
        "POST",
        "/v1/games",
        {
            "variant": "dominospiel",
            "players": [{"name": "Ada", "client_seed": "seven green bottles"}, {"open": True}],
            "rules": {"limit": 20},
        },
    )
    ask("POST", "/v1/games", {"variant": "domino", "players": [{"name": "Ada"}], "rules": {"hand": 9}})
    game = f"/v1/games/{opened['game']['id']}"
    tokens = {0: opened["seats"][0]["token"]}
    ask("POST", f"{game}/players", {"name": "Bo", "join_code": "ABCDEFGHIJKLMNOP"})
    taken = ask("POST", f"{game}/players", {"name": "Bo", "join_code": opened["join_code"]})
    ask("POST", f"{game}/players", {"name": "Cleo", "join_code": opened["join_code"]})
    tokens[1] = taken["token"]
    for method, path in (("GET", game), ("GET", f"{game}/moves"), ("GET", f"{game}/score"), ("POST", f"{game}/moves")):
        ask(method, path, {"action": "pass"} if method == "POST" else None, "seat_that_opens_nothing")
    for path in ("", "/moves", "/score", "/events", "/fairness", "/record"):
        ask("GET", f"/v1/games/{'A' * 22}{path}")
    ask("POST", f"{game}/players", {"join_code": opened["join_code"]})
    _play(session, game, tokens)
    return session.examples


def _play(session: _Session, game: str, tokens: dict[int, str]) -> None:
    view = session.ask("GET", game, token=tokens[0])
    for _ in range(MAX_MOVES):
        if view["status"] == "finished":
            break
        seat = view["turn"]["seat"] if "turn" in view else 0
        legal = session.ask("GET", f"{game}/moves", token=tokens[seat])["moves"]
        view = session.ask("POST", f"{game}/moves", legal[0], tokens[seat])
        if view["version"] > 9 and view["legal_moves"]:
            session.ask("POST", f"{game}/moves", {"action": "flip"}, tokens[seat])
            session.ask("POST", f"{game}/moves", {**legal[0], "version": 3}, tokens[seat])
            session.ask("POST", f"{game}/moves", {"action": "play"}, tokens[seat])
    session.ask("GET", f"{game}/events?after=2&limit=4", token=tokens[0])
    session.ask("POST", f"{game}/players/0/token", token=tokens[0])
    session.ask("GET", f"{game}/score")
    session.ask("GET", f"{game}/fairness")
    session.ask("GET", f"{game}/record", Accept="application/json")
    record = session.text(f"{game}/record")
    session.ask("POST", "/v1/verifications", {"record": record})
    session.ask("POST", "/v1/verifications", {"record": record.replace("\n", "\r\n")})
