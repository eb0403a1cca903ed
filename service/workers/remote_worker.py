"""The remote worker: takes the reminders of games in which a remote player is on turn, and requests its move.

Owns which turns are made at a time, and what becomes of their reminders. Each is made beside the others.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from service.backends.remote_players import RemotePlayers, owner
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue, Spawn
from service.workers.holders import MOST_TURNS, by_holder, by_host
from service.workers.remote_turns import RemoteTurns

Locate = Callable[[str, str], str]
"""What counts as the host of a URL of an application (``Sender.locate``)."""
_BATCH: Final = 64

SETTINGS: Final = ConsumerSettings(
    kind="remote",
    # Longer than a look-up, a challenge and all tries of a turn. With a storage so slow that it is not, a move may be
    # asked for by two, under the same id, and is made once.
    lease_ms=30_000,
    batch=_BATCH,
    # With a batch beyond the turns that may be made, so that who has no share of them is put off, and others found.
    most=MOST_TURNS + _BATCH,
    look_seconds=(0.02, 0.1),
    look_growth=1.1,
    failure="a turn of a remote player failed",
)


class RemoteWorker(Consumer):
    """Handles the turns of remote players; ``ttl`` is that of games, in milliseconds."""

    def __init__(
        self, players: RemotePlayers, turns: RemoteTurns, locate: Locate, queue: Queue, *, spawn: Spawn, ttl: int
    ) -> None:
        super().__init__(SETTINGS, queue, spawn)
        self._players = players
        self._turns = turns
        self._locate = locate
        self._ttl = ttl
        self._hosts = by_host()
        self._holders = by_holder()

    def handle(self, taken: TakenReminder) -> Next:
        """Make the turn of a game. The write of a move has also written the next reminder."""
        turn = self._players.next_turn(taken.game)
        if turn is None:
            return "never"
        app = owner(turn)
        holder = turn.game.holder
        delay = self._holders.enter(holder)
        if delay is not None:
            return self._clock() + round(delay * 1000)
        seconds: float | None = None
        try:
            # Of each application by itself: servers of several may share an address.
            host = f"{app} {self._locate(turn.remote.url, app)}"
            delay = self._hosts.enter(host)
            if delay is not None:
                return self._clock() + round(delay * 1000)
            began = monotonic()
            try:
                outcome = self._turns.make(turn)
            finally:
                seconds = monotonic() - began
                self._hosts.leave(host, seconds)
        finally:
            self._holders.leave(holder, seconds)
        # Not removed, as then the next read of the game would have the player asked again (``LostReminders``).
        return self._clock() + self._ttl if outcome == "own" else "written"
