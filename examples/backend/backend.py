"""A backend in Flask and SQLite: users, their games, push notifications, deletion. See README.md beside this file.

It has the accounts. The domino service has the games, and knows a user by a ``ref`` alone.
"""

import os
import sqlite3
from typing import Any, Final
from uuid import uuid4

import click
import httpx
from flask import Flask, abort, g, request
from standardwebhooks import Webhook, WebhookVerificationError

DATA: Final = os.environ.get("BACKEND_DATA", "backend.sqlite")
EVENTS: Final = ["game.turn", "game.round_over", "game.finished", "game.deleted", "webhook.ping"]

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
        CREATE TABLE IF NOT EXISTS secrets (secret TEXT);""")


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
    sql("INSERT INTO secrets VALUES (?)", made["secret"])


def signed_in() -> str:
    """The user of the device that sends the request."""
    found = sql("SELECT id FROM users WHERE device = ?", request.headers.get("X-Device")).fetchone() or abort(401)
    return str(found[0])


@app.post("/users")
def create_user() -> Any:
    """Create a user. The id of the device is the password."""
    user, device = f"user-{uuid4()}", str(uuid4())
    sql("INSERT INTO users VALUES (?, ?, ?)", user, request.get_json()["name"], device)
    return {"user": user, "device": device}, 201


@app.post("/games")
def start_game() -> Any:
    """Start a game with another user."""
    users, wanted = (signed_in(), request.get_json()["with"]), request.get_json()
    names = [sql("SELECT name FROM users WHERE id = ?", each).fetchone() or abort(404) for each in users]
    players = [{"name": name, "ref": user} for user, (name,) in zip(users, names, strict=True)]
    body = {"variant": "domino", "rules": wanted.get("rules", {}), "players": players}
    # A request that the app sends again, with the same key, gets the same game.
    key = request.headers.get("Idempotency-Key", str(uuid4()))
    answer = domino.post("/v1/games", json=body, headers={"Idempotency-Key": key})
    if answer.is_error:
        return answer.json(), answer.status_code
    made = answer.json()
    for user, seat in zip(users, made["seats"], strict=True):
        sql("INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?)", made["game"]["id"], user, seat["seat"], seat["token"])
    return {"game": made["game"]["id"]}, 201


@app.get("/games")
def list_games() -> Any:
    """The games of the user, the newest first; with ``to_act=true`` those that wait for the user."""
    query = {"player_ref": signed_in(), "to_act": request.args.get("to_act", "false")}
    return domino.get("/v1/games", params=query).raise_for_status().json()


@app.post("/games/<game>/seat")
def give_seat(game: str) -> Any:
    """What the user's app plays with; with ``?new=true`` another token, after a phone was lost."""
    user = signed_in()
    known = sql("SELECT seat, token FROM seats WHERE game = ? AND user = ?", game, user).fetchone()
    if known is None or "new" in request.args:  # also in a rematch, which players begin without this backend
        players = domino.get(f"/v1/games/{game}").json().get("players", ())
        seat = next((each["seat"] for each in players if each.get("ref") == user), None)
        if seat is None:
            abort(404)
        made = domino.post(f"/v1/games/{game}/players/{seat}/token").raise_for_status().json()
        known = seat, made["token"]
        sql("INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?)", game, user, *known)
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
        push(data, "The match is over.", data["players"])
    if kind == "game.deleted":
        forget(data["game"])
    return "", 204


def verified() -> Any:
    """The message of the request; 401 if no known secret has signed it, or it is older than five minutes."""
    for (secret,) in sql("SELECT secret FROM secrets").fetchall():
        try:
            return Webhook(secret).verify(request.get_data(), dict(request.headers))
        except WebhookVerificationError:
            continue
    return abort(401)


def push(data: dict[str, Any], text: str, players: list[dict[str, Any]]) -> None:
    """Send push notifications. Here they are printed, and kept for the app to ask for."""
    for each in players:
        for (device,) in sql("SELECT device FROM users WHERE id = ?", each.get("ref")).fetchall():
            print(f"push to {device}: {text}", flush=True)
            sql("INSERT INTO pushes VALUES (?, ?, ?, ?)", device, text, data["game"], data["version"])


@app.get("/pushes")
def list_pushes() -> Any:
    """The push notifications that the user's device got."""
    found = sql("SELECT text, game, version FROM pushes JOIN users USING (device) WHERE id = ?", signed_in())
    return [{"text": text, "game": game, "version": version} for text, game, version in found]


@app.delete("/users/me")
def delete_user() -> Any:
    """Delete the user with all their games, here and at the service."""
    user = signed_in()
    games = {game for (game,) in sql("SELECT game FROM seats WHERE user = ?", user)}
    query = {"player_ref": user, "limit": "200"}
    while query:
        page = domino.get("/v1/games", params=query).raise_for_status().json()
        games |= {each["id"] for each in page["games"]}
        query = {**query, "cursor": page["next"]} if "next" in page else {}
    for game in games:
        answer = domino.delete(f"/v1/games/{game}")
        if answer.status_code not in (404, 410):  # it has expired, or is deleted already
            answer.raise_for_status()
    for game in games:
        forget(game)
    sql("DELETE FROM pushes WHERE device = (SELECT device FROM users WHERE id = ?)", user)
    sql("DELETE FROM users WHERE id = ?", user)
    return "", 204


def forget(game: str) -> None:
    """Forget what is stored here of a game."""
    sql("DELETE FROM seats WHERE game = ?", game)
    sql("DELETE FROM pushes WHERE game = ?", game)
