"""The event feed over the sharded pub/sub of Redis: each process has one subscribing connection to each server.

Owns the subscribing connections, and the listeners of each game, and of the feed of each application. A channel is the
key of a game, or of an application, so that in a Cluster it is in the same slot. If a notification may have been missed
(new subscription, broken connection, moved slot), listeners are called with ``None``, and read the store. Does not
depend on what an event means.

One thread, the subscription thread, opens and replaces connections, and subscribes. Each connection has a reader
thread. With gevent these are greenlets. The first listener starts them.
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

from redis.exceptions import RedisError

from service.games.ports import EventFeed, EventNotification, Listener
from service.games.store.redis_store import parse_notification
from service.redis import keys
from service.redis.connection import NotSent, receive
from service.redis.errors import TROUBLES
from service.redis.topology import Topology

PING_SECONDS: Final = 2.0
"""The interval after which each connection is pinged, and the server of each channel is looked up again."""
SILENCE_SECONDS: Final = 5.0
"""The read timeout, after which a connection is closed."""
RETRY_SECONDS: Final = 0.25
"""The delay before a failed subscription is retried."""

_log = logging.getLogger(__name__)


class RedisEventFeed(EventFeed):
    """Passes the published events of games to the listeners of this process."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._lock = Lock()
        self._listeners: dict[bytes, list[Listener]] = {}
        self._tasks: SimpleQueue[bytes | _SubscriberConnection | None] = SimpleQueue()
        """Channels to synchronise, connections that ended, and ``None`` to stop."""
        self._thread: Thread | None = None
        # Only the subscription thread uses the following attributes.
        self._connections: dict[str, _SubscriberConnection] = {}
        self._subscriptions: dict[bytes, _SubscriberConnection] = {}
        self._retries: dict[bytes, float] = {}
        """When to subscribe to a channel again."""
        self._unreachable: dict[str, tuple[float, NotSent]] = {}
        """Until when a server is not tried again, and why."""
        self._next_ping = 0.0

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Notify ``listener`` of the events of a game from now on."""
        channel = keys.state(game)
        with self._lock:
            listeners = self._listeners.setdefault(channel, [])
            listeners.append(listener)
            if len(listeners) == 1:
                self._tasks.put(channel)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="event subscriptions", daemon=True)
                self._thread.start()

        def stop() -> None:
            with self._lock:
                remaining = self._listeners.get(channel, [])
                if listener in remaining:
                    remaining.remove(listener)
                    if not remaining:
                        del self._listeners[channel]
                        self._tasks.put(channel)

        return stop

    def close(self) -> None:
        """Close the connections, which ends all notifications."""
        self._tasks.put(None)
        if self._thread is not None:
            self._thread.join(1)

    # The subscription thread

    def _run(self) -> None:
        """Keep the subscriptions equal to the channels with listeners, until ``close``."""
        self._next_ping = monotonic() + PING_SECONDS
        while True:
            try:
                due = min([self._next_ping, *self._retries.values()])
                task = self._tasks.get(timeout=max(due - monotonic(), 0))
            except Empty:
                self._run_due()
                continue
            if task is None:
                for connection in list(self._connections.values()):
                    self._drop(connection)
                return
            if isinstance(task, _SubscriberConnection):
                self._reconnect(task)  # does nothing if the connection was replaced already
            else:
                self._sync(task)

    def _run_due(self) -> None:
        now = monotonic()
        for channel, due in list(self._retries.items()):
            if due <= now:
                del self._retries[channel]
                self._sync(channel)
        if self._next_ping <= now:
            self._next_ping = now + PING_SECONDS
            for channel, connection in list(self._subscriptions.items()):
                self._follow_move(channel, connection)
            for connection in list(self._connections.values()):
                if connection.channels:
                    connection.ping()
                else:
                    self._drop(connection)

    def _sync(self, channel: bytes) -> None:
        """Subscribe to a channel that has listeners, and unsubscribe from one that has none."""
        connection = self._subscriptions.get(channel)
        if channel in self._listeners:
            if connection is None and channel not in self._retries:
                self._subscribe(channel)
        elif connection is not None:
            del self._subscriptions[channel]
            connection.unsubscribe(channel)

    def _follow_move(self, channel: bytes, connection: _SubscriberConnection) -> None:
        """Subscribe at another server if this one no longer owns the channel, which it does not always announce."""
        with contextlib.suppress(NotSent):
            if self._topology.node(channel) != connection.node:
                del self._subscriptions[channel]
                connection.unsubscribe(channel)
                self._subscribe(channel)

    def _subscribe(self, channel: bytes) -> None:
        try:
            connection = self._connection_for(channel)
        except NotSent:
            self._retry(channel)
        except Exception:
            _log.exception("a game's channel could not be subscribed to")  # this thread must go on for all others
            self._retry(channel)
        else:
            self._subscriptions[channel] = connection
            connection.subscribe(channel)

    def _connection_for(self, channel: bytes) -> _SubscriberConnection:
        """Return the connection to the owner of the channel, opened if there is none. Raises ``NotSent``."""
        node = self._topology.node(channel)
        if node in self._connections:
            return self._connections[node]
        until, failure = self._unreachable.get(node, (0.0, NotSent()))
        if monotonic() < until:
            raise NotSent from failure.__cause__  # the attempt for another channel has just failed
        try:
            opened, node = self._topology.open_subscriber(channel)
        except NotSent as error:
            self._unreachable[node] = monotonic() + RETRY_SECONDS, error
            raise
        if node in self._connections:
            opened.disconnect()
        else:
            self._connections[node] = _SubscriberConnection(node, opened, self._notify, self._tasks.put)
        return self._connections[node]

    def _reconnect(self, connection: _SubscriberConnection) -> None:
        """Close a broken connection, and subscribe to its channels again, perhaps at other servers."""
        self._drop(connection)
        for channel in connection.channels:
            if self._subscriptions.get(channel) is connection:
                del self._subscriptions[channel]
                self._retry(channel)

    def _retry(self, channel: bytes) -> None:
        self._topology.report_failure(channel)
        self._retries[channel] = monotonic() + RETRY_SECONDS

    def _drop(self, connection: _SubscriberConnection) -> None:
        connection.close()
        if self._connections.get(connection.node) is connection:
            del self._connections[connection.node]

    # The reader threads

    def _notify(self, channel: bytes, notification: EventNotification | None) -> None:
        with self._lock:
            listeners = tuple(self._listeners.get(channel, ()))
        for listener in listeners:
            listener(notification)


class _SubscriberConnection:
    """A subscribing connection on which only the subscription thread sends, its channels, and its reader thread.

    Every error, which is rare, breaks the whole connection, and all its channels are subscribed to again.
    """

    def __init__(
        self,
        node: str,
        connection: Any,
        notify: Callable[[bytes, EventNotification | None], None],
        ended: Callable[[_SubscriberConnection], None],
    ) -> None:
        self.node = node
        self.channels: set[bytes] = set()
        self._connection = connection
        self._notify = notify
        self._ended = ended
        self._unsubscribing: Counter[bytes] = Counter()
        self._open = True
        connection.update_current_socket_timeout(SILENCE_SECONDS)
        self._reader = Thread(target=self._read, name=f"event reader of {node}", daemon=True)
        self._reader.start()

    def subscribe(self, channel: bytes) -> None:
        self.channels.add(channel)
        self._send(b"SSUBSCRIBE", channel)

    def unsubscribe(self, channel: bytes) -> None:
        self.channels.discard(channel)
        self._unsubscribing[channel] += 1
        self._send(b"SUNSUBSCRIBE", channel)

    def ping(self) -> None:
        """Send a PING, whose answer keeps the read timeout from expiring."""
        self._send(b"PING")

    def close(self) -> None:
        """Close the connection, which ends the reader thread."""
        self._open = False
        self._connection.disconnect()

    def _send(self, *words: bytes) -> None:
        if not self._connection.is_connected:
            return  # redis-py would connect again
        with contextlib.suppress(RedisError, OSError):  # the reader thread gets the error, too, and reports it
            self._connection.send_packed_command(self._connection.pack_command(*words), check_health=False)

    def _read(self) -> None:
        try:
            while self._open:
                self._handle(receive(self._connection))
        except Exception as error:
            if self._open:
                TROUBLES.begin(f"the event subscriptions at {self.node} break", error)
        self._ended(self)

    def _handle(self, message: Any) -> None:
        if not isinstance(message, list) or message[0] == b"pong":
            return
        kind, channel, content = message
        if kind == b"smessage":
            # A message without content says only that the store has something new.
            self._notify(channel, parse_notification(content) if content else None)
        elif kind == b"ssubscribe":
            TROUBLES.end(f"the event subscriptions at {self.node} break")
            self._notify(channel, None)
        elif self._unsubscribing[channel] > 1:
            self._unsubscribing[channel] -= 1
        elif self._unsubscribing[channel]:
            del self._unsubscribing[channel]
        else:
            raise ConnectionError("the slot has moved")  # the server unsubscribed the channel without a request
