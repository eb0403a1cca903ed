"""Delivers signed messages to endpoints, and stores the result of each attempt.

Owns the order of the steps. A message is sent first, and stored as delivered afterwards, so it arrives at least once.
The messages of a game are sent in their order, each after the one before was delivered or given up. Does not depend on
when an endpoint has its turn, nor on how many attempts run at a time (``service.workers.messenger``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from time import monotonic
from typing import Final, NamedTuple

from service.backends.values import DeliveryAttempt, DueGame, RequestedMessage, Webhook
from service.backends.webhooks.endpoint_states import MAX_ATTEMPTS, pause
from service.backends.webhooks.messages import (
    DEADLINE,
    DELETED,
    TURN,
    Message,
    answers_challenge,
    challenge_message,
    deleted_message,
    game_messages,
    message_again,
    message_id,
    sample_message,
)
from service.backends.webhooks.store import RedisWebhooks
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope
from service.games.ports import TRACE, RandomBytes, TimeSource, Unreadable, trace_headers
from service.games.store.repository import GameRepository
from service.outgoing.sender import Answer, Sender, SendFailed, signed_headers
from service.redis.errors import OutcomeUnknown, StorageUnavailable

TIMEOUT_SECONDS: Final = 10.0
MAX_ANSWER_BYTES: Final = 4096
"""Bytes of a response that are read. Only the response to a challenge needs its body."""
FRESH_SECONDS: Final = 2.0
"""Seconds for which a game that this process has just published is taken from memory."""
_PAGE: Final = 1000
_GONE: Final = 410
_THROTTLED: Final = (429, 502, 503, 504)

_log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The outcome of attempts to notify an endpoint of a game.

    ``delivered``: messages that were delivered.
    ``failed``: whether the last attempt failed.
    ``retry_after``: milliseconds from the ``Retry-After`` of the failed attempt, if it had one.
    ``gone``: whether the endpoint answered 410.
    """

    delivered: int = 0
    failed: bool = False
    retry_after: int | None = None
    gone: bool = False


