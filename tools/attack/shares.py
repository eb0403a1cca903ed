"""What one may hold: attackers who take what stays taken, and how others fare beside them.

Beyond requests in a minute, an address and an application have a share of what the service holds: bytes stored, games
that computer players go on with, look-ups under way, places in the lobby. Owns the list of these attacks, and what is
asked for others beside each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import orjson

from tools.attack import bodies
from tools.attack.attackers import ATTACKERS, Order, seek_and_go
from tools.attack.attacks import SEEK, SEEKS, guesses
from tools.attack.hosts import Hosts
from tools.attack.http import request
from tools.attack.takers import ask_side_by_side, take_all
from tools.attack.target import Refused, Target

MAX_MEMORY_MB: Final = 64
"""Of the store: an eighth of the default, so that a share of it is reached in the time."""
NAMES: Final = Path(__file__).parent / "names"
OF_BOTS: Final = 300
"""Games of nine experts, of each 150 bytes to ask for."""
_LOBBY_GAMES: Final = 400
_OUTBOX_GAMES: Final = 420
_LOOK_UPS: Final = 60
_PATIENCE_SECONDS: Final = 12.0
_LOOK_SECONDS: Final = 0.05
_PUBLISHED_SECONDS: Final = 3.0
"""Within which a lobby follows the games, mostly."""
_NUMBERS: Final = count(1)
_WITH_APPS: Final = {
    "PYTHONPATH": str(NAMES),
    "WEBHOOK_NETWORKS": "127.0.0.0/8",
    "MAX_MEMORY_MB": str(MAX_MEMORY_MB),
}


class Stage(NamedTuple):
    """Where an attack is made: the service, hosts that answer it, and the keys of two applications."""

    target: Target
    hosts: Hosts
    hostile: str
    honest: str
    marks: dict[str, str]
    """What is asked for again later, such as the id of a game in the lobby."""


class Holding(NamedTuple):
    """An attack on what is held; ``order`` is what its attackers do."""

    name: str
    order: Callable[[Stage], Order]
    others: Callable[[Stage], str] = lambda _: "–"
    """What others get, in words; asked in calm and when the attackers have taken what they want."""
    asks_meanwhile: bool = False
    """Whether what they take is free again afterwards, so that others are asked before."""
    holds_seconds: float = 0.0
    """For so long others are observed after the attackers have ended, as what they took stays taken."""
    fills: bool = False
    """Whether what is stored in a day is of interest."""
    has_named_store: bool = False
    """Whether the store has a host name, and its connections are cut once."""

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the service that differ from the default."""
        return _WITH_APPS


def holdings() -> tuple[Holding, ...]:
    """Return all of these attacks."""
    hundred = [bodies.hundred_deals(each) for each in range(4)]
    return (
        Holding("storage: long names and seeds", lambda _: _filling([_long_names(9)]), _create_a_game, fills=True),
        Holding("storage: a hundred deals", lambda _: _filling(hundred), _create_a_game, fills=True),
        Holding("bots: games of nine experts", lambda _: _once([_NINE_EXPERTS] * OF_BOTS), holds_seconds=20.0),
        Holding("look-ups: names that hang", _hanging_names, _register_endpoint, asks_meanwhile=True),
        Holding("look-ups: the store has a name", _hanging_names, asks_meanwhile=True, has_named_store=True),
        Holding("lobby: public games", _public_games, _in_the_lobby),
        Holding(
            "strangers: seats left again", lambda _: Order(seek_and_go, [SEEKS]), _seek_a_table, asks_meanwhile=True
        ),
        Holding("strangers: codes guessed", lambda _: guesses(), _join_by_code, asks_meanwhile=True),
        Holding("outbox: games of bots", _games_of_bots, _message_delay, holds_seconds=5.0),
    )


# ── What the attackers do ────────────────────────────────────────────────────────────────────────────────────────────

_NINE_EXPERTS: Final = orjson.dumps(
    {"variant": "fido", "options": {"set": 18, "rounds": 100}, "pace": 0, "players": [{"bot": "expert"}] * 9}
)


def _long_names(seats: int) -> bytes:
    """Return a game whose request is small and which takes as much as it can of the store: characters of four bytes."""
    names = [chr(0x1F300 + number) * 40 for number in range(seats - 1)]
    people = [{"name": name, "client_seed": name[0] * 60} for name in names]
    wanted = {"variant": "fido", "options": {"set": 18, "rounds": 100}, "players": [*people, {"bot": "random"}]}
    return orjson.dumps(wanted)


def _creates(wanted: list[bytes], key: str | None = None) -> list[bytes]:
    return [request("POST", "/v1/games", body, token=key) for body in wanted]


def _filling(wanted: list[bytes]) -> Order:
    """Create these games until a limit is reached."""
    return Order(take_all, [_creates(wanted)], [{"again": True}])


def _once(wanted: list[bytes], key: str | None = None) -> Order:
    """Create each of these games once, by all attackers together."""
    made = _creates(wanted, key)
    return Order(take_all, [made[number::ATTACKERS] for number in range(ATTACKERS)])


