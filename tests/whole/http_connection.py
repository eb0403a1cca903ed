"""Clients of the histories over HTTP: one connection, reopened when it breaks."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from tests.histories.clients import Gateway, Position, Response
from tests.histories.history import MoveRequest, OperationResult, Outcome

TIME_OUT = 20.0
"""Seconds until a client gives up a request."""

EXPECTED = {
    *("unauthorized", "not_your_turn", "illegal_move", "not_started", "round_over", "game_over", "seats_taken"),
    *("stale_version", "key_reused", "storage_unavailable", "outcome_unknown"),
}


class Answer(NamedTuple):
    """When a request on a game was answered, and its status; 0 for no answer."""

    at: float
    game: str
    method: str
    status: int


class Log:
    """The requests of all clients of a history; thread-safe."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.unexpected: list[str] = []
        self.answers: list[Answer] = []
        self._lock = threading.Lock()

    def answered(self, method: str, path: str, status: int, code: str) -> None:
        """A request got an answer."""
        now = time.monotonic()
        with self._lock:
            self.counted["requests"] += 1
            self.answers.append(Answer(now, _game(path), method, status))
            if status >= 500:
                self.counted[f"answered {code or status}"] += 1
            if status >= 400 and code not in EXPECTED:
                self.unexpected.append(f"{status} {code}")

    def broken(self, method: str, path: str, *, gone: bool) -> None:
        """A request got no answer; ``gone``: its connection had served before and was closed, which may happen."""
        with self._lock:
            if not gone:
                self.answers.append(Answer(time.monotonic(), _game(path), method, 0))
            self.counted["requests"] += 1
            self.counted["connections gone" if gone else "no answer"] += 1


class NoAnswer(Exception):
    """The connection could not be made, or broke."""


class HttpDoor(Gateway):
    """Asks over HTTP. Used by one thread at a time."""

    def __init__(self, url: str, log: Log) -> None:
        self._address = urlsplit(url).netloc
        self._log = log
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def create(self, variant: str, names: Sequence[str | None], key: str | None) -> Response:
        players = [{"open": True} if name is None else {"name": name} for name in names]
        result, body = self._post("/v1/games", {"variant": variant, "players": players}, None, key)
        if result.outcome is not Outcome.MADE:
            return Response(result)
        result = result._replace(game=body["game"]["id"], version=body["game"]["version"])
        return Response(result, {each["seat"]: each["token"] for each in body["seats"]}, body.get("join_code"))

    def join(self, game: str, join_code: str, name: str, key: str | None) -> Response:
        result, body = self._post(f"/v1/games/{game}/players", {"name": name, "join_code": join_code}, None, key)
        if result.outcome is not Outcome.MADE:
            return Response(result)
        return Response(result._replace(game=game, version=body["game"]["version"]), {body["seat"]: body["token"]})

    def move(self, game: str, token: str, move: MoveRequest, at: int | None, key: str | None) -> Response:
        asked = {name: value for name, value in move._asdict().items() if value not in (None, False)}
        if at is not None:
            asked["version"] = at
        result, body = self._post(f"/v1/games/{game}/moves", asked, token, key)
        return Response(
            result._replace(game=game, version=body["version"]) if result.outcome is Outcome.MADE else result
        )

    def rotate_token(self, game: str, token: str, seat: int, key: str | None) -> Response:
        result, body = self._post(f"/v1/games/{game}/players/{seat}/token", {}, token, key)
        if result.outcome is not Outcome.MADE:
            return Response(result)
        return Response(result._replace(game=game), {seat: body["token"]})

    def view(self, game: str, token: Callable[[int], str | None], seat: int) -> Position | None:
        view = self._get(game, token(seat))
        if view is not None and "turn" in view and view["turn"]["seat"] != seat:
            mover = view["turn"]["seat"]
            if token(mover) is not None:
                seat, view = mover, self._get(game, token(mover))
        if view is None:
            return None
        legal = [
            MoveRequest(move["action"], move.get("tile"), move.get("end"), move.get("face_down", False))
            for move in view["legal_moves"]
        ]
        return Position(view["version"], view["status"], seat, legal)

    def _get(self, game: str, token: str | None) -> Any:
        """The view, or ``None`` if it cannot be had now."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            status, _, body = self._send("GET", f"/v1/games/{game}", None, headers)
        except NoAnswer:
            return None
        return orjson.loads(body) if status == 200 else None

    def _post(self, path: str, value: object, token: str | None, key: str | None) -> tuple[OperationResult, Any]:
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            status, answered, body = self._send("POST", path, orjson.dumps(value), headers)
        except NoAnswer:
            return OperationResult(Outcome.UNKNOWN, "no answer"), None
        if status == 201:
            replayed = answered.get("Idempotent-Replayed") == "true"
            return OperationResult(Outcome.MADE, "", "", body, replayed), orjson.loads(body)
        code = _code(body) or str(status)
        unknown = status == 500 or code == "outcome_unknown"
        return OperationResult(Outcome.UNKNOWN if unknown else Outcome.NOT_MADE, code), None

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """The answer. A read is sent again if a connection that had served before is gone."""
        while True:
            fresh = self._connection is None
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self._address, timeout=TIME_OUT)
            try:
                self._connection.request(method, path, body, dict(headers))
                answer = self._connection.getresponse()
                data = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.close()
                gone = not fresh and not isinstance(error, TimeoutError)
                self._log.broken(method, path, gone=gone)
                if not gone or method == "POST":  # the client retries a write itself, so that it is recorded
                    raise NoAnswer from error
                continue
            if answer.will_close:
                self.close()
            status = answer.status
            self._log.answered(method, path, status, _code(data) if status >= 400 else "")
            return status, answer.headers, data


def _game(path: str) -> str:
    """The game that a request is about, if there is one."""
    return path.removeprefix("/v1/games").removeprefix("/").partition("/")[0]


def _code(body: bytes) -> str:
    try:
        return str(orjson.loads(body).get("code", ""))
    except (ValueError, AttributeError):
        return ""
