"""Honest people who play a computer player each, and how long they wait for its answers.

A person moves at once after a pause, and then waits for the answer by a long poll, as the page does. The computer
players have a pace of 0, so that a wait is what the service needs. Owns what counts as an answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tools.attack.client import HonestClient
from tools.attack.http import Address

THINKING_SECONDS: Final = 0.1
_WAIT_SECONDS: Final = 3
"""Of a long poll: less than the patience of a client."""


class Waited(NamedTuple):
    """How long the people at the tables of one level waited in a time, for each answer, in seconds."""

    seconds: float
    answers: list[float]
    open: list[float]
    """Of answers that have not come yet."""

    @property
    def rate(self) -> float:
        """Answers in a second."""
        return len(self.answers) / self.seconds

    @property
    def longest(self) -> float:
        """The longest wait, of an answer or for one that has not come yet."""
        return max([*self.answers, *self.open], default=0.0)


class BotTables:
    """Tables of a person and a computer player, so many of each level, from ``start`` to ``stop``."""

    def __init__(self, address: Address, tables: Mapping[str, int]) -> None:
        self._people: dict[str, list[_Person]] = {}
        number = 100
        for level, many in tables.items():
            self._people[level] = []
            for _ in range(many):
                number += 1
                self._people[level].append(_Person(address, f"127.0.1.{number}", level))
        self._marked = 0.0

    @property
    def _all(self) -> list[_Person]:
        return [each for people in self._people.values() for each in people]

    def start(self) -> None:
        """Start to play."""
        for person in self._all:
            person.start()

    def stop(self) -> None:
        """Stop, at the latest when the current request is answered or its time is over."""
        for person in self._all:
            person.stopping.set()
        for person in self._all:
            person.join()

    def all_answered(self) -> bool:
        """Return whether everybody has had an answer since ``mark``, or the start."""
        return all(person.happened(0.0)[0] for person in self._all)

    def mark(self) -> None:
        """Count in ``waited`` what happens from now on."""
        self._marked = time.perf_counter()
        for person in self._all:
            person.reset()

    def waited(self) -> dict[str, Waited]:
        """Return how long the people have waited since ``mark``, by level."""
        seconds = time.perf_counter() - self._marked
        found = {}
        for level, people in self._people.items():
            happened = [person.happened(0.0) for person in people]
            answers = [each for done, _, _, _ in happened for each in done]
            found[level] = Waited(seconds, answers, [each for _, waiting, _, _ in happened for each in waiting])
        return found


def fraction_of(calm: Sequence[Mapping[str, Waited]], attacked: Mapping[str, Waited]) -> float | None:
    """Return the answers in a second under attack as a fraction of calm, of the level that fares worst."""
    fractions = []
    for level, waited in attacked.items():
        seconds = sum(each[level].seconds for each in calm)
        answers = sum(len(each[level].answers) for each in calm)
        if answers:
            fractions.append(waited.rate * seconds / answers)
    return min(fractions, default=None)


class _Person(HonestClient):
    def __init__(self, address: Address, source: str, level: str) -> None:
        super().__init__(address, source)
        self._game = {
            "variant": "domino",
            "options": {"limit": 1000},
            "pace": 0,
            "players": [{"name": "Ada"}, {"bot": level}],
        }

    def run(self) -> None:
        while not self.stopping.is_set():
            opened = self.ask("POST", "/v1/games", self._game)
            if opened is not None:
                self._play(f"/v1/games/{opened['game']['id']}", opened["seats"][0]["token"])
            self.connection.close()

    def _play(self, path: str, token: str) -> None:
        view = self.ask("GET", path, token=token)
        while view is not None and view["status"] != "finished" and not self.stopping.is_set():
            if view["legal_moves"]:
                self.stopping.wait(THINKING_SECONDS)
                view = self.ask("POST", f"{path}/moves", view["legal_moves"][0], token)
            elif view["status"] == "playing":
                view = self._answered(path, token, view)

    def _answered(self, path: str, token: str, view: dict[str, Any]) -> dict[str, Any] | None:
        """Return the game after the answer of the computer player."""
        version = view["version"]
        self.begin()
        changed: dict[str, Any] | None = view
        while changed is not None and changed["version"] == version:
            changed = self.ask("GET", f"{path}?after={version}&wait={_WAIT_SECONDS}", token=token)
        self.end(done=changed is not None)
        return changed