def _hanging_names(stage: Stage) -> Order:
    wanted = [
        {"url": f"https://x{number}.hangs.example/", "events": ["game.turn"]} for number in range(100 * _LOOK_UPS)
    ]
    made = [request("POST", "/v1/webhooks", orjson.dumps(each), token=stage.hostile) for each in wanted]
    shares = [made[number::ATTACKERS] for number in range(ATTACKERS)]
    return Order(ask_side_by_side, shares, [{"connections": _LOOK_UPS // ATTACKERS}])


def _public_game(name: str) -> dict[str, Any]:
    return {"variant": "domino", "lobby": "all", "players": [{"name": name}, {"open": True}]}


def _public_games(stage: Stage) -> Order:
    return _once([orjson.dumps(_public_game("Evil"))] * _LOBBY_GAMES, stage.hostile)


def _games_of_bots(stage: Stage) -> Order:
    wanted = {"variant": "fido", "options": {"rounds": 20}, "pace": 0, "players": [{"bot": "random"}] * 4}
    return _once([orjson.dumps(wanted)] * _OUTBOX_GAMES, stage.hostile)


# ── What others get beside them ──────────────────────────────────────────────────────────────────────────────────────


def _create_a_game(stage: Stage) -> str:
    """Return the status of a new game."""
    return str(stage.target.ask("POST", "/v1/games", {"variant": "domino", "players": list(bodies.PLAYERS)}).status)


def _register_endpoint(stage: Stage) -> str:
    """Return the statuses of three new endpoints, and the longest time of an answer."""
    statuses, longest = [], 0.0
    for _ in range(3):
        url = stage.hosts.url("127.0.4.1", f"/fast/{next(_NUMBERS)}")
        began = time.perf_counter()
        answer = stage.target.ask("POST", "/v1/webhooks", {"url": url, "events": ["game.turn"]}, stage.honest)
        longest = max(longest, time.perf_counter() - began)
        statuses.append(str(answer.status))
        if answer.status == 201:
            stage.target.ask("DELETE", f"/v1/webhooks/{orjson.loads(answer.body)['id']}", token=stage.honest)
    return f"{' '.join(statuses)}, {longest:.2f} s"


def _seek_a_table(stage: Stage) -> str:
    """Return the seconds from the call of a stranger to the first deal, of computer players if nobody else comes."""
    began = time.perf_counter()
    answer = stage.target.ask("POST", "/v1/seeks", {**SEEK, "name": "Ada"})
    if answer.status != 201:
        return str(answer.status)
    sat = orjson.loads(answer.body)
    _await(lambda: _view(stage, f"/v1/games/{sat['game']['id']}", sat["token"])["status"] != "waiting")
    return f"dealt after {time.perf_counter() - began:.1f} s"


def _join_by_code(stage: Stage) -> str:
    """Return the status of who joins by a code alone."""
    code = stage.target.create({"variant": "domino", "players": [{"name": "Good"}, {"open": True}]}).join_code
    return str(stage.target.ask("POST", "/v1/seats", {"name": "Bo", "join_code": code}).status)


def _in_the_lobby(stage: Stage) -> str:
    """Return whether another application's public game is in the lobby; when asked again, whether it still is."""
    if "lobby" not in stage.marks:
        game = stage.marks["lobby"] = stage.target.create(_public_game("Good"), stage.honest).id
        _await(lambda: game.encode() in stage.target.ask("GET", "/v1/lobby").body)
    else:
        time.sleep(_PUBLISHED_SECONDS)
    return "shown" if stage.marks["lobby"].encode() in stage.target.ask("GET", "/v1/lobby").body else "not shown"


def _message_delay(stage: Stage, wanted: int = 4) -> str:
    """Return the median and the longest time from a move to the message on it."""
    path = f"/fast/turns-{next(_NUMBERS)}"
    wish = {"url": stage.hosts.url("127.0.4.1", path), "events": ["game.turn"]}
    endpoint = orjson.loads(stage.target.ask("POST", "/v1/webhooks", wish, stage.honest).body)["id"]
    _await(lambda: stage.hosts.asked[path] > 0)  # the challenge
    table = stage.target.create({"variant": "block", "players": list(bodies.PLAYERS)}, stage.honest)
    times = []
    _await(lambda: stage.hosts.asked[path] > 1)
    for _ in range(wanted):
        seat = _view(stage, table.path, table.tokens[0])["to_act"][0]
        view = _view(stage, table.path, table.tokens[seat])
        before, began = stage.hosts.asked[path], time.perf_counter()
        _post_move(stage, table.path, view["legal_moves"][0], table.tokens[seat])
        _await(partial(_is_more, stage.hosts, path, before))
        times.append(time.perf_counter() - began)
    stage.target.ask("DELETE", f"/v1/webhooks/{endpoint}", token=stage.honest)
    return f"{median(times):.2f}, {max(times):.2f} s"


def _is_more(hosts: Hosts, path: str, before: int) -> bool:
    return hosts.asked[path] > before


def _await(condition: Callable[[], bool]) -> None:
    """Wait for it, for a while."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while not condition() and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)


def _view(stage: Stage, path: str, token: str) -> dict[str, Any]:
    answer = stage.target.ask("GET", path, token=token)
    if answer.status != 200:
        raise Refused(f"{answer.status} {answer.body[:200]!r}")
    view: dict[str, Any] = orjson.loads(answer.body)
    return view


def _post_move(stage: Stage, path: str, move: dict[str, Any], token: str) -> None:
    answer = stage.target.ask("POST", f"{path}/moves", move, token)
    if answer.status != 201:
        raise Refused(f"{answer.status} {answer.body[:200]!r}")


def others_of(holding: Holding, stage: Stage) -> str:
    """Return what others get now, in words."""
    with suppress(KeyError, IndexError):  # a game that has ended, an endpoint that was refused
        try:
            return holding.others(stage)
        except Refused as refusal:
            return str(refusal)[:60]
    return "cannot be asked"
