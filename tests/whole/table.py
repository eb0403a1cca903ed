"""A game on a running service, played by people who know no rule: they post back a move they were told is legal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx

PATIENCE = 20.0
MOST_MOVES = 5000

Json = dict[str, Any]


def connect(url: str) -> httpx.Client:
    """A client of its own connections, whose every wait ends."""
    return httpx.Client(base_url=url, timeout=PATIENCE)


def variants(http: httpx.Client) -> list[Json]:
    """The games on offer."""
    found: list[Json] = http.get("/v1/variants").raise_for_status().json()["variants"]
    return found


class Table:
    """A created game: its id, the tokens by seat, the join code, and a way to ask."""

    def __init__(self, http: httpx.Client, opened: Json) -> None:
        self.http = http
        self.opened = opened
        self.id: str = opened["game"]["id"]
        self.tokens: dict[int, str] = {each["seat"]: each["token"] for each in opened["seats"]}
        self.join_code: str | None = opened.get("join_code")

    @classmethod
    def create(cls, http: httpx.Client, variant: str, seats: int | list[Json] | None = None, **more: Any) -> Table:
        """A new game; without ``seats`` one more than the fewest, where the game takes so many."""
        if seats is None:
            bounds = next(each for each in variants(http) if each["id"] == variant)["players"]
            seats = min(bounds["min"] + 1, bounds["max"])
        players = [{"name": f"P{seat}"} for seat in range(seats)] if isinstance(seats, int) else seats
        answer = http.post("/v1/games", json={"variant": variant, "players": players, **more})
        assert answer.status_code == 201, answer.text
        return cls(http, answer.json())

    @property
    def path(self) -> str:
        return f"/v1/games/{self.id}"

    def headers(self, seat: int | None, **more: str) -> dict[str, str]:
        shown = {name.replace("_", "-"): value for name, value in more.items()}
        return shown if seat is None else {"Authorization": f"Bearer {self.tokens[seat]}", **shown}

    def get(self, what: str = "", seat: int | None = None, **headers: str) -> httpx.Response:
        return self.http.get(self.path + what, headers=self.headers(seat, **headers))

    def move(self, seat: int, move: Json, **headers: str) -> httpx.Response:
        return self.http.post(f"{self.path}/moves", json=move, headers=self.headers(seat, **headers))

    def view(self, seat: int | None = None) -> Json:
        view: Json = self.get(seat=seat).raise_for_status().json()
        return view

    def moves(self, seat: int) -> list[Json]:
        moves: list[Json] = self.get("/moves", seat).raise_for_status().json()["moves"]
        return moves

    def to_move(self, view: Json | None = None) -> int:
        """Whose turn it is; between two rounds anybody who is in."""
        view = view or self.view()
        if "turn" in view:
            return int(view["turn"]["seat"])
        return next(int(each["seat"]) for each in view["players"] if each["in"])

    def play(self, seed: int, look: Callable[[httpx.Response], object] = lambda _: None) -> Iterator[Json]:
        """Play to the end by legal moves drawn with ``seed``, giving the mover's view after each; ``look`` sees all."""
        luck = random.Random(seed)
        view = self.view()
        for _ in range(MOST_MOVES):
            if view["status"] == "finished":
                return
            seat = self.to_move(view)
            listed = self.get("/moves", seat)
            look(listed)
            answer = self.move(seat, luck.choice(listed.json()["moves"]))
            look(answer)
            assert answer.status_code == 201, answer.text
            view = answer.json()
            yield view
        raise AssertionError(f"no end after {MOST_MOVES} moves")
