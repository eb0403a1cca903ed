"""Tables of the load run: people play match after match there, each driven by what the own stream brings.

A person takes a moment to think, makes the first legal move, and reads on. Owns what is counted of it; after each match
its events are compared with what the clients know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from time import monotonic
from typing import Any, Final

import gevent
from gevent.pool import Group

from bench.driver import Refused
from bench.load.accounts import Account, Acknowledged, expected_messages, faults
from bench.load.connections import Door
from bench.load.endpoint import Message
from bench.load.kinds import OWNED_EVERY, Kind, kind_of
from bench.load.measures import Times

_TOO_LATE: Final = frozenset({409, 412})
"""The status of a move that somebody, or the clock, was faster than."""
_TRANSIENT: Final = frozenset({0, 503})
"""Without an answer (0), or with this one, a request may be repeated."""
_REST_SECONDS: Final = 1.0
_MOVE_SECONDS: Final = 3.0
"""Longer than a move takes, unless it is lost."""
_PAGE: Final = 1000


@dataclass(slots=True)
class Load:
    """What all tables share."""

    doors: list[Door]
    think: float
    """Seconds from a view to the move, on average; half as long at least."""
    apps: list[str] = field(default_factory=list)
    """The ids of the applications."""
    keys: list[str] = field(default_factory=list)
    """Their keys."""
    times: Times = field(default_factory=Times)
    streams: int = 0
    over: bool = False
    games: int = 0
    owned: int = 0
    """Games of applications."""
    finished: list[str] = field(default_factory=list)
    acknowledged: int = 0
    repeated: int = 0
    """Requests of moves that had no answer, or 503."""
    wrong: list[str] = field(default_factory=list)
    """What was lost or doubled, in the games or on the streams."""
    failed: list[str] = field(default_factory=list)
    """Requests and streams that failed."""
    expected: list[Message] = field(default_factory=list)
    people: Group = field(default_factory=Group)

    def message_came(self, delay: float) -> None:
        """Count a message to an application."""
        self.times.messages.append(delay)

    def end(self) -> None:
        """Let nobody begin another move, wait for those under way, and close the streams."""
        self.over = True
        gevent.sleep(1.5 * self.think + _MOVE_SECONDS)
        self.people.kill()


class Table:
    """A table by its number, which decides what is played there, and whose the games are."""

    def __init__(self, load: Load, number: int) -> None:
        self._load = load
        self._number = number
        self._kind: Kind = kind_of(number)
        owned = number % OWNED_EVERY == 0
        self._key = load.keys[number // OWNED_EVERY % len(load.keys)] if owned else None
        self._rng = Random(number)  # noqa: S311 # reproducible on purpose

    def run(self) -> None:
        """Play until the load is over."""
        while not self._load.over:
            try:
                self._play_a_match()
            except (OSError, Refused) as error:
                self._fail("a match", error)
                gevent.sleep(_REST_SECONDS)

    def _play_a_match(self) -> None:
        load, door = self._load, self._door(0)
        opened = door.ask("POST", "/v1/games", self._kind.request, self._key)
        load.games += 1
        load.owned += self._key is not None
        seats = opened["seats"]
        account = Account(opened["game"]["id"], len(seats), self._key is not None)
        people = [
            _Person(load, self._door(each["seat"]), account, each, kind=self._kind, rng=self._rng) for each in seats
        ]
        gevent.joinall([load.people.spawn(self._guarded, person.play) for person in people], raise_error=True)
        self._settle(door, account)

    def _guarded(self, play: Callable[[], None]) -> None:
        try:
            play()
        except (OSError, Refused) as error:
            self._fail("a stream", error)

    def _settle(self, door: Door, account: Account) -> None:
        """Compare what the clients know with the events."""
        load, events = self._load, list[dict[str, Any]]()
        path = f"/v1/games/{account.game}/events"
        while page := door.ask("GET", f"{path}?limit={_PAGE}&after={len(events)}")["events"]:
            events += page
        if events[-1]["type"] == "finished":
            load.finished.append(account.game)
        load.acknowledged += len(account.acknowledged)
        load.wrong += faults(account, events)
        load.expected += expected_messages(account, events)

    def _door(self, seat: int) -> Door:
        """Return the players of a game are at different services."""
        return self._load.doors[(self._number + seat) % len(self._load.doors)]

    def _fail(self, what: str, error: Exception) -> None:
        self._load.failed.append(f"{what} of table {self._number}: {type(error).__name__} {str(error)[:300]}")


class _Person:
    """Somebody who plays one match."""

    def __init__(
        self, load: Load, door: Door, account: Account, seat: dict[str, Any], *, kind: Kind, rng: Random
    ) -> None:
        self._load = load
        self._door = door
        self._account = account
        self._seat: int = seat["seat"]
        self._token: str = seat["token"]
        self._kind = kind
        self._rng = rng
        self._version = 0
        self._deadline: float | None = None

    def play(self) -> None:
        """Follow the match until it is finished, or the load is over."""
        self._load.streams += 1
        try:
            for came, item in self._door.follow(self._path, self._token):
                if item["type"] != "view":
                    self._take_event(came, item)
                elif item["game"]["status"] == "finished":
                    return
                else:
                    self._take_view(item["game"])
                if self._load.over:
                    return
            raise Refused("a stream ended before its match")
        finally:
            self._load.streams -= 1

    @property
    def _path(self) -> str:
        return f"/v1/games/{self._account.game}"

    def _take_event(self, came: float, event: dict[str, Any]) -> None:
        load, version, by = self._load, event["version"], event.get("seat")
        if version != self._version + 1:
            load.wrong.append(f"{self._account.game}: a stream brought {version} after {self._version}")
        self._version = version
        sent = self._account.sent
        if by != self._seat and version in sent:
            load.times.deliveries.append(came - sent[version])
        elif by == 1 and self._kind.bot is not None and version - 1 in sent:
            load.times.bots[self._kind.bot].append(came - sent[version - 1])
            load.times.counted["owned"] += self._account.owned
        elif event["type"] == "timed_out" and self._deadline is not None and by == self._seat:
            load.times.time_outs.append(_seconds(event["at"]) - self._deadline)

    def _take_view(self, view: dict[str, Any]) -> None:
        """Make a move if one is wanted of this person, and of nobody before: both may deal."""
        self._deadline = None
        if not view["legal_moves"] or view["to_act"][:1] != [self._seat]:
            return
        deadline = view.get("turn", {}).get("deadline")
        if deadline is not None and self._rng.random() < self._kind.absent:
            self._deadline = _seconds(deadline)
            return
        gevent.sleep(self._load.think * self._rng.uniform(0.5, 1.5))
        if not self._load.over:
            self._move(view["legal_moves"][0], view["version"] + 1)

    def _move(self, move: dict[str, Any], version: int) -> None:
        """Make a move; without an answer, or with 503, it is asked for again until it is known what became of it."""
        account, load = self._account, self._load
        account.sent[version] = began = monotonic()
        while not load.over:
            try:
                self._door.ask("POST", f"{self._path}/moves", move, self._token)
            except (OSError, Refused, gevent.GreenletExit) as error:
                status = error.status if isinstance(error, Refused) else 0
                if status in _TOO_LATE:
                    account.sent.pop(version, None)
                    return
                account.unknown.add(version)
                if status not in _TRANSIENT or isinstance(error, gevent.GreenletExit):
                    raise
                load.repeated += 1
                gevent.sleep(_REST_SECONDS)
            else:
                load.times.moves.append(monotonic() - began)
                load.times.counted["owned"] += account.owned
                account.acknowledged[version] = Acknowledged(self._seat, move["action"], move.get("tile"))
                return


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
