"""A bot in Flask: told that it is its turn, it makes the first legal move. See README.md beside this file."""

import os
from typing import Any, Final

import httpx
from flask import Flask, request
from standardwebhooks import Webhook

REF: Final = os.environ.get("BOT_REF", "engine")
"""What the application calls the bot: it plays all seats with this ``ref``."""

app = Flask(__name__)
webhook = Webhook(os.environ["BOT_SECRET"])
domino = httpx.Client(
    base_url=os.environ.get("DOMINO", "http://127.0.0.1:8000"),
    headers={"Authorization": f"Bearer {os.environ['DOMINO_KEY']}"},
)
tokens: dict[tuple[str, int], str] = {}


def choose(view: dict[str, Any]) -> Any:
    """Return the move to make, one of the legal moves: replace it by something clever."""
    return view["legal_moves"][0]


@app.post("/")
def take_message() -> Any:
    """Take a message of the service, and do what it is about; one that comes again finds that done."""
    message = webhook.verify(request.get_data(), dict(request.headers))  # raises if it is not from the service
    kind, data = message["type"], message["data"]
    if kind == "webhook.challenge":
        return str(data["challenge"])
    game = f"/v1/games/{data['game_id']}"
    own = [each["seat"] for each in data["waiting_for"] if each.get("ref") == REF]
    if kind == "game.turn":
        for seat in own:
            play(game, seat)
    elif own and not people_may_deal(game, data["waiting_for"]):
        domino.post(f"{game}/moves", json={"action": "deal"}, headers=bearer(game, own[0]))  # refused if it is dealt
    return "", 204


def play(game: str, seat: int) -> None:
    """Move until it is another's turn, as a turn may have several moves."""
    headers = bearer(game, seat)
    view = domino.get(game, headers=headers).raise_for_status().json()
    while view["status"] == "playing" and view["legal_moves"]:
        view = domino.post(f"{game}/moves", json=choose(view), headers=headers).raise_for_status().json()


def people_may_deal(game: str, waiting_for: list[dict[str, Any]]) -> bool:
    """Whether a person is there to deal the next round, who may want to look at the points first."""
    players = domino.get(game).raise_for_status().json()["players"]
    others = [players[each["seat"]] for each in waiting_for if each.get("ref") != REF]
    return any([each["kind"] == "human" and not each.get("away") for each in others])


def bearer(game: str, seat: int) -> dict[str, str]:
    """Return the headers with the token of a seat: one made anew, as whoever created the game has the first one."""
    if (game, seat) not in tokens:
        tokens[game, seat] = domino.post(f"{game}/players/{seat}/token").raise_for_status().json()["token"]
    return {"Authorization": f"Bearer {tokens[game, seat]}"}
