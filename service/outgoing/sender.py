"""Sends requests to URLs of users within a time limit, and reads responses of limited size.

Owns the request and the signature of a message. Only ``Sender._open`` opens sockets: it checks every address of the
host and connects to one of them. Redirects are not followed, and proxies in environment variables are ignored. Does not
depend on what is sent.
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
from typing import Final, NamedTuple, cast

from service.outgoing.addresses import EVERYWHERE, Network, RefusedUrl, Target, check_url, resolve
from service.outgoing.connection import (
    Connect,
    Connection,
    Deadline,
    Key,
    Pool,
    ResponseTooLarge,
    connect_one,
    connect_socket,
)
from service.outgoing.lookups import LOOKUP_SECONDS, Lookup, LookupFailed, Lookups, system_lookup

# A tunnel through the proxy of the operator. The proxy decides where requests may go.


_FINAL: Final = 200
_SWITCHING: Final = 101
_REFUSED: Final = (403, 407)  # what smokescreen and other filtering proxies answer


class _Response(HTTPResponse):
    """A response that skips all interim ones (RFC 9110, 15.2); ``http.client`` itself only skips the status 100.

    101 counts as final, since no request offers another protocol.
    """

    def begin(self) -> None:
        super().begin()
        while self.status < _FINAL and self.status != _SWITCHING:
            self.headers = None  # type: ignore[assignment] # with headers, begin() would do nothing
            super().begin()


class TunnelRefused(Exception):
    """The proxy does not allow requests to this host."""


def open_tunnel(connection: Connection, authority: str) -> None:
    """Make the proxy connect to ``authority`` (``host:port``).

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
"""The reasons for which a request has no response: see ``SendFailed``."""

_HEAD_BYTES: Final = 65_536
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE: Final = re.compile(r"[ -~]*")
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_NOBODY: Final = ""
"""The owner of look-ups of the proxy, in place of an application, so that they have a share of their own."""


class Answer(NamedTuple):
    """A response. Only a status of 2xx is a success.

    ``body``: as it was sent, never decompressed.
    ``retry_after``: seconds from the header ``Retry-After``.
    ``ms``: the duration of the request in milliseconds.
    ``complete``: whether ``body`` is all of it; a longer body than allowed is cut off.
    """

    status: int
    body: bytes
    retry_after: int | None
    ms: int
    complete: bool


class SendFailed(Exception):
    """No response was received, for a ``reason``, after ``ms`` milliseconds.

    ``refused_address``: the URL or an address of its host is not allowed (any more), the host has no address, or the
    proxy refuses it.
    ``lookup``: the look-up of the host failed, or too many look-ups of the application were in flight.
    ``connection``: the connection could not be opened, or broke.
    ``tls``: the host has no TLS, or no valid certificate.
    ``timeout``: the time limit has passed.
    ``too_large``: the head of the response is too large.
    ``not_http``: the response is not HTTP.
    """

    def __init__(self, reason: str, ms: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ms = ms


class Sender:
    """Sends requests for all threads of a process.

    ``networks``: networks that are allowed although they are not public.
    ``proxy``: ``http://host:port``. Every request goes through a tunnel of the proxy, which decides about addresses:
    only the proxy is looked up here, and ``networks`` must be empty.

    ``app`` is the application that has given a URL; its look-ups are limited.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        networks: Collection[Network] = (),
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        lookup: Lookup = system_lookup,
        connect: Connect = connect_socket,
    ) -> None:
        self._user_agent = user_agent
        self._networks = networks
        self._proxy = None if proxy is None else check_url(proxy, EVERYWHERE)
        self._tls = tls or ssl.create_default_context()
        self._lookups = Lookups(lookup)
        self._connect = connect
        self._pool = Pool()

    def check(self, url: str, app: str) -> None:
        """Check whether a request may be sent to a URL. Looks up its host, unless there is a proxy.

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
        """Post a JSON text, and return the response with any status.

        It takes at most ``timeout`` seconds from the look-up to the last byte. If an idle connection is used, and the
        other side closes it without a response, the request is sent once more on a new connection. So it can arrive
        twice.

        Raises:
            SendFailed: no response was received.
            ValueError: a header contains characters that cannot be sent.
        """
        deadline = Deadline(timeout)
        try:
            target = check_url(url, self._networks)
            request = self._request(target, headers, body)
            return self._exchange(target, app, request, max_answer, deadline=deadline)
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
        except ResponseTooLarge:
            reason = "too_large"
        except HTTPException:
            reason = "not_http"
        raise SendFailed(reason, deadline.elapsed_ms()) from None

    def close(self) -> None:
        self._pool.close()

    def _request(self, target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
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

    def _exchange(self, target: Target, app: str, request: bytes, max_answer: int, *, deadline: Deadline) -> Answer:
        key = (target.scheme, target.host, target.port)
        waiting = self._pool.take(key)
        if waiting is not None:
            try:
                return self._send(key, waiting, request, max_answer, deadline=deadline)
            except OSError as error:
                if isinstance(error, TimeoutError) or waiting.has_received:
                    raise
        return self._send(key, self._open(target, app, deadline), request, max_answer, deadline=deadline)

    def _send(self, key: Key, connection: Connection, request: bytes, max_answer: int, *, deadline: Deadline) -> Answer:
        """Send the request on a connection and read the response. Then return it to the pool, or close it."""
        reusable = False
        try:
            connection.begin(deadline, _HEAD_BYTES + max_answer)
            connection.sendall(request)
            response = _Response(cast(socket.socket, connection), method="POST")
            response.begin()
            body = response.read(max_answer + 1)
            if response.length and len(body) <= max_answer:
                raise ConnectionError("the answer ends too early")
            complete = len(body) <= max_answer
            reusable = response.isclosed() and not response.will_close and response.status >= 200
        finally:
            if reusable:
                self._pool.put(key, connection)
            else:
                connection.close()
        retry_after = _retry_after(response.headers.get("Retry-After"))
        return Answer(response.status, body[:max_answer], retry_after, deadline.elapsed_ms(), complete)

    def _open(self, target: Target, app: str, deadline: Deadline) -> Connection:
        """Return a new connection to the target. No other function opens a socket."""
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
        return connection


def _retry_after(text: str | None) -> int | None:
    """Return the seconds of a ``Retry-After``, which is a number or a date; ``None`` if it is missing or invalid."""
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        return int(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0, int((date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()))
    except (ValueError, OverflowError):
        return None


# Signatures of messages according to Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).


SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"


def new_secret(random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a new secret: 32 random bytes."""
    return random_bytes(SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """Return the secret as applications receive it: ``whsec_`` and Base64."""
    return _PREFIX + base64.b64encode(secret).decode("ascii")


def signed_headers(message: str, seconds: int, body: bytes, secrets: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of a delivery attempt, with a signature by each secret (two after a change of the secret).

    ``message``: the id of the message, the same for all attempts, without a dot.
    ``seconds``: the time of this attempt, in seconds since 1970.
    """
    signed = f"{message}.{seconds}.".encode("ascii") + body
    signatures = (base64.b64encode(hmac.digest(secret, signed, "sha256")).decode("ascii") for secret in secrets)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
