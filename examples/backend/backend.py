"""A backend in Flask and SQLite: users, their games, push notifications, deletion. See README.md beside this file.

It has the accounts. The domino service has the games, and knows a user by a ``ref`` alone.
"""

import os
import sqlite3
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import click
import httpx
from flask import Flask, abort, g, request
from standardwebhooks import Webhook, WebhookVerificationError

DATA: Final = os.environ.get("BACKEND_DATA", "backend.sqlite")
EVENTS: Final = ["game.turn", "game.created", "game.round_over", "game.finished", "webhook.ping"]

app = Flask(__name__)
domino = httpx.Client(
    base_url=os.environ.get("DOMINO", "http://127.0.0.1:8000"),
    headers={"Authorization": f"Bearer {os.environ['DOMINO_KEY']}"},
)
with sqlite3.connect(DATA) as tables:
    tables.executescript("""
        CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, name TEXT, device TEXT UNIQUE);
        CREATE TABLE IF NOT EXISTS seats (game TEXT, user TEXT, seat INTEGER, token TEXT, PRIMARY KEY (game, user));
        CREATE TABLE IF NOT EXISTS pushes (device TEXT, text TEXT, game TEXT, version INTEGER);
        CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS webhooks (id TEXT, secret TEXT);""")
    for (webhook,) in tables.execute("SELECT id FROM webhooks"):  # what came while this backend was away, at once
        domino.patch(f"/v1/webhooks/{webhook}", json={"status": "active"}).raise_for_status()


def sql(statement: str, *values: object) -> sqlite3.Cursor:
    """Execute a statement in the transaction of this request, which is committed if the request succeeds."""
    if "database" not in g:
        g.database = sqlite3.connect(DATA, timeout=30)
    cursor: sqlite3.Cursor = g.database.execute(statement, values)
    return cursor


@app.teardown_appcontext
def end_transaction(error: BaseException | None) -> None:
    """Commit, unless there was an error."""
    if "database" in g:
        if error is None:
            g.database.commit()
        g.database.close()


@app.cli.command("register")
@click.argument("url")
def register(url: str) -> None:
    """Have the service send messages to this URL, where ``take_message`` is."""
    made = domino.post("/v1/webhooks", json={"url": url, "events": EVENTS}).raise_for_status().json()
    sql("INSERT INTO webhooks VALUES (?, ?)", made["id"], made["secret"])


def signed_in() -> dict[str, str]:
    """Return the user of the device that sends the request: a name to show, and a ref of ours."""
    found = sql("SELECT name, id FROM users WHERE device = ?", request.headers.get("X-Device")).fetchone()
    return dict(zip(("name", "ref"), found or abort(401), strict=True))


@app.post("/users")
def create_user() -> Any:
    """Create a user. The id of the device is the password."""
    user, device = f"user-{uuid4()}", str(uuid4())
    sql("INSERT INTO users VALUES (?, ?, ?)", user, request.get_json()["name"], device)
    return {"user": user, "device": device}, 201


@app.post("/games")
def start_game() -> Any:
    """Start a game. Its other seat is open to all users: the game is in the lobby."""
    user = signed_in()
    wanted = {"variant": "domino", "options": request.get_json().get("options", {}), "lobby": "app"}
    return sit_down(user, "/v1/games", {**wanted, "players": [user, {"open": True}]})


@app.get("/lobby")
def list_open_games() -> Any:
    """Return the games with an open seat, without the codes by which it could be taken under any name."""
    signed_in()
    return {"games": [each["id"] for each in domino.get("/v1/lobby").raise_for_status().json()["games"]]}


@app.post("/games/<game>/players")
def take_seat(game: str) -> Any:
    """Take the open seat of a game."""
    user = signed_in()
    return sit_down(user, f"/v1/games/{game}/players", user)


def sit_down(user: dict[str, str], path: str, body: dict[str, Any]) -> Any:
    """Ask the service for a seat. A request that the app sends again, with the same key, gets the same one."""
    key = request.headers.get("Idempotency-Key", str(uuid4()))
    answer = domino.post(path, json=body, headers={"Idempotency-Key": key})
    if answer.is_error:
        return answer.json(), answer.status_code
    made = answer.json()
    game, seat = made["game"]["id"], made["seats"][0] if "seats" in made else made
    sql("INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?)", game, user["ref"], seat["seat"], seat["token"])
    return {"game": game}, 201


