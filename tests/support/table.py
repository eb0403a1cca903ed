"""A hosted game, and the clients that play it in tests: over HTTP or in this process.

Does not depend on the rules: a client posts back a move that was listed for the seat to move.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Generic, TypeVar

Json = dict[str, Any]

MAX_MOVES = 5000
"""No match of a test has more; playing on stops there."""


R = TypeVar("R")
"""The response type of an HTTP client."""


def seat_to_move(view: Json) -> int:
    """Whose turn it is; between two rounds the first seat that may deal."""
    if "turn" in view:
        return int(view["turn"]["seat"])
    return next(int(player["seat"]) for player in view["players"] if player["active"])


def round_over(view: Json) -> bool:
    """Whether the round has ended, perhaps with the match."""
    return view["status"] in ("round_over", "finished")


def match_finished(view: Json) -> bool:
    return bool(view["status"] == "finished")


def reached(version: int) -> Callable[[Json], bool]:
    """The condition that the game has come to this version."""
    return lambda view: view["version"] >= version


def round_over_or_reached(version: int) -> Callable[[Json], bool]:
    """The condition that the round has ended, or that the game has come to this version."""
    return lambda view: round_over(view) or view["version"] >= version


class Table(Generic[R]):
    """A created game: its id, its tokens by seat, its join code, and the client that created it.

    ``created`` is the body of the response to its creation.
    """

    def __init__(self, client: GameClient[R], created: Json) -> None:
        self.client = client
        self.created = created
        self.id: str = created["game"]["id"]
        self.tokens: dict[int, str] = {each["seat"]: each["token"] for each in created["seats"]}
        self.join_code: str | None = created.get("join_code")

    @property
    def path(self) -> str:
        return f"/v1/games/{self.id}"

    def headers(self, seat: int | None, **more: str) -> dict[str, str]:
        """The headers of a request by this seat (``If_None_Match`` means ``If-None-Match``)."""
        given = {name.replace("_", "-"): value for name, value in more.items()}
        return given if seat is None else {"Authorization": f"Bearer {self.tokens[seat]}", **given}

    def get(self, resource: str = "", seat: int | None = None, **headers: str) -> R:
        return self.client.ask("GET", self.path + resource, headers=self.headers(seat, **headers))

    def view(self, seat: int | None = None) -> Json:
        return self.client.view(self, seat)

    def record(self, seat: int | None = None) -> str:
        """The record of the match as text."""
        status, text = self.client.read_response(self.get("/record", seat, Accept="text/plain"))
        assert status == 200, text
        return text

    def moves(self, seat: int) -> list[Json]:
        return self.client.moves(self, seat)

    def move(self, seat: int, move: Any, **headers: str) -> R:
        return self.client.move(self, seat, move, headers=self.headers(None, **headers))

    def make_legal_move(self, random: Random | None = None) -> Json:
        return self.client.make_legal_move(self, random)

    def to_move(self, view: Json | None = None) -> int:
        return seat_to_move(view or self.view())

    def play(self, seed: int | str, observe: Callable[[R], object] = lambda _: None) -> Iterator[Json]:
        """Play to the end by legal moves drawn with ``seed``, giving the mover's view after each.

        ``observe`` is called with every response.
        """
        return self.client.play(self, self.view(), Random(seed), observe=observe)


class GameClient(ABC, Generic[R]):
    """Creates games and plays them; how a request is sent is left to the kind of client."""

    @abstractmethod
    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> R:
        """Send a request; ``json`` is its body, ``headers`` are further headers."""

    @abstractmethod
    def read_response(self, response: R) -> tuple[int, str]:
        """Its status and its body."""

    def try_create(
        self,
        variant: str | None,
        seats: int | Sequence[Json],
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> R:
        """Ask for a game, with the key of an application; a number of seats is that many people.

        Without a ``variant``, a record is continued.
        """
        players = [{"name": f"P{seat}"} for seat in range(seats)] if isinstance(seats, int) else list(seats)
        body = {"players": players, **more} if variant is None else {"variant": variant, "players": players, **more}
        return self.ask("POST", "/v1/games", token=key, json=body, headers={**(headers or {})})

    def create(self, variant: str | None, seats: int | Sequence[Json], **more: Any) -> Table[R]:
        return Table(self, self._body(self.try_create(variant, seats, **more), 201))

    def view(self, table: Table[Any], seat: int | None = None) -> Json:
        return self._read(table, "", seat)

    def score(self, table: Table[Any], seat: int | None = None) -> Json:
        return self._read(table, "/score", seat)

    def listed_moves(self, table: Table[Any], seat: int | None = None) -> Json:
        """The legal moves of a seat with the version they are for."""
        return self._read(table, "/moves", seat)

    def moves(self, table: Table[Any], seat: int | None = None) -> list[Json]:
        moves: list[Json] = self.listed_moves(table, seat)["legal_moves"]
        return moves

    def move(self, table: Table[Any], seat: int, move: Any, **arguments: Any) -> R:
        return self.ask("POST", f"{table.path}/moves", token=table.tokens[seat], json=move, **arguments)

    def join(self, table: Table[Any], name: str = "Late", **more: Any) -> R:
        body = {"name": name, "join_code": table.join_code, **more}
        return self.ask("POST", f"{table.path}/players", json=body)

    def take_seat(self, table: Table[Any], name: str = "Late", **more: Any) -> Json:
        """Join, and keep the token of the seat with the others of the table; the body of the response."""
        taken = self._body(self.join(table, name, **more), 201)
        table.tokens[taken["seat"]] = taken["token"]
        return taken

    def make_move(self, table: Table[Any], seat: int, move: Json) -> Json:
        """Make a legal move; the game as its mover then sees it."""
        return self._body(self.move(table, seat, move), 201)

    def make_legal_move(self, table: Table[Any], random: Random | None = None) -> Json:
        """Make the first legal move of the seat to move, or one drawn with ``random``; its view then."""
        seat = seat_to_move(self.view(table))
        moves = self.moves(table, seat)
        return self.make_move(table, seat, random.choice(moves) if random else moves[0])

    def play(
        self,
        table: Table[Any],
        view: Json,
        random: Random | None = None,
        *,
        keep: Iterable[str] = (),
        observe: Callable[[R], object] = lambda _: None,
    ) -> Iterator[Json]:
        """Play to the end by the first legal moves, or by legal moves drawn with ``random``.

        Starts from ``view``, gives the mover's view after each move, and calls ``observe`` with every response. The
        tiles in ``keep`` are not played as long as there is another move.
        """
        for _ in range(MAX_MOVES):
            if view["status"] == "finished":
                return
            seat = seat_to_move(view)
            response = self.ask("GET", f"{table.path}/moves", token=table.tokens[seat])
            observe(response)
            listed = self._body(response)["legal_moves"]
            moves = [move for move in listed if move.get("tile") not in keep] or listed
            response = self.move(table, seat, random.choice(moves) if random else moves[0])
            observe(response)
            view = self._body(response, 201)
            yield view
        raise AssertionError(f"no end after {MAX_MOVES} moves")

    def play_until(
        self, table: Table[Any], until: Callable[[Json], bool], random: Random | None = None, keep: Iterable[str] = ()
    ) -> Json:
        """Play on as ``play`` does, if need be, until a view fulfils the condition; that view."""
        view = self.view(table)
        if until(view):
            return view
        for after in self.play(table, view, random, keep=keep):
            if until(after):
                return after
        raise AssertionError("the match ended before the condition was fulfilled")

    def play_until_draw(self, table: Table[Any], random: Random | None = None) -> Json:
        """Play on, if need be, until the seat to move has to draw; that view."""

        def must_draw(view: Json) -> bool:
            return view["status"] == "playing" and bool(self.moves(table, seat_to_move(view))[0]["action"] == "draw")

        return self.play_until(table, must_draw, random)

    def _read(self, table: Table[Any], resource: str, seat: int | None) -> Json:
        token = None if seat is None else table.tokens[seat]
        return self._body(self.ask("GET", f"{table.path}{resource}", token=token))

    def _body(self, response: R, expected: int = 200) -> Json:
        status, text = self.read_response(response)
        assert status == expected, text
        body: Json = json.loads(text)
        return body
