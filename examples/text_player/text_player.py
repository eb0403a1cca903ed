"""Play any game of the service in a terminal, with sentences only: ``python text_player.py --help``.

It knows no rule: the service tells what has happened, in whole sentences, and lists the legal moves. Nothing but
Python's standard library is needed. One line is printed after another, and nothing is ever redrawn, so that a screen
reader can follow.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "you": "You may:",
        "ask": "Number, tile or word (help for more): ",
        "what": "I do not understand that.",
        "help": "A number or a tile makes a move; enter alone makes the first. "
        "hand: your tiles. ends: the open ends. score: the points. again: the last sentences. quit: go on later.",
        "hand": "Your tiles: {}.",
        "ends": "Open ends: {}.",
        "none": "none",
        "score": "Points: {}.",
        "over": "The match is over. {}",
        "won": "Winners: {}.",
        "left": "Go on with: python text_player.py --resume",
        "wait": "The others join with the code {}, for example: python text_player.py --join {} --code {}",
        "lost": "No answer from the service; trying again.",
        "play": "lay {}",
        "at": "{} ({})",
        "down": "{}, face down",
        "outer": "{}, {} outside",
        "points": "{}, for {} points",
        "draw": "draw a tile",
        "pass": "pass",
        "done": "end your turn",
        "flip": "turn the lead over",
        "deal": "deal the next round",
        "end_left": "left",
        "end_right": "right",
    },
    "de": {
        "you": "Du kannst:",
        "ask": "Nummer, Stein oder Wort (help hilft weiter): ",
        "what": "Das verstehe ich nicht.",
        "help": "Eine Nummer oder ein Stein macht einen Zug; Enter allein macht den ersten. "
        "hand: deine Steine. ends: die offenen Enden. score: die Punkte. again: die letzten Sätze. "
        "quit: später weiter.",
        "hand": "Deine Steine: {}.",
        "ends": "Offene Enden: {}.",
        "none": "keine",
        "score": "Punkte: {}.",
        "over": "Die Partie ist zu Ende. {}",
        "won": "Gewonnen: {}.",
        "left": "Weiter geht es mit: python text_player.py --resume",
        "wait": "Die anderen kommen mit dem Code {} dazu, zum Beispiel: python text_player.py --join {} --code {}",
        "lost": "Keine Antwort vom Dienst; neuer Versuch.",
        "play": "{} anlegen",
        "at": "{} ({})",
        "down": "{}, verdeckt",
        "outer": "{}, {} außen",
        "points": "{}, für {} Punkte",
        "draw": "einen Stein ziehen",
        "pass": "passen",
        "done": "den Zug beenden",
        "flip": "den ersten Stein umdrehen",
        "deal": "die nächste Runde geben",
        "end_left": "links",
        "end_right": "rechts",
    },
    "es": {
        "you": "Puedes:",
        "ask": "Número, ficha o palabra (help para más): ",
        "what": "No lo entiendo.",
        "help": "Un número o una ficha hace una jugada; intro sola hace la primera. "
        "hand: tus fichas. ends: los extremos abiertos. score: los puntos. again: las últimas frases. "
        "quit: seguir luego.",
        "hand": "Tus fichas: {}.",
        "ends": "Extremos abiertos: {}.",
        "none": "ninguno",
        "score": "Puntos: {}.",
        "over": "La partida ha terminado. {}",
        "won": "Ganan: {}.",
        "left": "Sigue con: python text_player.py --resume",
        "wait": "Los demás se unen con el código {}, por ejemplo: python text_player.py --join {} --code {}",
        "lost": "El servicio no responde; otro intento.",
        "play": "poner {}",
        "at": "{} ({})",
        "down": "{}, boca abajo",
        "outer": "{}, {} por fuera",
        "points": "{}, por {} puntos",
        "draw": "robar una ficha",
        "pass": "pasar",
        "done": "terminar tu turno",
        "flip": "voltear la salida",
        "deal": "repartir la ronda siguiente",
        "end_left": "izquierda",
        "end_right": "derecha",
    },
}
Json = dict[str, Any]


class Refused(Exception):
    """The service refuses a request, and says why."""


class Service:
    """The requests to the service; each is sent again while there is no answer."""

    def __init__(self, url: str, language: str, words: dict[str, str]) -> None:
        self.url = url.rstrip("/")
        self.language = language
        self.words = words
        self.token = ""

    def ask(self, path: str, body: Json | None = None) -> Json:
        """Return the answer as JSON. Raises ``Refused``."""
        headers = {"Accept": "application/json", "Accept-Language": self.language}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers |= {"Content-Type": "application/json", "Idempotency-Key": os.urandom(12).hex()}
        request = urllib.request.Request(self.url + path, data, headers)  # noqa: S310 # the address is the user's
        for pause in (1, 2, 4, 8, 16, None):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                    result: Json = json.load(answer)
                    return result
            except urllib.error.HTTPError as error:
                if error.code not in (429, 502, 503, 504) or pause is None:
                    raise Refused(_reason(error)) from None
                time.sleep(min(float(error.headers.get("Retry-After", pause)), 60))
            except OSError as error:
                if pause is None:
                    raise Refused(str(error)) from None
                print(self.words["lost"])
                time.sleep(pause)
        raise AssertionError


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError):
        return f"{error.code} {error.reason}"


class Player:
    """One seat of one game, at the terminal."""

    def __init__(self, service: Service, game: str, seat: int) -> None:
        self.service = service
        self.words = service.words
        self.game = game
        self.seat = seat
        self.seen = 0
        self.last: list[str] = []

    def play(self) -> None:
        """Play until the match is over, or the input is."""
        while True:
            view = self.tell()
            if view["status"] == "finished":
                names = [view["players"][seat].get("name", "") for seat in view["winners"]]
                print(self.words["over"].format(self.words["won"].format(", ".join(names))))
                print(self.score(view))
                return
            if self.seat in view["to_act"]:
                move = self.choose(view)
                if move is None:
                    print(self.words["left"])
                    return
                try:
                    self.service.ask(f"/v1/games/{self.game}/moves", move)
                except Refused as refused:
                    print(refused)
            else:
                self.wait()

    def tell(self) -> Json:
        """Print what has happened since, and return how the game stands."""
        told: list[str] = []
        view: Json = {"version": self.seen + 1}
        while view["version"] > self.seen:
            page = self.service.ask(f"/v1/games/{self.game}/events?text=true&after={self.seen}")
            told += [event["text"] for event in page["events"] if event.get("text")]
            self.seen = page["events"][-1]["version"] if page["events"] else page["version"]
            view = self.service.ask(f"/v1/games/{self.game}?text=true")
        if told:
            self.last = told if told[-1] == view["text"] else [*told, view["text"]]
            print("\n".join(self.last), flush=True)
        return view

    def wait(self) -> None:
        """Wait until something happens."""
        self.service.ask(f"/v1/games/{self.game}/events?after={self.seen}&wait=25")

    def choose(self, view: Json) -> Json | None:
        """Return the move that the player wants; ``None`` at the end of the input."""
        moves: list[Json] = view["legal_moves"]
        print(self.words["you"])
        for number, move in enumerate(moves, 1):
            print(f"{number}: {self.say(move)}")
        answers: dict[str, Callable[[], str]] = {
            "help": lambda: self.words["help"],
            "hand": lambda: self.words["hand"].format(", ".join(view["you"]["hand"])),
            "ends": lambda: self.words["ends"].format(self.ends(view)),
            "score": lambda: self.score(view),
            "again": lambda: "\n".join(self.last),
        }
        while True:
            print(self.words["ask"], end="", flush=True)
            line = sys.stdin.readline()
            if not line or line.strip().lower() == "quit":
                print()
                return None
            wanted = line.strip().lower()
            if wanted in answers:
                print(answers[wanted]())
                continue
            found = self.meant(wanted, moves)
            if found is not None:
                return found
            print(self.words["what"])

    def meant(self, wanted: str, moves: list[Json]) -> Json | None:
        """Return the move that was typed.

        Its number, its word, or its tile, with an end where it has several places.
        """
        if not wanted:
            return moves[0]
        if wanted.isdecimal():
            return moves[int(wanted) - 1] if 0 < int(wanted) <= len(moves) else None
        for move in moves:
            if wanted in (move["action"], self.say(move).lower()):
                return move
        tile, *place = wanted.split()
        halves = re.findall(r"\d+", tile)
        fitting = [
            move
            for move in moves
            if sorted(re.findall(r"\d+", move.get("tile", ""))) == sorted(halves)
            and halves
            and (not place or place[0] in (move.get("end"), self.words.get(f"end_{move.get('end')}")))
        ]
        return fitting[0] if len(fitting) == 1 else None

    def say(self, move: Json) -> str:
        """Return a move in words."""
        if move["action"] != "play":
            return self.words[move["action"]]
        said = self.words["play"].format(move["tile"])
        if "end" in move:
            said = self.words["at"].format(said, self.words.get(f"end_{move['end']}", move["end"]))
        if move.get("face_down"):
            said = self.words["down"].format(said)
        if "outer" in move:
            said = self.words["outer"].format(said, move["outer"])
        if move.get("points"):
            said = self.words["points"].format(said, move["points"])
        return said

    def ends(self, view: Json) -> str:
        """Return the numbers of the open ends, each with its name."""
        ends = [each for each in view["board"]["ends"] if each["state"] == "open"]
        named = [f"{each['number']} ({self.words.get('end_' + each['id'], each['id'])})" for each in ends]
        return ", ".join(named) or self.words["none"]

    def score(self, view: Json) -> str:
        """Return the points of each player."""
        return self.words["score"].format(
            ", ".join([f"{each.get('name', '?')} {each['total']}" for each in view["players"]])
        )


def begin(service: Service, options: argparse.Namespace) -> tuple[str, int]:
    """Return the game and the seat to play: resumed, joined, or of a new game."""
    kept = Path(options.session)
    if options.resume:
        saved = json.loads(kept.read_text("utf-8"))
        service.url, service.token = saved["url"], saved["token"]
        return saved["game"], saved["seat"]
    if options.join:
        link = re.search(r"/join/([^/]+)/([^/]+)$", options.join)
        game, code = (link[1], link[2]) if link else (options.join, options.code)
        joined = service.ask(f"/v1/games/{game}/players", {"name": options.name, "join_code": code})
        seat, token = joined["seat"], joined["token"]
    else:
        low = service.ask(f"/v1/variants/{options.game}")["players"]["min"]
        count = options.players or max(low, 1 + options.open)
        others: list[Json] = [{"open": True}] * options.open
        others += [{"bot": options.level} for _ in range(count - 1 - options.open)]
        wanted = {"variant": options.game, "players": [{"name": options.name}, *others], "pace": options.pace}
        made = service.ask("/v1/games", {key: value for key, value in wanted.items() if value is not None})
        game, (mine, *_) = made["game"]["id"], made["seats"]
        seat, token = mine["seat"], mine["token"]
        if options.open:
            print(service.words["wait"].format(made["join_code"], game, made["join_code"]))
    service.token = token
    kept.touch(mode=0o600)
    kept.write_text(json.dumps({"url": service.url, "game": game, "seat": seat, "token": token}), "utf-8")
    return game, seat


def main() -> int:
    """Play; returns the exit status."""
    parser = argparse.ArgumentParser(description="Play dominoes with sentences only.")
    parser.add_argument("game", nargs="?", default="domino", help="which game, as the service lists them (domino)")
    parser.add_argument("--server", default="http://127.0.0.1:8000", help="the address of the service")
    parser.add_argument("--name", default="Ada", help="your name")
    parser.add_argument("--players", type=int, help="how many play (as few as the game allows)")
    parser.add_argument("--open", type=int, default=0, help="how many seats are open for others")
    parser.add_argument("--level", default="greedy", help="of the computer players: random, greedy, expert")
    parser.add_argument("--pace", type=float, help="seconds that computer players take for a move")
    parser.add_argument("--join", metavar="GAME", help="join this game, by its id or the link of an invitation")
    parser.add_argument("--code", help="with this code")
    parser.add_argument("--resume", action="store_true", help="go on where you left")
    parser.add_argument("--session", default="domino-session.json", help="the file that keeps your seat for that")
    parser.add_argument("--language", choices=sorted(WORDS), default="en", help="of the sentences")
    options = parser.parse_args()
    service = Service(options.server, options.language, WORDS[options.language])
    try:
        Player(service, *begin(service, options)).play()
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    except (OSError, KeyError, ValueError) as error:
        print(f"{options.session}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{service.words['left']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
