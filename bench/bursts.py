"""The requests of each kind of burst to each candidate, prepared before the measurement.

A kind is a measured request; the service gets it for real games, the other candidates for stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from bench.candidates import COMPILED, PURE, Name
from bench.driver import Address, Connection, request
from bench.floor.sizes import Sizes
from bench.hosted import Measures, create_game, create_stand_in, play
from bench.setups import Match
from bench.stand import Stand

Kind = Literal["POST move", "GET view", "GET view, 304", "GET moves", "POST game"]
Scripts = list[list[bytes]]

KINDS: Final[tuple[Kind, ...]] = ("POST move", "GET view", "GET view, 304", "GET moves", "POST game")

STATUS: Final[dict[Kind, int]] = {
    "POST move": 201,
    "GET view": 200,
    "GET view, 304": 304,
    "GET moves": 200,
    "POST game": 201,
}
"""What answers each kind."""


class Work(NamedTuple):
    """What the clients of a burst do: each so many matches, one after another, or so many reads."""

    matches: Sequence[Match]
    measures: Measures
    clients: int
    reads: int
    each: int = 1

    def match(self, client: int, number: int = 0) -> Match:
        """Return a match of a client."""
        return self.matches[(client + number) % len(self.matches)]


_Make = Callable[[Connection, Work, int], list[bytes]]


def prepared(stand: Stand, kind: Kind, work: Work, name: Name) -> Scripts:
    """Return the requests of each client to this candidate."""
    return prepared_by(name, kind, work, stand[name].address)


def prepared_by(name: Name, kind: Kind, work: Work, address: Address) -> Scripts:
    """Return the same to another one of its kind."""
    return (_of_service if name in (PURE, COMPILED) else _of_floor)(kind, work, address)


def _of_service(kind: Kind, work: Work, address: Address) -> Scripts:
    """Return the requests of each client, for games that are created here."""
    makes: dict[Kind, _Make] = {
        "POST move": _moves,
        "GET view": partial(_reads, what="", extra=False),
        "GET view, 304": partial(_reads, what="", extra=True),
        "GET moves": partial(_reads, what="/moves", extra=False),
        "POST game": _openings,
    }
    with Connection(address) as connection:
        return [makes[kind](connection, work, client) for client in range(work.clients)]


def _of_floor(kind: Kind, work: Work, address: Address) -> Scripts:
    """Return the same for the stand-ins of the games on the floor."""
    makes: dict[Kind, _Make] = {
        "POST move": _moves_of_stand_in,
        "GET view": partial(_reads_of_stand_in, sizes=work.measures.view, extra=False),
        "GET view, 304": partial(_reads_of_stand_in, sizes=work.measures.view, extra=True),
        "GET moves": partial(_reads_of_stand_in, sizes=work.measures.moves, extra=False),
        "POST game": _openings,
    }
    with Connection(address) as connection:
        return [makes[kind](connection, work, client) for client in range(work.clients)]


def _moves(connection: Connection, work: Work, client: int) -> list[bytes]:
    requests: list[bytes] = []
    for number in range(work.each):
        match = work.match(client, number)
        game = create_game(connection, match)
        requests += [game.move(step) for step in match.steps]
    return requests


def _moves_of_stand_in(connection: Connection, work: Work, client: int) -> list[bytes]:
    path = create_stand_in(connection, work.measures.move)
    return [
        request("POST", f"{path}/moves", body=step.body, token="x" * 43)  # of the length of a real token
        for step in work.match(client).steps
    ]


def _reads(connection: Connection, work: Work, client: int, *, what: str, extra: bool) -> list[bytes]:
    """In the middle of a match, by the seat to move."""
    match = work.match(client)
    middle = len(match.steps) // 2
    game = create_game(connection, match)
    play(connection, game, match.steps[:middle])
    seat = match.steps[middle].seat
    known = ""
    if extra:
        head = connection.send(request("GET", game.path, token=game.tokens[seat])).head.decode()
        etag = head.partition("\r\nETag: ")[2].partition("\r\n")[0]
        known = f"If-None-Match: {etag}\r\n"
    return [request("GET", game.path + what, token=game.tokens[seat], extra=known)] * work.reads


def _reads_of_stand_in(connection: Connection, work: Work, _client: int, *, sizes: Sizes, extra: bool) -> list[bytes]:
    known = 'If-None-Match: "17-0"\r\n' if extra else ""
    path = create_stand_in(connection, sizes)
    return [request("GET", path, token="x" * 43, extra=known)] * work.reads  # of the length of a real token


def _openings(_line: Connection, work: Work, client: int) -> list[bytes]:
    return [request("POST", "/v1/games", body=work.match(client).request)] * work.reads
