"""One match of each game, played by seats that know no rule: ``make demo``.

Talks to the service over HTTP like any client, and posts back legal moves as they are listed; so it
knows nothing of the engine. It uses the service that runs at ``HOST`` and ``PORT``, or starts
one of its own on a free port, with its games in a temporary folder.
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
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia")
_USUAL_SEATS = 4
_TIMEOUT = 10


class Client:
    """Asks the service at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str, token: str | None = None) -> Any:
        """The answer to a GET."""
        return self._ask("GET", path, None, token)

    def post(self, path: str, body: Any, token: str | None = None) -> Any:
        """The answer to a POST."""
        return self._ask("POST", path, body, token)

    def _ask(self, method: str, path: str, body: Any, token: str | None) -> Any:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 # our own address
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 # as above
            return json.load(answer)


def main(argv: Sequence[str]) -> int:
    """Play every game there is, and print what happens."""
    parser = argparse.ArgumentParser(prog="python examples/play_demo.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", default="demo", help="fixes the deals and the choices (demo)")
    parser.add_argument("--only", metavar="VARIANT", help="play this game only")
    arguments = parser.parse_args(argv)
    with _service(os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")) as url:
        client = Client(url)
        for variant in client.get("/v1/variants")["variants"]:
            if arguments.only in (None, variant["id"]):
                play_match(client, variant, arguments.seed)
    return 0


def play_match(client: Client, variant: dict[str, Any], seed: str) -> None:
    """Create a match of this game and play it to its end with legal moves taken at random."""
    choices = random.Random(seed)  # noqa: S311 # repeatable on purpose
    seats = min(max(variant["players"]["min"], _USUAL_SEATS), variant["players"]["max"])
    players = [{"name": name} for name in _NAMES[:seats]]
    opened = client.post("/v1/games", {"variant": variant["id"], "players": players, "seed": seed})
    tokens = [seat["token"] for seat in opened["seats"]]
    address = f"/v1/games/{opened['game']['id']}"
    view = opened["game"]
    print(f"\n═══ {variant['name']} ═══  {variant['summary']}")
    print(f"    {', '.join(name['name'] for name in players)}; house rules {view['rules']}")
    shown_round = 0
    while view["status"] != "finished":
        if view["status"] == "playing" and view["round"] != shown_round:
            shown_round = view["round"]
            print(f"\n  Round {shown_round}")
        seat = view["turn"]["seat"] if "turn" in view else _first_in(view)
        moves = client.get(f"{address}/moves", tokens[seat])["moves"]
        move = choices.choice(moves)
        before = view["round"] if view["status"] == "playing" else 0
        view = client.post(f"{address}/moves", move, tokens[seat])
        if move["action"] != "deal":
            print(f"    {_NAMES[seat]:5} {_spell(move)}")
        if before and view["status"] != "playing":
            _print_count(client.get(f"{address}/score")["rounds"][-1])
    card = client.get(f"{address}/score")
    print("\n  Final standings")
    for standing in card["standings"]:
        print(f"    {standing['rank']}. {standing['name']:5} {standing['total']:6}")
    for payment in card.get("settlement", {}).get("payments", ()):
        print(f"    {_NAMES[payment['from']]} pays {_NAMES[payment['to']]} {payment['exact']}")
    print(f"  Won by {' and '.join(_NAMES[seat] for seat in card['winners'])} at version {card['version']}")


def _print_count(counted: dict[str, Any]) -> None:
    winner = f"; {_NAMES[counted['winner']]} first" if "winner" in counted else ""
    print(f"    ── {counted['ended_by']}{winner}")
    for line in counted["lines"]:
        print(f"       {_NAMES[line['seat']]:5} {line['points']:+6}  {line['text']}  (rules {line['rule']})")
    if counted["carried"]:
        print(f"       {counted['carried']} carried over")


def _spell(move: dict[str, Any]) -> str:
    if move["action"] != "play":
        return str(move["action"])
    where = f" at {move['end']}" if "end" in move else ""
    points = f", sum {move['ends_sum']}: {move['points']} points" if "points" in move else ""
    return f"{move['tile']}{where}{', face down' if move['face_down'] else ''}{points}"


def _first_in(view: dict[str, Any]) -> int:
    seat: int = next(player["seat"] for player in view["players"] if player["in"])
    return seat


@contextmanager
def _service(host: str, port: str) -> Iterator[str]:
    """The address of the service that runs, or of one started for the demo."""
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 # compared, not bound
    running = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if _answers(running):
        print(f"Playing at {running}")
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
            found = re.search(r"http://\S+:\d+", process.stdout.readline())
            if found is None:
                raise SystemExit("The service could not be started; `make run` says why.")
            print(f"Nothing answers at {running}; playing at a service started for this, {found[0]}")
            yield found[0]
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
