"""The part of the session of examples in which an application owns games, and gets messages."""

from __future__ import annotations

from collections.abc import Callable

from service.backends.values import MAX_ERASURES
from service.web.http.responses import JSON
from service.web.http.streams import NDJSON, SSE
from tools.openapi.session import Session


def use_an_application(session: Session, advance_clock: Callable[[int], None], key: str) -> None:
    """List the games of an application, and make and revoke keys until there may be no more."""
    send = session.send
    for ref, seat in (("match-17", {"name": "Bo", "ref": "player-4712"}), ("match-18", {"open": True})):
        players = [{"name": "Ada", "ref": "player-4711"}, seat]
        public = {"lobby": "all"} if "open" in seat else {}
        send("POST", "/v1/games", {"variant": "domino", "players": players, "ref": ref, **public}, key)
    advance_clock(1)
    send("GET", "/v1/games?to_act=true", token=key)
    send("GET", "/v1/games?player_ref=player-4711&limit=1", token=key)
    send("GET", "/v1/players/player-4711?limit=1", token=key)
    send("GET", "/v1/players/player-4713", token=key)
    send("DELETE", "/v1/players/player 4711", token=key)
    following = send("GET", "/v1/feed?limit=2", token=key)["cursor"]
    for media_type in (SSE, NDJSON):
        session.stream(f"/v1/feed?after={following}", key, media_type)
    send("GET", "/v1/lobby?variant=dominoes")
    send("GET", "/v1/lobby?variant=domino")
    send("POST", "/v1/app/keys", {"overlap": -1}, key)
    new = send("POST", "/v1/app/keys", {"overlap": 3600}, key)
    send("GET", "/v1/app", token=key)
    # What the store allocates for the same games differs now and then.
    session.examples["getApplication", 200, JSON].response["usage"]["bytes"] = 2016
    send("DELETE", f"/v1/app/keys/{new['suffix']}", token=key)
    send("DELETE", f"/v1/app/keys/{new['suffix']}", token=key)
    players = [{"name": "Ada"}, {"name": "Bo"}]
    game = send("POST", "/v1/games", {"variant": "domino", "players": players}, key)["game"]["id"]
    for _ in range(2):
        send("DELETE", f"/v1/games/{game}", token=key)
    while "key" in send("POST", "/v1/app/keys", {}, key):
        pass
    for number in range(MAX_ERASURES + 1):
        send("DELETE", f"/v1/players/player-{number}", token=key)
    _use_webhooks(session, advance_clock, key)


def _use_webhooks(session: Session, advance_clock: Callable[[int], None], key: str) -> None:
    """Register an endpoint, change it and look at it; then register others until there may be no more."""
    send = session.send
    wanted = {"url": "https://club.example/hooks/domino", "events": ["game.turn", "game.finished"]}
    send("POST", "/v1/webhooks", wanted | {"url": "ftp://club.example/"}, key)
    once = {"Idempotency_Key": "webhook-of-2030-01-01"}
    webhook = f"/v1/webhooks/{send('POST', '/v1/webhooks', wanted, key, **once)['id']}"
    send("POST", "/v1/webhooks", wanted | {"events": ["game.turn"]}, key, **once)
    send("GET", "/v1/webhooks", token=key)
    send("GET", webhook, token=key)
    send("GET", f"{webhook}x", token=key)
    send("PATCH", webhook, {"status": "on"}, key)
    send("PATCH", webhook, {"events": ["game.turn", "game.created"]}, key)
    send("POST", f"{webhook}/secret", token=key)
    ping = send("POST", f"{webhook}/pings", {"type": "game.finished"}, key)["id"]
    while "id" in send("POST", f"{webhook}/pings", token=key):
        pass
    advance_clock(1)
    send("GET", f"{webhook}/deliveries", token=key)
    again = f"{webhook}/deliveries/{ping}/attempts"
    send("POST", again, token=key)
    for path in (again.replace("msg_", "msg-"), again):
        send("POST", path, {"type": "game.turn"} if path == again else None, key)
    while "id" in send("POST", "/v1/webhooks", wanted, key):
        pass
    send("DELETE", webhook, token=key)
