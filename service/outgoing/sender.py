"""Sends requests to addresses of strangers, each within a time limit, and reads a bounded answer.

Owns the request as a whole, and the signature of a message. There is one way to a socket, ``Sender._open``, which
checks every address of the host and connects to one of those; no redirect is followed, and no variable of the
environment names a proxy. Does not depend on what is sent.
"""

from __future__ import annotations

import base64
import hmac
import re
import socket
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, HTTPResponse, IncompleteRead
from time import monotonic
from typing import Final, NamedTuple, cast

from service.outgoing.addresses import EVERYWHERE, Network, RefusedUrl, Target, check_url, resolve
from service.outgoing.connection import (
    Connect,
    Connection,
    Deadline,
    Key,
    Open,
    Pool,
    TooMuch,
    connect_one,
    connect_socket,
)
from service.outgoing.lookups import LOOKUP_SECONDS, Lookup, LookupFailed, Lookups, system_lookup

# A tunnel through the operator's proxy, which then decides where requests may go.


_FINAL: Final = 200
_SWITCHING: Final = 101
_REFUSED: Final = (403, 407)  # what smokescreen and other filtering proxies answer


class _Response(HTTPResponse):
    """An answer after any number of interim ones (RFC 9110, 15.2), of which ``http.client`` knows 100 alone.

    101 is a final one: nobody has asked for another protocol.
    """

    def begin(self) -> None:
        super().begin()
        while self.status < _FINAL and self.status != _SWITCHING:
            self.headers = None  # type: ignore[assignment] # as before the first answer, so that the next one is read
            super().begin()


class TunnelRefused(Exception):
    """The proxy does not allow requests to this host."""


def open_tunnel(connection: Connection, authority: str) -> None:
    """Have the proxy connect to ``authority`` (``host:port``).

    Raises:
        TunnelRefused: the proxy does not allow it.
        ConnectionError: the proxy could not connect.
    """
    connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("ascii"))
    response = _Response(cast(socket.socket, connection), method="CONNECT")
    response.begin()
    if response.status in _REFUSED:
        raise TunnelRefused
    if response.status != 200:
        raise ConnectionError(f"the proxy answers {response.status}")


MAX_ANSWER_BYTES: Final = 65_536
REASONS: Final = ("refused_address", "lookup", "connection", "tls", "timeout", "too_large", "not_http")
"""Why a request got no answer: see ``SendFailed``."""

_HEAD_BYTES: Final = 65_536
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE: Final = re.compile(r"[ -~]*")
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_NOBODY: Final = ""
"""For whom the proxy is looked up, in place of an application: it has its own share."""


class Answer(NamedTuple):
    """The answer of the other side; success is a status of 2xx alone.

    ``body`` is as it was sent, never decompressed, and cut off where it is longer than allowed: then it is not
    ``complete``. ``retry_after`` is in seconds, as the header ``Retry-After`` asks for; ``ms`` is the time it all took.
    """

    status: int
    body: bytes
    retry_after: int | None
    ms: int
    complete: bool


