"""News of games as they happen: one reader a server and process, over Redis' sharded channels.

Owns the connections that listen, and who listens to which game. A channel is the key of the game, so a Cluster has it
in the game's own slot. What is published is only a hint: whenever something may have been missed (a new subscription,
a broken connection, a slot that moved) the listeners of the game are told ``None``, and ask the store.
Must not know what an event means.

One thread, the tender, makes and mends connections and subscribes; one more a connection reads. Under gevent both are
greenlets. Nothing runs before somebody listens.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final

from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import RedisError, ResponseError

from service.games.ports import EventNotification, Feed, Listener
from service.storage import keys
from service.storage.connection import NotSent
from service.storage.event_frames import parse_notification
from service.storage.topology import Topology

PING_SECONDS: Final = 2.0
"""How often a connection is tried, and whether it still leads where it should."""
SILENCE_SECONDS: Final = 5.0
"""After how long a silent connection is given up."""
RETRY_SECONDS: Final = 0.25
"""After how long a subscription that failed is tried again."""

_log = logging.getLogger(__name__)


class RedisEventFeed(Feed):
    """Tells the listeners of this process what is published about their games."""

    def __init__(self, nodes: Topology) -> None:
        self._nodes = nodes
        self._lock = Lock()
        self._listeners: dict[bytes, list[Listener]] = {}
        self._work: SimpleQueue[bytes | _SubscriberConnection | None] = SimpleQueue()
        self._tender: Thread | None = None
        self._lines: dict[str, _SubscriberConnection] = {}
        self._where: dict[bytes, _SubscriberConnection] = {}
        self._retries: dict[bytes, float] = {}
        self._down: dict[str, tuple[float, NotSent]] = {}
        self._next_ping = 0.0

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` what happens in a game from now on."""
        channel = keys.state(game)
        with self._lock:
            listeners = self._listeners.setdefault(channel, [])
            listeners.append(listener)
            if len(listeners) == 1:
                self._work.put(channel)
            if self._tender is None:
                self._tender = Thread(target=self._run, name="tender of the news", daemon=True)
                self._tender.start()

        def stop() -> None:
            with self._lock:
                left = self._listeners.get(channel, [])
                if listener in left:
                    left.remove(listener)
                    if not left:
                        del self._listeners[channel]
                        self._work.put(channel)

        return stop

    def close(self) -> None:
        """Tell nobody any more, and hang up."""
        self._work.put(None)
        tender = self._tender
        if tender is not None:
            tender.join(1)

    # The tender

    def _run(self) -> None:
        """Make the subscriptions those that are wanted, until the end."""
        self._next_ping = monotonic() + PING_SECONDS
        while True:
            try:
                task = self._work.get(timeout=max(self._next_task() - monotonic(), 0))
            except Empty:
                self._do_what_is_due()
                continue
            if task is None:
                for line in list(self._lines.values()):
                    self._drop(line)
                return
            if isinstance(task, _SubscriberConnection):
                self._reconnect(task)  # once more does no harm
            else:
                self._sync(task)

    def _next_task(self) -> float:
        return min([self._next_ping, *self._retries.values()])

    def _do_what_is_due(self) -> None:
        now = monotonic()
        for channel, due in list(self._retries.items()):
            if due <= now:
                del self._retries[channel]
                self._sync(channel)
        if self._next_ping <= now:
            self._next_ping = now + PING_SECONDS
            for channel, line in list(self._where.items()):
                self._follow_move(channel, line)
            for line in list(self._lines.values()):
                if line.channels:
                    line.ping()
                else:
                    self._drop(line)

    def _sync(self, channel: bytes) -> None:
        """Subscribe to a channel that is wanted, and leave one that is not."""
        line = self._where.get(channel)
        if channel in self._listeners:
            if line is None and channel not in self._retries:
                self._subscribe(channel)
        elif line is not None:
            del self._where[channel]
            line.unsubscribe(channel)

    def _follow_move(self, channel: bytes, line: _SubscriberConnection) -> None:
        """Leave a line to a server that has lost the channel, which does not always say so."""
        with contextlib.suppress(NotSent):
            if self._nodes.node(channel) != line.name:
                del self._where[channel]
                line.unsubscribe(channel)
                self._subscribe(channel)

    def _subscribe(self, channel: bytes) -> None:
        try:
            line = self._subscriber_to(channel)
        except NotSent as error:
            self._retry(channel, error)
        except Exception as error:
            _log.exception("news cannot be subscribed to")  # without the tender nobody would hear anything any more
            self._retry(channel, error)
        else:
            self._where[channel] = line
            line.subscribe(channel)

    def _subscriber_to(self, channel: bytes) -> _SubscriberConnection:
        node = self._nodes.node(channel)
        line = self._lines.get(node)
        if line is None:
            until, why = self._down.get(node, (0.0, NotSent()))
            if monotonic() < until:
                raise NotSent from why.__cause__  # tried just now for another channel
            try:
                connection, node = self._nodes.open_subscriber(channel)
            except NotSent as error:
                self._down[node] = monotonic() + RETRY_SECONDS, error
                raise
            if node in self._lines:
                connection.disconnect()
            else:
                self._lines[node] = _SubscriberConnection(node, connection, self._notify, self._work.put)
            line = self._lines[node]
        return line

    def _reconnect(self, line: _SubscriberConnection) -> None:
        """Take the channels of a line that broke elsewhere."""
        self._drop(line)
        # What the server said of one channel does not hold for the others.
        error = ConnectionBroken("the line broke") if isinstance(line.error, ResponseError) else line.error
        for channel in line.channels:
            if self._where.get(channel) is line:
                del self._where[channel]
                self._retry(channel, error)

    def _retry(self, channel: bytes, error: Exception) -> None:
        self._nodes.report_failure(channel, error)
        self._retries[channel] = monotonic() + RETRY_SECONDS

    def _drop(self, line: _SubscriberConnection) -> None:
        line.close()
        if self._lines.get(line.name) is line:
            del self._lines[line.name]

    # The readers

    def _notify(self, channel: bytes, news: EventNotification | None) -> None:
        with self._lock:
            listeners = tuple(self._listeners.get(channel, ()))
        for listener in listeners:
            listener(news)