@dataclass(eq=False, repr=False)
class Deliveries:
    """Delivers messages to the endpoints of a store.

    ``clock``: the clock of the store.
    ``signing_clock``: the clock of this machine. Receivers compare the time of a signature with their own clocks, and
    refuse a message if they differ by minutes.
    ``jitter``: returns numbers from 0 to 1, by which pauses vary.
    ``observe``: is called with each attempt.

    Every method raises ``StorageUnavailable`` and ``OutcomeUnknown``. It can be called again; then a message can arrive
    twice.
    """

    store: RedisWebhooks
    repository: GameRepository
    sender: Sender
    _: KW_ONLY
    clock: TimeSource
    signing_clock: TimeSource
    random_bytes: RandomBytes
    jitter: Callable[[], float]
    observe: Callable[[DeliveryAttempt], None]

    def challenge(self, webhook: Webhook) -> bool:
        """Send a new challenge to an endpoint. Return whether it answered with the challenge."""
        challenge = self.random_bytes(16).hex()
        message = challenge_message(message_id(webhook.id, challenge), challenge, self.clock())
        attempt, _ = self._send(webhook, message, None, challenge=challenge)
        self.store.log(webhook, attempt)
        return attempt.error is None

    def send_requested(self, webhook: Webhook, requested: RequestedMessage) -> None:
        """Try once to send a requested message. If the message cannot be made any more, store a failed attempt."""
        message = self._make_requested(webhook, requested)
        if message is None:
            name, kind, happened_at, game, version = requested
            attempt = DeliveryAttempt(name, kind, game, self.clock(), 0, None, "gone", version, happened_at)
            self.observe(attempt)
        else:
            attempt, _ = self._send(webhook, message, requested.game)
        self.store.log(webhook, attempt)

    def deliver(self, webhook: Webhook, due: DueGame, *, probe: bool, may_send: Callable[[], bool]) -> Outcome:
        """Notify an endpoint of a game up to the version in the index. Stop earlier when ``may_send`` returns false.

        When an attempt fails, the game is deferred, or the message given up after ``MAX_ATTEMPTS`` failures. If the
        attempt was the ``probe`` of a failing endpoint, it is not counted as a failure of the game.
        """
        TRACE.set("")
        messages, version = self._messages(webhook, due)
        delivered = 0
        if not messages:
            self.store.mark_notified(webhook, due, version, done=True)
            return Outcome()
        for reached, message in zip(_reached(messages, version), messages, strict=True):
            if not may_send():
                break
            attempt, answer = self._send(webhook, message, due.game)
            done = message is messages[-1]
            is_gone = attempt.status == _GONE
            if attempt.error is None:
                delivered += 1
            elif not probe and not is_gone and due.failures + 1 >= MAX_ATTEMPTS:
                attempt = attempt._replace(error="given_up")  # counts as notified, so that the next message follows
            else:
                failures = due.failures + 1
                at = self.clock() + pause(failures, self.jitter())
                self.store.mark_failed(webhook, due, at, count=not probe, attempt=attempt)
                retry_after = answer.retry_after if answer is not None and answer.status in _THROTTLED else None
                wait = None if retry_after is None else 1000 * retry_after
                return Outcome(delivered, failed=True, retry_after=wait, gone=is_gone)
            self.store.mark_notified(webhook, due, reached, done=done, attempt=attempt)
            due = due._replace(failures=0)
        return Outcome(delivered)

    def defer(self, webhook: Webhook, due: DueGame) -> None:
        """Defer a game after an internal error while its messages were made."""
        at = self.clock() + pause(due.failures + 1, self.jitter())
        self.store.mark_failed(webhook, due, at, count=True, attempt=None)

    def _make_requested(self, webhook: Webhook, requested: RequestedMessage) -> Message | None:
        """Return a requested message, or ``None`` instead of an error in making it, which would block all others."""
        try:
            return self._requested(webhook, requested)
        except (Gone, NotFound):
            return None
        except Unreadable:
            _log.warning("the message %s is of a game that cannot be read, and is not sent again", requested.id)
        except (StorageUnavailable, OutcomeUnknown):
            raise
        except Exception:
            _log.exception("the message %s could not be made again", requested.id)
        return None

    def _requested(self, webhook: Webhook, requested: RequestedMessage) -> Message | None:
        """Return a requested message.

        If its game does not exist any more, return ``None`` or raise ``Gone`` or ``NotFound``.
        """
        if requested.game is None:
            return sample_message(webhook.id, requested.id, requested.type, requested.happened_at)
        if requested.type == DELETED:
            return deleted_message(webhook.id, requested.game, requested.version, requested.happened_at)
        game = self.repository.reader.load(requested.game)
        if game is None or game.version < requested.version:
            return None
        (event,) = self.repository.histories.events_after(game, requested.version - 1, 1)
        if requested.type in (TURN, DEADLINE):
            game = self.repository.histories.at_version(game, requested.version)
        return message_again(webhook.id, game, event, requested.type)

    def _messages(self, webhook: Webhook, due: DueGame) -> tuple[list[Message], int]:
        """Return the messages of a game that an endpoint is sent, and the version up to which they notify it."""
        after = max(due.notified - 1, 0)
        try:
            stored = self._published(due, after) or self._read(due.game, after)
        except NotFound:
            return [], due.notified
        except Gone as error:
            if error.app != webhook.app or error.version <= due.notified or DELETED not in webhook.events:
                return [], error.version
            return [deleted_message(webhook.id, due.game, error.version, self.clock())], error.version
        if stored is None or stored[0].ownership is None or stored[0].ownership.app != webhook.app:
            return [], due.notified
        game, events = stored
        TRACE.set(game.trace)
        version = min(due.version or game.version, game.version)
        before: tuple[int, ...] = ()
        if events and events[0].version <= due.notified:  # sent before: only tells who could move before the rest
            before, events = events[0].to_act, events[1:]
        messages = game_messages(webhook.id, game, before, events, types=webhook.events)
        return [message for message in messages if message.version <= version], version

    def _published(self, due: DueGame, after: int) -> tuple[Game, list[EventEnvelope]] | None:
        """Return a game and its events after a version from memory, if this process has just published it."""
        published = self.repository.cache.published.get(due.game)
        if published is None or published.game.version != due.version or monotonic() - published.at > FRESH_SECONDS:
            return None
        if published.events[0].version > after + 1:
            return None
        return published.game, [event for event in published.events if event.version > after]

    def _read(self, game_id: str, after: int) -> tuple[Game, list[EventEnvelope]] | None:
        """Return the stored game, with all its events after a version."""
        stored = self.repository.histories.game_with_events(game_id, after, _PAGE)
        if stored is None:
            return None
        game, events, _ = stored
        page = events
        while page and page[-1].version < game.version:
            page = self.repository.histories.events_after(game, page[-1].version, _PAGE)
            events = [*events, *page]
        return game, events

    def _send(
        self, webhook: Webhook, message: Message, game: str | None, *, challenge: str | None = None
    ) -> tuple[DeliveryAttempt, Answer | None]:
        """Make one attempt to send a message; an attempt without an ``error`` was answered as it has to be.

        That is with 2xx, and with the challenge if the message has one.
        """
        at = self.clock()
        secrets = [webhook.secret]
        if webhook.old_secret is not None and at < webhook.old_secret_until:
            secrets.append(webhook.old_secret)
        unfinished = DeliveryAttempt(message.id, message.type, game, at, 0, None, None, message.version, message.at)
        headers = signed_headers(message.id, self.signing_clock() // 1000, message.body, secrets)
        if TRACE.get():
            headers |= trace_headers(self.random_bytes(8))
        url, app = webhook.url, webhook.app
        try:
            answer = self.sender.post(
                url, headers, message.body, app=app, timeout=TIMEOUT_SECONDS, max_answer=MAX_ANSWER_BYTES
            )
        except SendFailed as error:
            attempt = unfinished._replace(milliseconds=error.ms, error=error.reason)
            self.observe(attempt)
            return attempt, None
        fault = None if 200 <= answer.status < 300 else "status"
        if fault is None and challenge and not answers_challenge(answer.body, challenge, complete=answer.complete):
            fault = "challenge"
        attempt = unfinished._replace(milliseconds=answer.ms, status=answer.status, error=fault)
        self.observe(attempt)
        if TRACE.get():
            fields = {"type": message.type, "status": answer.status, "duration_ms": answer.ms}
            _log.info("message to an endpoint", extra={"fields": fields})
        return attempt, answer


def _reached(messages: list[Message], version: int) -> list[int]:
    """Return, for each message, the version up to which the endpoint is notified when it was delivered.

    A message can have a lower version than one before it, since the message of a turn is sent last. So the result is
    lower than the version of every message that follows.
    """
    reached = [
        min(version, *[message.version - 1 for message in messages[place:]]) for place in range(1, len(messages))
    ]
    return [*reached, version]
