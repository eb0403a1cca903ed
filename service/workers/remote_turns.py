"""One turn of a remote player: what it is asked, how often, and what follows from its answers.

Owns the tries. An answer that is refused has the same reason as a move that is posted, and the next message carries it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from time import monotonic
from typing import Final, Literal

from service.backends.remote_players import RemotePlayers, is_same_turn, message_id, owner
from service.engine.errors import InvalidSetup
from service.games.model.errors import MoveRefused, StaleVersion
from service.games.model.schedule import RemoteTurn
from service.games.trace import TRACE
from service.web.http.errors import InvalidBody, RequestError
from service.web.moves.remote_messages import move_message, read_answer
from service.web.problems.answers import Refused
from service.workers.metrics import WorkerMetrics
from service.workers.player_challenges import Ask, NoAnswer, PlayerAnswer, PlayerChallenges

TRIES: Final = 3
ANSWER_SECONDS: Final = 5.0
"""The time for an answer."""
RETRY_SECONDS: Final = 2.0
"""Seconds from the beginning of a try without an answer to the next one: what is restarted may be back then."""

Outcome = Literal["moved", "own", "given_up", "over"]
"""A move was made; the remote player makes it by itself; a computer player makes it; or the turn was over before."""

_NO_CONTENT: Final = 204


class RemoteTurns:
    """Makes turns of remote players. ``sleep`` waits for so many seconds.

    A player is asked for a move when its URL has answered a challenge; one that has not counts as a try without answer.
    """

    def __init__(
        self,
        players: RemotePlayers,
        ask: Ask,
        challenges: PlayerChallenges,
        metrics: WorkerMetrics,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._players = players
        self._ask = ask
        self._challenges = challenges
        self._metrics = metrics
        self._sleep = sleep

    def make(self, turn: RemoteTurn) -> Outcome:
        """Ask for a move until it is made, or ``TRIES`` times.

        Raises ``StorageUnavailable``, ``OutcomeUnknown``, ``NotFound``, ``Gone``. All of it can be done again: a move
        is made at the version it was asked for.
        """
        refused: Refused | None = None
        TRACE.set(turn.game.trace)
        for number in range(TRIES):
            if number:
                current = self._players.next_turn(turn.game.id)
                if current is None or not is_same_turn(turn, current):
                    return "over"
                turn = current
            began = monotonic()
            answer = self._answer(turn, refused)
            refused = None
            if answer is not None and answer.status == _NO_CONTENT:
                return "own"
            if answer is not None and answer.status // 100 == 2:
                refused = self._play(turn, answer, began)
                if refused is None:
                    return "moved"
            elif number + 1 < TRIES:
                self._sleep(max(began + RETRY_SECONDS - monotonic(), 0))
        return self._give_up(turn)

    def _answer(self, turn: RemoteTurn, refused: Refused | None) -> PlayerAnswer | None:
        """Return the answer to a message, ``None`` if there is none."""
        app, began = owner(turn), monotonic()
        if not self._challenges.may_be_asked(app, turn.remote):
            self._metrics.count_request("challenge", monotonic() - began)
            return None
        body = move_message(turn, self._players.lifetimes, refused)
        began = monotonic()
        try:
            answer = self._ask(turn.remote, app, message_id(turn), body)
        except NoAnswer:
            self._metrics.count_request("none", monotonic() - began)
            return None
        if answer.status // 100 != 2:
            self._metrics.count_request("status", monotonic() - began)
        elif answer.status == _NO_CONTENT:
            self._metrics.count_request("own", monotonic() - began)
        return answer

    def _play(self, turn: RemoteTurn, answer: PlayerAnswer, began: float) -> Refused | None:
        """Make the move that was answered; why it is refused, if it is."""
        seconds = monotonic() - began
        try:
            self._players.play(turn, read_answer(turn, answer.body, complete=answer.complete))
        except (RequestError, InvalidBody, InvalidSetup, MoveRefused) as error:
            self._metrics.count_request("refused", seconds)
            return error
        self._metrics.count_request("move", seconds)
        return None

    def _give_up(self, turn: RemoteTurn) -> Outcome:
        try:
            self._players.give_up(turn)
        except StaleVersion:
            return "over"
        self._metrics.count_given_up()
        return "given_up"
