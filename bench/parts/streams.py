"""Part 7: streams of events. The latency of an event, and the memory of an open stream.

All streams and the player are in this process, so that one clock measures when a move was sent and when its event
arrived. Each game has four streams, one per seat. Only the numbers of the events are parsed.
"""

from __future__ import annotations

import re
import selectors
import socket
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import Final, NamedTuple

import orjson

from bench.driver import Address, Connection, Refused, end_of, request
from bench.figures import percentile
from bench.hosted import Hosted, create_game
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, Match, matches
from bench.stand import Candidate, Stand

STREAMS: Final = 8000
"""The limit per worker; more than the average, as the kernel does not distribute connections evenly."""
LAST_SECONDS: Final = 5.0
"""Seconds to wait for the last events."""
_EVENT: Final = re.compile(rb"id: (\d+)\n")
_KIB: Final = 1024
_PIECE: Final = 1 << 16


class Followed(NamedTuple):
    """A game that is followed: its remaining moves, each with its version."""

    game: Hosted
    moves: list[tuple[int, bytes]]


class Delivered(NamedTuple):
    """The results. Times in seconds."""

    latencies: list[float]
    missing: int
    seconds: float
    moves: int


def run(stand: Stand, scale: Scale) -> Section:
    """Measure each number of streams on its own service, so that the memory is that of the streams."""
    rows = []
    for many in scale.streams:
        service = stand.service(
            stand.redis_url,
            MAX_STREAMS=str(STREAMS),
            MAX_STREAMS_PER_ADDRESS="0",
            MAX_STREAMS_PER_GAME="0",
            WORKER_CONNECTIONS=str(STREAMS + 100),
        )
        rows.append(_measure(service, scale, many))
        service.stop()
    head = ("streams", "moves a second", "events", "p50 ms", "p90 ms", "p99 ms", "longest ms", "missing", "KiB each")
    return Section(
        title="Streams",
        text=f"From the moment a move is sent until its event has come on each stream of its game (four a game, "
        f"{USUAL.name}), the move's own time included; {scale.stream_rate} moves a second at most. The memory is "
        "what the workers grew by from before the first stream was opened until all had been used.",
        tables=[Table("Delivery", head, rows)],
    )


def _measure(service: Candidate, scale: Scale, many: int) -> tuple[str, ...]:
    played = matches(USUAL, scale.matches, scale.longest)
    with Connection(service.address) as connection:
        followed = [_open(connection, played[number % len(played)]) for number in range(max(1, many // USUAL.seats))]
    before = sum(service.worker_bytes())
    with selectors.DefaultSelector() as selector:
        followers = _follow(service.address, followed, many, selector)
        try:
            with Connection(service.address) as connection:
                delivered = _play(Player(connection), followed, followers, scale, selector=selector)
            after = sum(service.worker_bytes())
        finally:
            for follower in followers:
                follower.socket.close()
    latencies = delivered.latencies
    return (
        f"{many:,}",
        f"{delivered.moves / delivered.seconds:.0f}",
        f"{len(latencies):,}",
        *[f"{percentile(latencies, percent) * 1e3:.1f}" for percent in (50, 90, 99, 100)],
        str(delivered.missing),
        f"{(after - before) / many / _KIB:.0f}" if before else "not known here",
    )


def _open(connection: Connection, match: Match) -> Followed:
    game = create_game(connection, match)
    moves = [(orjson.loads(step.body)["version"], game.move(step)) for step in match.steps]
    return Followed(game, moves)


class Follower:
    """One stream: its connection, its game, and the incomplete event at the end of the last read."""

    def __init__(self, connection: socket.socket, game: int) -> None:
        self.socket = connection
        self.game = game
        self.rest = b""

    def take(self) -> list[int]:
        """Return the numbers of the received events."""
        data = self.rest + self.socket.recv(_PIECE)
        if data == self.rest:
            raise Refused("a stream ended")
        numbers = [int(found) for found in _EVENT.findall(data)]
        self.rest = data[data.rfind(b"\n") + 1 :]
        return numbers


class Player:
    """Makes the moves of all games, one at a time."""

    def __init__(self, connection: Connection) -> None:
        self.socket = connection.socket
        self.busy = False
        self._pieces = b""

    def send(self, asked: bytes) -> None:
        """Send a request; the response is read later."""
        self.socket.sendall(asked)
        self.busy = True
        self._pieces = b""

    def take(self) -> None:
        """Read what has arrived of the response. Raises ``Refused``."""
        self._pieces += self.socket.recv(_PIECE)
        if end_of(self._pieces) is None:
            return
        if self._pieces[9:12] != b"201":
            raise Refused(self._pieces[:600].decode(errors="replace"))
        self.busy = False


def _follow(
    address: Address, followed: Sequence[Followed], many: int, selector: selectors.BaseSelector
) -> list[Follower]:
    """Open the streams, seat by seat, after the past events."""
    followers = []
    for number in range(many):
        game, moves = followed[number % len(followed)]
        seat = number // len(followed) % len(game.tokens)
        connection = Connection(address)
        path = f"{game.path}/events?after={moves[0][0]}"
        connection.socket.sendall(request("GET", path, token=game.tokens[seat], accept="text/event-stream"))
        opened = b""
        while b"retry:" not in opened:
            opened += connection.socket.recv(_PIECE)
            if opened[9:12] != b"200":
                raise Refused(opened.decode(errors="replace"))
        followers.append(Follower(connection.socket, number % len(followed)))
        selector.register(connection.socket, selectors.EVENT_READ, followers[-1])
    return followers


def _play(
    player: Player,
    followed: Sequence[Followed],
    followers: Sequence[Follower],
    scale: Scale,
    *,
    selector: selectors.BaseSelector,
) -> Delivered:
    """Make moves at the given rate, game after game, and measure when each stream has its event."""
    streams = Counter(follower.game for follower in followers)
    rounds = min(len(each.moves) for each in followed)
    due = [(game, place) for place in range(rounds) for game in range(len(followed))]
    due = due[: max(1, int(scale.stream_rate * scale.stream_seconds))][::-1]
    moves = len(due)
    sent: dict[tuple[int, int], float] = {}
    latencies: list[float] = []
    expected = 0
    selector.register(player.socket, selectors.EVENT_READ, player)
    began = last = perf_counter()
    next_at = began
    while due or player.busy or len(latencies) < expected:
        now = perf_counter()
        if now > last + LAST_SECONDS:
            break
        if due and not player.busy and now >= next_at:
            game, place = due.pop()
            version, asked = followed[game].moves[place]
            sent[game, version + 1] = last = perf_counter()
            player.send(asked)
            expected += streams[game]
            next_at += 1 / scale.stream_rate
        waits_for_time = due and not player.busy
        for key, _ in selector.select(max(0.0, next_at - perf_counter()) if waits_for_time else LAST_SECONDS):
            if key.data is player:
                player.take()
                continue
            numbers = key.data.take()
            now = perf_counter()
            latencies += [now - sent[key.data.game, it] for it in numbers if (key.data.game, it) in sent]
    return Delivered(latencies, expected - len(latencies), last - began + 1 / scale.stream_rate, moves)
