"""Readers of streams: the events of a game, the views of a seat, and the feed of an application.

Each yields every item once and in order, and resumes a lost connection where it was; a service that is away is asked
again after random, growing pauses; where no stream comes through, pages are read that wait for news. A refusal that
will stay, such as 401 or 404, raises ``httpx.HTTPStatusError``, whose ``response`` has the problem. The rest of the
package is generated.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Generator, Iterator
from http import HTTPStatus
from operator import itemgetter
from typing import Any

import httpx
from domino_client.client import AuthenticatedClient, Client
from domino_client.models import FeedItem, Game, GameEvent

_LINES, _PAGE = "application/x-ndjson", "application/json"
_STREAM_TIMEOUT = httpx.Timeout(10.0, read=30.0)  # it begins at once, and sends something at least every 15 seconds
_WAIT = 25
_PAGE_TIMEOUT = httpx.Timeout(10.0, read=60.0)
_POLLING = 1800.0  # so long it polls before it tries a stream again, which may be silent for half a minute
_LONGEST_PAUSE = 30.0
_MAX_RETRY_AFTER = 300.0

_Item = dict[str, Any]
_VERSION = itemgetter("version")


def follow(client: AuthenticatedClient | Client, game: str, *, after: int = 0) -> Iterator[GameEvent]:
    """Yield the events of a game after the version ``after``, as the bearer of the client's token may know them.

    Ends when the match is finished or the game deleted. Where the events after that version are not there, ``reset``
    brings the whole game as it is now.
    """
    seen = after
    for item in _Reader(client, f"/v1/games/{game}/events", {"after": after}, _VERSION, _of_events, view="true"):
        if item["type"] == "reset" or (item["type"] != "view" and item["version"] > seen):
            seen = item["version"]
            yield GameEvent.from_dict(item)
        if item["type"] in ("finished", "deleted") or _shows_end(item):
            return


def follow_views(client: AuthenticatedClient | Client, game: str, *, after: int = 0) -> Iterator[Game]:
    """Yield what the bearer of the client's token may know of a game, now and after every change.

    Ends as ``follow`` does.
    """

    def version(item: _Item) -> Any:
        return item["version"] if item["type"] == "view" else None  # events that lost their view are asked for again

    for item in _Reader(client, f"/v1/games/{game}/events", {"after": after, "view": "true"}, version, _of_events):
        if item["type"] == "view":
            yield Game.from_dict(item["game"])
        if item["type"] == "deleted" or _shows_end(item):
            return


def follow_feed(client: AuthenticatedClient, *, after: str | None = None) -> Iterator[FeedItem]:
    """Yield what happens in all games of the application whose key the client has, after the cursor ``after``.

    Without a cursor from the oldest item that is kept. Does not end by itself.
    """
    query = {} if after is None else {"after": after}
    for item in _Reader(client, "/v1/feed", query, itemgetter("cursor"), itemgetter("items")):
        yield FeedItem.from_dict(item)


def _of_events(page: _Item) -> list[_Item]:
    """Return the items that a stream would have brought instead of this page of events."""
    events: list[_Item] = page["events"]
    view = {"type": "view", "version": page["version"], "game": page["game"]}
    return [*events, view] if events or _shows_end(view) else []


def _shows_end(item: _Item) -> bool:
    return bool(item["type"] == "view" and item["game"]["status"] == "finished")


class _Reader:
    """The items of a stream, over any number of connections, or of pages where streams do not come through.

    ``cursor`` tells after what to resume when an item has come, or ``None``: as before. ``of_page`` takes the items
    from a page, which is asked for with ``page_query``, too.
    """

    def __init__(  # noqa: PLR0917 # each is one question about what is read
        self,
        client: AuthenticatedClient | Client,
        path: str,
        query: _Item,
        cursor: Callable[[_Item], Any],
        of_page: Callable[[_Item], list[_Item]],
        **page_query: str,
    ) -> None:
        self._client, self._path, self._query, self._page_query = client, path, query, page_query
        self._cursor, self._of_page = cursor, of_page
        self._failures = 0
        self._chances = 0  # as many streams may be silent before it polls: one where streams have come through
        self._poll_until = 0.0
        self._full = False
        self._received = False
        self._retry_after = 0.0

    def __iter__(self) -> Iterator[_Item]:
        while True:
            polling = self._full or time.monotonic() < self._poll_until
            before, silent = self._query.get("after"), False
            self._received, self._retry_after = False, 0.0
            try:
                if (yield from self._connection(polling)):
                    return
            except httpx.HTTPStatusError as error:
                if not (error.response.is_server_error or error.response.status_code == HTTPStatus.TOO_MANY_REQUESTS):
                    raise
                self._full = "too_many_streams" in error.response.text  # a page that does not wait brings the news
            except httpx.ReadTimeout:
                silent = not polling
            except httpx.TransportError:
                pass  # the connection was lost, or nobody is there
            if silent and not self._chances:
                self._poll_until = time.monotonic() + _POLLING
            elif not polling or self._query.get("after") == before:
                self._chances -= silent
                longest = min(_LONGEST_PAUSE, 2.0**self._failures)
                time.sleep(self._retry_after + random.random() * longest)  # noqa: S311 # not a secret
                self._failures = min(self._failures + 1, 10)

    def _connection(self, polling: bool) -> Generator[_Item, None, bool]:
        """Yield the items of one answer, and return whether no more will ever come."""
        accept = _PAGE if polling else _LINES
        wait: _Item = {**self._page_query, "wait": 0 if self._full else _WAIT} if polling else {}
        with self._client.get_httpx_client().stream(
            "GET",
            self._path,
            params={**self._query, **wait},
            headers={"Accept": accept},
            timeout=_PAGE_TIMEOUT if polling else _STREAM_TIMEOUT,
        ) as answer:
            seconds = answer.headers.get("Retry-After", "")
            self._retry_after = min(float(seconds), _MAX_RETRY_AFTER) if seconds.isdecimal() else 0.0
            if not answer.is_success:
                answer.read()
            answer.raise_for_status()
            if answer.status_code == HTTPStatus.NO_CONTENT:
                return True  # the match is finished, and nothing is new
            if not answer.headers.get("Content-Type", "").startswith(accept):
                raise httpx.RemoteProtocolError("an answer of something else than the service")
            for items in [self._of_page(json.loads(answer.read()))] if polling else _lines(answer):
                self._failures = 0 if polling or self._received or items else self._failures
                self._received, self._full = True, False
                self._chances = self._chances if polling else 1
                for item in items:
                    reached = self._cursor(item)
                    self._query = self._query if reached is None else {**self._query, "after": reached}
                    yield item
        return False


def _lines(answer: httpx.Response) -> Iterator[list[_Item]]:
    """Yield what each piece of a stream completes, but ``closing``: it may be lost in the middle of a line."""
    rest = b""
    for data in answer.iter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        items: list[_Item] = [json.loads(line) for line in lines if line]
        yield [item for item in items if item["type"] != "closing"]
