"""The challenges of remote players: what a URL has to answer before it is sent the view of a game.

Owns when a URL is challenged, and how often one that does not answer. The message and its answer are those of an
endpoint, signed with the secret of the player, which the application has got with the game.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple, Protocol

from service.backends.ports import ConfirmedUrls
from service.backends.webhooks.messages import answers_challenge, challenge_message, message_id
from service.bounded_cache import BoundedCache
from service.games.model.seats import Remote
from service.games.ports import RandomBytes, TimeSource

FIRST_PAUSE_SECONDS: Final = 0.5
"""After the first challenge in a row that a URL does not answer; each pause is twice the one before.

So the three tries of a turn are three challenges, and a program that is started a few seconds after its game is not
too late.
"""
LONGEST_PAUSE_SECONDS: Final = 60.0
MOST_UNANSWERED: Final = 60
"""The most challenges of an application in a minute that are not answered, whatever their URLs are."""
MOST_REMEMBERED: Final = 10_000
_MINUTE: Final = 60.0


class PlayerAnswer(NamedTuple):
    """The status and the body of an answer; ``complete`` unless it was cut off at ``MAX_ANSWER_BYTES``."""

    status: int
    body: bytes
    complete: bool = True


class NoAnswer(Exception):
    """There was no answer in time."""


class Ask(Protocol):
    """Sends a message to a remote player, signed with its secret, and returns the answer, which is no redirect's."""

    def __call__(self, remote: Remote, app: str, message: str, body: bytes, /) -> PlayerAnswer:
        """Send the message with this id for an application. Answers in ``ANSWER_SECONDS``, or raises ``NoAnswer``."""


class _Unanswered(NamedTuple):
    """Challenges in a row without an answer, and when the next one may be sent, in seconds of ``time.monotonic``."""

    number: int
    next_at: float


class PlayerChallenges:
    """Challenges the URLs of remote players. How often one did not answer is known to this process alone."""

    def __init__(
        self,
        confirmed: ConfirmedUrls,
        ask: Ask,
        clock: TimeSource,
        random_bytes: RandomBytes,
        *,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._confirmed = confirmed
        self._ask = ask
        self._clock = clock
        self._random_bytes = random_bytes
        self._now = now
        self._unanswered = BoundedCache[tuple[str, str], _Unanswered](MOST_REMEMBERED)
        self._by_app = BoundedCache[str, _Unanswered](MOST_REMEMBERED)

    def may_be_asked(self, app: str, remote: Remote) -> bool:
        """Return whether the URL of a remote player of this application has answered a challenge, lately or now.

        Raises ``StorageUnavailable``, ``OutcomeUnknown``.
        """
        if self._confirmed.is_confirmed(app, remote.url, self._clock()):
            return True
        if not self._may_challenge(app, remote.url) or not self._is_answered(app, remote):
            return False
        self._confirmed.confirm(app, remote.url, self._clock())
        self._unanswered.pop((app, remote.url))
        return True

    def _may_challenge(self, app: str, url: str) -> bool:
        """Count a challenge as not answered before it is sent: several turns may wait for the same URL."""
        now = self._now()
        before = self._unanswered.get((app, url)) or _Unanswered(0, now)
        minute = self._by_app.get(app)
        if minute is None or now >= minute.next_at:
            minute = _Unanswered(0, now + _MINUTE)
        if now < before.next_at or minute.number >= MOST_UNANSWERED:
            return False
        pause = min(FIRST_PAUSE_SECONDS * 2 ** min(before.number, 10), LONGEST_PAUSE_SECONDS)
        self._unanswered.put((app, url), _Unanswered(before.number + 1, now + pause))
        self._by_app.put(app, minute._replace(number=minute.number + 1))
        return True

    def _is_answered(self, app: str, remote: Remote) -> bool:
        challenge = self._random_bytes(16).hex()
        message = challenge_message(message_id(app, remote.url, challenge), challenge, self._clock())
        try:
            answer = self._ask(remote, app, message.id, message.body)
        except NoAnswer:
            return False
        if answer.status // 100 != 2 or not answers_challenge(answer.body, challenge, complete=answer.complete):
            return False
        minute = self._by_app.get(app)
        if minute is not None:
            self._by_app.put(app, minute._replace(number=max(minute.number - 1, 0)))
        return True