class SendFailed(Exception):
    """There was no answer, for this ``reason``, after these milliseconds.

    ``refused_address``: the URL, or an address of its host, is not allowed (any more), the host has none, or the proxy
    refuses it; ``lookup``: no name server told the address of the host, or too many look-ups of the application were
    under way; ``connection``: it could not be connected, or broke; ``tls``: no TLS, or no valid certificate for the
    host; ``timeout``; ``too_large``: the head of the answer; ``not_http``: no HTTP.
    """

    def __init__(self, reason: str, ms: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ms = ms


class _Exchange(NamedTuple):
    """A request, its target and application, and how many bytes of the answer to read."""

    app: str
    target: Target
    request: bytes
    max_answer: int


class Sender:
    """Sends requests for all threads of a process.

    ``networks`` are allowed although they are not public. With a ``proxy`` (``http://host:port``) every request goes
    through a tunnel of the proxy, which decides about addresses: no host but the proxy is looked up here, and
    ``networks`` has to be empty. ``app`` is the application that has given a URL, whose look-ups have a bound.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        networks: Collection[Network] = (),
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        lookup: Lookup = system_lookup,
        connect: Connect | None = None,
    ) -> None:
        self._user_agent = user_agent
        self._networks = networks
        self._proxy = None if proxy is None else check_url(proxy, EVERYWHERE)
        self._tls = tls or ssl.create_default_context()
        self._lookups = Lookups(lookup)
        self._connect = connect or connect_socket
        self._pool = Pool()

    def check(self, url: str, app: str) -> None:
        """Refuse a URL to which no request would be sent now; a host is looked up unless that is for the proxy.

        Raises:
            RefusedUrl: see ``service.outgoing.addresses.REASONS``.
            LookupFailed: the host could not be looked up now.
        """
        target = check_url(url, self._networks)
        if self._proxy is None:
            resolve(target, self._networks, partial(self._lookups.find, app))

    def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        app: str,
        timeout: float,
        max_answer: int = MAX_ANSWER_BYTES,
    ) -> Answer:
        """Post a JSON text, and return the answer, whatever its status.

        All of it, from the look-up to the last byte, takes ``timeout`` seconds at most. On a connection that was open
        before and is closed by the other side without an answer, the request is repeated once, on a new one: so it may
        arrive twice.

        Raises:
            SendFailed: there was no answer.
            ValueError: a header is not one that can be sent.
        """
        deadline = Deadline(timeout)
        try:
            target = check_url(url, self._networks)
            request = self._request(target, headers, body)
            return self._exchange(_Exchange(app, target, request, max_answer), deadline)
        except (RefusedUrl, TunnelRefused):
            reason = "refused_address"
        except LookupFailed:
            reason = "lookup"
        except TimeoutError:
            reason = "timeout"
        except ssl.SSLError:
            reason = "tls"
        except (OSError, IncompleteRead):  # also http.client.RemoteDisconnected
            reason = "connection"
        except TooMuch:
            reason = "too_large"
        except HTTPException:
            reason = "not_http"
        raise SendFailed(reason, deadline.elapsed_ms()) from None

    def close(self) -> None:
        """Close the connections that wait for another request."""
        self._pool.close()

    def _request(self, target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the whole request as it is sent."""
        fields = {
            "Host": target.authority,
            "User-Agent": self._user_agent,
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        for name, value in fields.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"the header {name!r} cannot be sent")
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {target.path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body

    def _exchange(self, exchange: _Exchange, deadline: Deadline) -> Answer:
        target = exchange.target
        key = (target.scheme, target.host, target.port)
        waiting = self._pool.take(key)
        if waiting is not None:
            try:
                return self._ask(key, waiting, exchange, deadline)
            except TimeoutError:
                raise
            except OSError:
                if waiting.connection.has_received:
                    raise
        return self._ask(key, self._open(target, exchange.app, deadline), exchange, deadline)

    def _ask(self, key: Key, entry: Open, exchange: _Exchange, deadline: Deadline) -> Answer:
        """Send the request on this connection, and read the answer; then the connection waits, or is closed."""
        connection, max_answer = entry.connection, exchange.max_answer
        reusable = False
        try:
            connection.begin(deadline, _HEAD_BYTES + max_answer)
            connection.sendall(exchange.request)
            response = _Response(cast(socket.socket, connection), method="POST")
            response.begin()
            body = response.read(max_answer + 1)
            if response.length and len(body) <= max_answer:
                raise ConnectionError("the answer ends too early")
            complete = len(body) <= max_answer
            reusable = response.isclosed() and not response.will_close and response.status >= 200
        finally:
            if reusable:
                self._pool.put(key, entry)
            else:
                connection.close()
        retry_after = _retry_after(response.headers.get("Retry-After"))
        return Answer(response.status, body[:max_answer], retry_after, deadline.elapsed_ms(), complete)

    def _open(self, target: Target, app: str, deadline: Deadline) -> Open:
        """Return a new connection to the target. The only place that opens a socket."""
        if self._proxy is None:
            hop, networks = target, self._networks
        else:
            hop, networks, app = self._proxy, EVERYWHERE, _NOBODY
        seconds = min(deadline.left(), LOOKUP_SECONDS)
        addresses = resolve(hop, networks, lambda host: self._lookups.find(app, host, seconds))
        sock = connect_one(addresses, hop.port, deadline, self._connect)
        connection = Connection(sock, deadline)
        try:
            if self._proxy is not None:
                connection.begin(deadline, _HEAD_BYTES)
                open_tunnel(connection, f"{target.host_in_brackets}:{target.port}")
            if target.scheme == "https":
                connection.start_tls(self._tls, target.host)
        except BaseException:
            connection.close()
            raise
        return Open(connection, monotonic())


def _retry_after(text: str | None) -> int | None:
    """Return the seconds that a ``Retry-After`` asks for, as a number or as a date; ``None`` if it asks for nothing."""
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        return int(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0, int((date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()))
    except (ValueError, OverflowError):
        return None


# Signatures of messages by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).


SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"


def new_secret(random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a new secret: 32 random bytes."""
    return random_bytes(SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """Return the secret as its owner gets it: ``whsec_`` and Base64."""
    return _PREFIX + base64.b64encode(secret).decode("ascii")


def signed_headers(message: str, seconds: int, body: bytes, secrets: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of an attempt to deliver a message, with a signature by each secret (two during rotation).

    ``message`` is the id, the same for all attempts, without a dot; ``seconds`` the time of this attempt since 1970.
    """
    signed = f"{message}.{seconds}.".encode("ascii") + body
    signatures = (base64.b64encode(hmac.digest(secret, signed, "sha256")).decode("ascii") for secret in secrets)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