@app.post("/seeks")
def find_table() -> Any:
    """Sit down with strangers, at one table for all; a minute later computer players take what is open."""
    user = signed_in()
    wanted = {"variant": "domino", "players": 4, "fill": {"after": 60, "bot": "casual"}}
    return sit_down(user, "/v1/seeks", {**wanted, **user})


@app.get("/games")
def list_games() -> Any:
    """Return the games of the user, the newest first; with ``to_act=true`` those that wait for the user."""
    return domino.get("/v1/games", params={**request.args, "player_ref": signed_in()["ref"]}).raise_for_status().json()


@app.post("/games/<game>/seat")
def give_seat(game: str) -> Any:
    """Return what the user's app plays with; with ``?new=true`` another token, after a phone was lost."""
    ref = signed_in()["ref"]
    known = sql("SELECT seat, token FROM seats WHERE game = ? AND user = ?", game, ref).fetchone()
    if known is None or "new" in request.args:  # also in a rematch, which players begin without this backend
        players = domino.get(f"/v1/games/{game}").json().get("players", ())
        seats = [each["seat"] for each in players if each.get("ref") == ref] or abort(404)
        known = seats[0], domino.post(f"/v1/games/{game}/players/{seats[0]}/token").raise_for_status().json()["token"]
        sql("INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?)", game, ref, *known)
    return {"seat": known[0], "token": known[1]}


@app.post("/hooks")
def take_message() -> Any:
    """Take a message of the service. It is remembered and acted on in one transaction: once, however often it comes."""
    message = verified()
    kind, data = message["type"], message["data"]
    if kind == "webhook.challenge":
        return str(data["challenge"])
    if sql("INSERT OR IGNORE INTO messages VALUES (?)", request.headers["webhook-id"]).rowcount == 0:
        return "", 204
    if kind == "game.turn":
        push(data, "It is your turn.", data["waiting_for"])
    if kind == "game.round_over":
        push(data, "The round is over: deal the next one.", data["waiting_for"])
    if kind == "game.finished":
        for each in data["players"]:
            push(data, "You have won." if each["seat"] in data["winners"] else "You have lost.", [each])
    if kind == "game.created":
        users = sql("SELECT user FROM seats WHERE game = ?", data["rematch_of"]).fetchall()
        push(data, "There is a rematch.", [{"ref": user} for (user,) in users])
    return "", 204


def verified() -> Any:
    """Return the message of the request; 401 if no known secret has signed it, or it is older than five minutes."""
    for (secret,) in sql("SELECT secret FROM webhooks").fetchall():
        with suppress(WebhookVerificationError):
            return Webhook(secret).verify(request.get_data(), dict(request.headers))
    return abort(401)


def push(data: dict[str, Any], text: str, players: list[dict[str, Any]]) -> None:
    """Send push notifications. Here they are printed, and kept for the app to ask for."""
    for each in players:
        for (device,) in sql("SELECT device FROM users WHERE id = ?", each.get("ref")).fetchall():
            print(f"push to {device}: {text}", flush=True)
            sql("INSERT INTO pushes VALUES (?, ?, ?, ?)", device, text, data["game_id"], data["version"])


@app.get("/pushes")
def list_pushes() -> Any:
    """Return the push notifications that the user's device got."""
    found = sql("SELECT text, game, version FROM pushes JOIN users USING (device) WHERE id = ?", signed_in()["ref"])
    return [{"text": text, "game": game, "version": version} for text, game, version in found]


@app.delete("/users/me")
def delete_user() -> Any:
    """Delete the user, here and in all games at the service, where a computer player goes on."""
    ref = signed_in()["ref"]
    domino.delete(f"/v1/players/{ref}").raise_for_status()
    sql("DELETE FROM pushes WHERE device = (SELECT device FROM users WHERE id = ?)", ref)
    sql("DELETE FROM seats WHERE user = ?", ref)
    sql("DELETE FROM users WHERE id = ?", ref)
    return "", 204
