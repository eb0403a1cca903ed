"""The attacks: the name of each, and the requests of its attackers.

Owns the list. An attack is prepared on the running service, where it may create games, and is then carried out by
``tools.attack.attackers``.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, islice, product
from typing import Any, Final, NamedTuple

import orjson

from tools.attack import bodies
from tools.attack.attackers import (
    ATTACKERS,
    Order,
    change_tokens,
    drip,
    hold_and_hang_up,
    pour,
    seek_and_go,
    send_in_turn,
    wait,
)
from tools.attack.http import request
from tools.attack.target import Refused, Target

_TWO: Final = {"variant": "domino", "players": list(bodies.PLAYERS)}
_OPEN: Final = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
_NOWHERE: Final = "/v1/games/AAAAAAAAAAAAAAAAAAAAAAAA"
_KEYS: Final = count(1)
SEEK: Final = {"variant": "domino", "players": 4, "fill": {"after": 2, "bot": "random"}}
"""The wishes of strangers, honest and hostile ones."""
SEEKS: Final = [request("POST", "/v1/seeks", orjson.dumps({**SEEK, "name": "Eve"}))]


class Attack(NamedTuple):
    """An attack; ``prepare`` returns what its attackers do."""

    name: str
    prepare: Callable[[Target], Order]
    has_victims: bool = False
    """Whether it is aimed at the other player of its own games."""


def attacks() -> tuple[Attack, ...]:
    """Return all attacks, those that fill the store at the end."""
    same = _each_sends
    return (
        Attack("none", lambda _: Order(wait, [])),
        Attack("bodies without end", _endless_bodies),
        Attack("bodies of faults: create", lambda _: same(_creates(bodies.all_faults()))),
        Attack("bodies of unknown fields: create", lambda _: same(_creates(bodies.all_unknown()))),
        Attack("bodies of faults: join", _faulty_joins),
        Attack("bodies of faults: move, token", _faulty_seats),
        Attack("heads: Accept", partial(_heads, names=["Accept"])),
        Attack("heads: Accept-Language", partial(_heads, names=["Accept-Language"])),
        Attack("heads: If-None-Match, If-Match", partial(_heads, names=["If-None-Match", "If-Match"])),
        Attack("heads: unknown names", partial(_heads, names=["unknown"])),
        Attack("heads: slow end", _slow_heads),
        Attack("long game: record", partial(_long_reads, paths=["/record"], accept="text/plain")),
        Attack("long game: record as JSON", partial(_long_reads, paths=["/record"], accept="application/json")),
        Attack("long game: fairness", partial(_long_reads, paths=["/fairness"])),
        Attack("long game: score", partial(_long_reads, paths=["/score"])),
        Attack(
            "long game: events", partial(_long_reads, paths=["/events?limit=1000", "/events?limit=1000&after=8000"])
        ),
        Attack("long game: replay of a key", _replays),
        Attack("verify: long record", lambda _: same(_verification(bodies.long_record()))),
        Attack("verify: one line of options", lambda _: same(_verification(bodies.many_options()))),
        Attack("replay: long record", lambda _: same(_replay(bodies.long_record()))),
        Attack("metrics", lambda _: same([request("GET", path) for path in ("/metrics", "//metrics", "/%6detrics")])),
        Attack("streams, hung up", partial(_streams, accept="text/event-stream", query="")),
        Attack("long polls, hung up", partial(_streams, accept="application/json", query="?after=1000000&wait=25")),
        Attack("half-sent heads, hung up", _half_sent),
        Attack("HEAD, OPTIONS, 404", lambda _: same(_small_requests())),
        Attack("page of the documentation", lambda _: same([request("GET", "/docs/swagger-ui-bundle.js")])),
        Attack("wrong tokens", _wrong_tokens),
        Attack("illegal moves", _illegal_moves),
        Attack("changes of token by the opponent", _token_changes, has_victims=True),
        Attack("create: small games", lambda _: same(_creates([orjson.dumps(_TWO)]))),
        Attack("seeks: a table each", lambda _: same(_seeks())),
        Attack("seeks: left again", lambda _: Order(seek_and_go, [SEEKS])),
        Attack("seeks: filled at once", lambda _: Order(seek_and_go, [SEEKS], [{"fills": True}])),
        Attack("join codes: guesses", lambda _: guesses()),
        Attack("fork: long record", lambda _: same(_creates([bodies.fork(bodies.long_record())]))),
        Attack("create: a hundred deals", lambda _: same(_creates([bodies.hundred_deals(each) for each in range(4)]))),
    )


def _each_sends(requests: Sequence[bytes]) -> Order:
    """All attackers send the same requests in turn, each from another place on."""
    shift = max(1, len(requests) // ATTACKERS)
    return Order(send_in_turn, [[*requests[n * shift :], *requests[: n * shift]] for n in range(ATTACKERS)])


def _creates(made: Sequence[bytes]) -> list[bytes]:
    return [request("POST", "/v1/games", body) for body in made]


def _seeks() -> list[bytes]:
    """Seek tables no two of which are alike, so that each is opened, and looked at by nobody."""
    wishes = [{"variant": "domino", "players": 4, "name": "Eve", "options": {"limit": each}} for each in range(10, 200)]
    return [request("POST", "/v1/seeks", orjson.dumps(wish)) for wish in wishes]


def guesses() -> Order:
    """Guess join codes, each attacker others, in the form in which they are made."""
    codes = product("23456789ACDEFGHJKMNPQRTVWXY", repeat=4)
    bodies_of = [orjson.dumps({"name": "Eve", "join_code": f"K7QX{''.join(code)}"}) for code in islice(codes, 20_000)]
    made = [request("POST", "/v1/seats", body) for body in bodies_of]
    return Order(send_in_turn, [made[number::ATTACKERS] for number in range(ATTACKERS)])


def _verification(record: str) -> list[bytes]:
    return [request("POST", "/v1/verifications", record.encode(), content_type="text/plain")]


def _replay(record: str) -> list[bytes]:
    return [request("POST", "/v1/replays", record.encode(), content_type="text/plain")]


def _endless_bodies(target: Target) -> Order:
    game = target.create(_TWO)
    posts = ["/nowhere", "/v1/games", f"{game.path}/moves", "/v1/verifications"]
    start = "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{}\r\n\r\n"
    lengths = ["Content-Length: 900000000000", "Transfer-Encoding: chunked"]
    return Order(pour, [[start.format(path, length).encode() for length in lengths] for path in posts])


def _faulty_joins(target: Target) -> Order:
    game = target.create(_OPEN)
    values = bodies.large_values()
    made = [
        bodies.unknown_keys(),
        *[bodies.with_field({}, ("name",), values[name]) for name in ("[{}, …]", "27,000 keys", "a long string")],
        bodies.with_field({"name": "Bo"}, ("join_code",), values["a long string"]),
    ]
    return _each_sends([request("POST", f"{game.path}/players", body) for body in made])


def _faulty_seats(target: Target) -> Order:
    orders = []
    for _ in range(ATTACKERS):
        game = target.create(_TWO)
        faulty = [bodies.unknown_keys(), bodies.filled("{}"), bodies.with_field({}, ("tile",), bodies.filled("0"))]
        orders.append(
            [
                request("POST", game.path + path, body, token=game.tokens[1])
                for body in faulty
                for path in ("/moves", "/players/1/token")
            ]
        )
    return Order(send_in_turn, orders)


def _heads(_target: Target, *, names: list[str]) -> Order:
    return _each_sends([request("GET", "/v1/variants/domino", headers=bodies.large_headers(name)) for name in names])


def _slow_heads(_target: Target) -> Order:
    heads = [request("GET", "/healthz", headers=bodies.large_headers(name))[:-4] for name in ("unknown", "Accept")]
    return Order(drip, [heads])


def _long_reads(target: Target, *, paths: list[str], accept: str = "*/*") -> Order:
    """Order reads of a long game by all its viewers in turn."""
    game = target.long_game()
    headers = (("Accept", accept),)
    viewers = (None, *game.tokens)
    return _each_sends(
        [request("GET", game.path + path, token=token, headers=headers) for token in viewers for path in paths]
    )


def _replays(target: Target) -> Order:
    """Repeats of one move of a long game by its key."""
    game = target.long_game()
    for token in game.tokens:
        moves = orjson.loads(target.ask("GET", f"{game.path}/moves", token=token).body).get("legal_moves")
        if moves:
            key = (("Idempotency-Key", f"attack-replay-{next(_KEYS):08}"),)
            return _each_sends(
                [request("POST", f"{game.path}/moves", orjson.dumps(moves[0]), token=token, headers=key)]
            )
    raise Refused("no seat of the long game can move")


def _streams(target: Target, *, accept: str, query: str) -> Order:
    """Many streams of one game."""
    game = target.create(_TWO)
    return _held(request("GET", f"{game.path}/events{query}", headers=(("Accept", accept),)))


def _half_sent(_target: Target) -> Order:
    return _held(request("GET", "/healthz")[:-4])


def _held(data: bytes) -> Order:
    """Many connections with that request, as many as the limit of open files allows."""
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Order(hold_and_hang_up, [[data]], [{"connections": min(2_000, open_files - 100), "seconds": 2.0}])


def _small_requests() -> list[bytes]:
    return [
        request(method, path)
        for path in ("/v1/variants", "/nowhere", "/v1/games", _NOWHERE)
        for method in ("HEAD", "OPTIONS", "GET", "DELETE")
    ]


def _illegal_moves(target: Target) -> Order:
    """Each attacker posts moves that are not possible in a game of its own."""
    games = [target.create(_TWO) for _ in range(ATTACKERS)]
    moves = [{"action": "pass"}, {"action": "play", "tile": "6-6", "end": "e99"}, {"action": "deal"}]
    return Order(
        send_in_turn,
        [
            [request("POST", f"{game.path}/moves", orjson.dumps(move), token=game.tokens[0]) for move in moves]
            for game in games
        ],
    )


def _wrong_tokens(target: Target) -> Order:
    game = target.create(_TWO)
    tokens = ["seat_" + "x" * 43, "x" * 4_000]
    return _each_sends([request("GET", game.path, token=token) for token in tokens])


def _token_changes(target: Target) -> Order:
    """Each attacker is seat 1 of a game whose seat 0 is a victim."""
    games = [target.create(_TWO) for _ in range(ATTACKERS)]
    facts: list[dict[str, Any]] = [
        {"path": game.path, "token": game.tokens[1], "victim": game.tokens[0]} for game in games
    ]
    return Order(change_tokens, [], facts)
