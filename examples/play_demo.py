"""Play one match of each game with random legal moves: ``make demo``; ``make demo ARGS=fido`` prints one in full.

With ``--bots`` computer players play, and the matches are only followed: ``make demo ARGS="fido --bots expert"``. Uses
the service over HTTP like any client, and posts back legal moves as they are listed; it does not import the
engine. It uses the service that runs at ``HOST`` and ``PORT``, or starts one on a free port, with its games in a
temporary folder.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia")
_PREFERRED_SEATS = 4
_WAIT = 20
_TIMEOUT = _WAIT + 10
"""Seconds that the service may hold back an answer for something to happen, and that an answer may take."""
_PATIENCE = 60
"""Seconds in which computer players must have moved."""
_WIDTH = 80


class Client:
    """A client of the service at ``url``. Its methods raise ``OSError`` if the request fails."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str, token: str | None = None) -> Any:
        """Send a GET request; returns the body of the response, parsed from JSON."""
        return self._send("GET", path, None, token)

    def post(self, path: str, body: Any, token: str | None = None) -> Any:
        """Send a POST request with a JSON body; returns the body of the response, parsed from JSON."""
        return self._send("POST", path, body, token)

    def _send(self, method: str, path: str, body: Any, token: str | None) -> Any:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 # our own address
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:  # noqa: S310 # as above
            return json.load(response)


def main(argv: Sequence[str]) -> int:
    """Play all variants and print their results, or one and print its moves; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python examples/play_demo.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", default="demo", help="seed of the deals and of the choice of moves (default: demo)")
    parser.add_argument(
        "--bots",
        metavar="LEVEL",
        help="have computer players of this level play (default: greedy)",
        nargs="?",
        const="greedy",
    )
    parser.add_argument("variant", nargs="?", help="play only this one, and print every move")
    arguments = parser.parse_args(argv)
    with _service(os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")) as url:
        client = Client(url)
        listed = client.get("/v1/variants")
        variants = {variant["id"]: variant for variant in listed["variants"]}
        levels = [level["id"] for level in listed["bots"]]
        if arguments.bots is not None and arguments.bots not in levels:
            parser.error(f"there is no level {arguments.bots!r}; the levels are {', '.join(levels)}")
        if arguments.variant is not None:
            if arguments.variant not in variants:
                parser.error(f"there is no {arguments.variant!r}; the variants are {', '.join(variants)}")
            play_match(client, variants[arguments.variant], arguments, show_moves=True)
            return 0
        for variant in variants.values():
            play_match(client, variant, arguments, show_moves=False)
        one = next(reversed(variants))
        more = one if arguments.bots is None else f'"{one} --bots {arguments.bots}"'
        print(f"\nOne of them move by move: make demo ARGS={more}")
    return 0


def play_match(client: Client, variant: dict[str, Any], arguments: argparse.Namespace, *, show_moves: bool) -> None:
    """Create a game of this variant, play it to the end with random legal moves or by bots, and print the result."""
    show = _print_wrapped if show_moves else _print_nothing
    choices = random.Random(arguments.seed)  # noqa: S311 # reproducible on purpose
    seats = min(max(variant["players"]["min"], _PREFERRED_SEATS), variant["players"]["max"])
    players = [{"name": name} if arguments.bots is None else {"bot": arguments.bots} for name in _NAMES[:seats]]
    wanted = {"variant": variant["id"], "players": players, "seed": arguments.seed, "auto": True}
    created = client.post("/v1/games", wanted)
    tokens = [seat["token"] for seat in created["seats"]]
    path = f"/v1/games/{created['game']['id']}"
    view = created["game"]
    names = [player["name"] for player in view["players"]]
    show(f"\n═══ {variant['name']} ═══")
    show(f"    {variant['summary']}")
    show(f"    {', '.join(names)}")
    show(f"    House rules: {', '.join([f'{option} {value}' for option, value in view['options'].items()])}")
    printed = 0
    moved = time.monotonic()
    while True:
        if show_moves:
            printed = _print_events(client, f"{path}/events", printed, names)
        if view["status"] == "finished":
            break
        if not tokens:
            version = view["version"]
            view = client.get(f"{path}?after={version}&wait={_WAIT}")
            if view["version"] != version:
                moved = time.monotonic()
            elif time.monotonic() - moved > _PATIENCE:
                raise SystemExit("The computer players do not move. Does a bot worker run (BOT_WORKERS)?")
            continue
        seat = view["turn"]["seat"] if "turn" in view else _first_seat_in_match(view)
        moves = client.get(f"{path}/moves", tokens[seat])["legal_moves"]
        view = client.post(f"{path}/moves", choices.choice(moves), tokens[seat])
    card = client.get(f"{path}/score")
    standings = ", ".join(f"{each['rank']}. {each['name']} {each['total']}" for each in card["standings"])
    winners = " and ".join(names[seat] for seat in card["winners"])
    rounds = f"{len(card['rounds'])} round{'' if len(card['rounds']) == 1 else 's'}"
    if not show_moves:
        totals = ", ".join(str(each["total"]) for each in card["standings"])
        _print_wrapped(f"{variant['name']}: won by {winners} after {rounds}, {totals}")
        return
    show("")
    show("  Final standings")
    show(f"    {standings}")
    for payment in card.get("settlement", {}).get("payments", ()):
        show(f"    {names[payment['from']]} pays {names[payment['to']]} {payment['exact']}")
    print(f"    Won by {winners} after {rounds}, at version {card['version']}")


def _print_wrapped(line: str) -> None:
    """Print a line that is indented by four, and what is left of it on further lines."""
    print(textwrap.fill(line, _WIDTH, subsequent_indent=" " * 6))


def _print_nothing(_line: str) -> None:
    pass


def _print_events(client: Client, path: str, version: int, names: Sequence[str]) -> int:
    """Print what has happened after this version, in the words of the service; returns the version after it."""
    more = True
    while more:
        page = client.get(f"{path}?after={version}&text=true")
        for event in page["events"]:
            blank = "\n" if event["type"] == "dealt" else ""
            print(blank, end="")
            _print_wrapped(f"    {event['text']}")
            width = max(map(len, names))
            for line in event["data"].get("lines", ()):
                _print_wrapped(
                    f"       {names[line['seat']]:{width}} {line['points']:+6}  {line['text']}  (rules {line['rule']})"
                )
        version, more = page["version"], page["more"]
    return int(version)


def _first_seat_in_match(view: dict[str, Any]) -> int:
    seat: int = next(player["seat"] for player in view["players"] if player["active"])
    return seat


@contextmanager
def _service(host: str, port: str) -> Iterator[str]:
    """Yield the URL of the running service, or of one started for the demo."""
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 # compared, not bound
    running = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if _answers(running):
        print(f"Playing on {running}")
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="domino-demo-") as folder:
        inherited = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
        environ = {**inherited, "HOST": "127.0.0.1", "PORT": "0", "DATA_DIR": folder, "LOG_LEVEL": "error"}
        process = subprocess.Popen(
            [sys.executable, "-m", "service", "serve"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            match = re.search(r"http://\S+:\d+", process.stdout.readline())
            if match is None:
                raise SystemExit("The service could not be started; run `make run` to see why.")
            print(f"No service at {running}; playing on one started for the demo at {match[0]}")
            yield match[0]
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _answers(url: str) -> bool:
    try:
        return bool(Client(url).get("/healthz")["status"] == "ok")
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
