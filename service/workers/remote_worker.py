"""The remote worker: takes the reminders of games in which a remote player is on turn, and requests its move.

Owns which turns are made at a time, and what becomes of their reminders. Each is made beside the others. Does not
depend on what is asked (``service.workers.remote_turns``).
"""

from __future__ import annotations

from time import monotonic
from typing import Final

from service.backends.remote_players import RemotePlayers
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue, Spawn
from service.workers.hosts import Hosts
from service.workers.remote_turns import RemoteTurns

SETTINGS: Final = ConsumerSettings(
    kind="remote",
    # Longer than all tries of a turn. With a storage so slow that it is not, a move may be asked for by two, under the
    # same id, and is made once.
    lease_ms=30_000,
    batch=64,
    most=512,
    look_seconds=(0.02, 0.1),
    look_growth=1.1,
    failure="a turn of a remote player failed",
)


class RemoteWorker(Consumer):
    """Handles the turns of remote players; ``ttl`` is that of games, in milliseconds."""

    def __init__(self, players: RemotePlayers, turns: RemoteTurns, queue: Queue, spawn: Spawn, ttl: int) -> None:
        super().__init__(SETTINGS, queue, spawn)
        self._players = players
        self._turns = turns
        self._ttl = ttl
        self._hosts = Hosts()

    def handle(self, taken: TakenReminder) -> Next:
        """Make the turn of a game. The write of a move has also written the next reminder."""
        turn = self._players.next_turn(taken.game)
        if turn is None:
            return "never"
        delay = self._hosts.enter(turn.remote.url)
        if delay is not None:
            return self._clock() + round(delay * 1000)
        began = monotonic()
        try:
            outcome = self._turns.make(turn)
        finally:
            self._hosts.leave(turn.remote.url, monotonic() - began)
        # Not removed, as then the next read of the game would have the player asked again (``LostReminders``).
        return self._clock() + self._ttl if outcome == "own" else "written"
