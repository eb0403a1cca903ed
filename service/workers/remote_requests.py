"""Messages to remote players as signed HTTP requests (Standard Webhooks).

Owns how they are signed and sent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from service.games.model.seats import Remote
from service.games.trace import trace_headers
from service.outgoing.sender import Sender, SendFailed
from service.outgoing.signing import signed_headers
from service.web.moves.remote_messages import MAX_ANSWER_BYTES
from service.workers.player_challenges import Ask, NoAnswer, PlayerAnswer
from service.workers.remote_turns import ANSWER_SECONDS


def ask_through(sender: Sender, now: Callable[[], float] = time.time) -> Ask:
    """Asks remote players through this sender; ``now`` is the time in seconds since 1970."""

    def ask(remote: Remote, app: str, message: str, body: bytes) -> PlayerAnswer:
        headers = signed_headers(message, int(now()), body, [remote.secret]) | trace_headers(os.urandom(8))
        try:
            answer = sender.post(
                remote.url, headers, body, app=app, timeout=ANSWER_SECONDS, max_answer=MAX_ANSWER_BYTES
            )
        except SendFailed:
            raise NoAnswer from None
        return PlayerAnswer(answer.status, answer.body, answer.complete)

    return ask