class _SubscriberConnection:
    """One connection that listens: what it is subscribed to, and the thread that reads it.

    The tender alone sends on it, the reader alone receives. Whatever goes wrong breaks the whole line: that is rare,
    and all its channels are then subscribed anew.
    """

    def __init__(
        self,
        name: str,
        connection: Any,
        hear: Callable[[bytes, EventNotification | None], None],
        report: Callable[[_SubscriberConnection], None],
    ) -> None:
        self.name = name
        self.channels: set[bytes] = set()
        self.error: Exception = ConnectionError("given up")
        """Why it broke."""
        self._connection = connection
        self._hear = hear
        self._report = report
        self._leaving: Counter[bytes] = Counter()
        self._open = True
        connection.update_current_socket_timeout(SILENCE_SECONDS)
        self._reader = Thread(target=self._read, name=f"reader of {name}", daemon=True)
        self._reader.start()

    def subscribe(self, channel: bytes) -> None:
        """Subscribe."""
        self.channels.add(channel)
        self._send(b"SSUBSCRIBE", channel)

    def unsubscribe(self, channel: bytes) -> None:
        """Unsubscribe."""
        self.channels.discard(channel)
        self._leaving[channel] += 1
        self._send(b"SUNSUBSCRIBE", channel)

    def ping(self) -> None:
        """Ask for a sign of life."""
        self._send(b"PING")

    def close(self) -> None:
        """Close the connection; the reader ends."""
        self._open = False
        self._connection.disconnect()

    def _send(self, *words: bytes) -> None:
        if not self._connection.is_connected:
            return  # redis-py would connect again
        with contextlib.suppress(RedisError, OSError):  # the reader finds it broken, and says so
            self._connection.send_packed_command(self._connection.pack_command(*words), check_health=False)

    def _read(self) -> None:
        try:
            while self._open:
                self._take(self._connection.read_response(disconnect_on_error=False))
        except Exception as error:
            if self._open:
                self.error = error
                _log.warning("news of %s broke off: %s", self.name, type(error).__name__)
        self._report(self)

    def _take(self, answer: Any) -> None:
        if not isinstance(answer, list) or answer[0] == b"pong":
            return
        kind, channel, content = answer
        if kind == b"smessage":
            self._hear(channel, parse_notification(content))
        elif kind == b"ssubscribe":
            self._hear(channel, None)
        elif self._leaving[channel] > 1:
            self._leaving[channel] -= 1
        elif self._leaving[channel]:
            del self._leaving[channel]
        else:
            raise ConnectionError("the slot has moved")
