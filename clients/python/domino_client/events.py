"""Readers of streams: the events of a game, the views of a seat, and the feed of an application.

Each yields every item once and in order, and resumes a lost connection where it was; a service that is away is asked
again after random, growing pauses. A refusal that will stay, such as 401 or 404, raises ``httpx.HTTPStatusError``,
whose ``response`` has the problem. The rest of the package is generated.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import httpx
from domino_client.client import AuthenticatedClient, Client
from domino_client.models import FeedItem, Game, GameEvent

_HEADERS = {"Accept": "application/x-ndjson"}
_TIMEOUT = httpx.Timeout(10.0, read=30.0)  # a stream sends something at least every 15 seconds
_LONGEST_PAUSE = 30.0

_Item = dict[str, Any]


def follow(client: AuthenticatedClient | Client, game: str, *, after: int = 0) -> Iterator[GameEvent]:
    """Yield the events of a game after the version ``after``, as the bearer of the client's token may know them.

    Ends when the match is finished or the game deleted. Where the events after that version are not there, ``reset``
    brings the whole game as it is now.
    """
    for item in _items(client, f"/v1/games/{game}/events", {"after": after}, lambda item: item["version"]):
        yield GameEvent.from_dict(item)
        if item["type"] in ("finished", "deleted"):
            return


def follow_views(client: AuthenticatedClient | Client, game: str, *, after: int = 0) -> Iterator[Game]:
    """Yield what the bearer of the client's token may know of a game, now and after every change.

    Ends as ``follow`` does.
    """

    def version(item: _Item) -> Any:
        return item["version"] if item["type"] == "view" else None  # events that lost their view are asked for again

    for item in _items(client, f"/v1/games/{game}/events", {"after": after, "view": "true"}, version):
        if item["type"] == "view":
            yield Game.from_dict(item["game"])
            if item["game"]["status"] == "finished":
                return
        elif item["type"] == "deleted":
            return


def follow_feed(client: AuthenticatedClient, *, after: str | None = None) -> Iterator[FeedItem]:
    """Yield what happens in all games of the application whose key the client has, after the cursor ``after``.

    Without a cursor from the oldest item that is kept. Does not end by itself.
    """
    query = {} if after is None else {"after": after}
    for item in _items(client, "/v1/feed", query, lambda item: item["cursor"]):
        yield FeedItem.from_dict(item)


def _items(
    client: AuthenticatedClient | Client, path: str, query: _Item, cursor: Callable[[_Item], Any]
) -> Iterator[_Item]:
    """Yield the items of a stream, over any number of connections.

    ``cursor`` tells after what to resume when an item has come, or ``None``: as before.
    """
    failures = 0
    while True:
        retry_after = 0.0
        http = client.get_httpx_client()
        try:
            with http.stream("GET", path, params=query, headers=_HEADERS, timeout=_TIMEOUT) as answer:
                seconds = answer.headers.get("Retry-After", "")
                retry_after = float(seconds) if seconds.isdecimal() else 0.0
                if not answer.is_success:
                    answer.read()
                answer.raise_for_status()
                if answer.status_code == HTTPStatus.NO_CONTENT:
                    return  # the match is finished, and nothing is new
                failures = 0
                for item in _lines(answer):
                    reached = cursor(item)
                    query = query if reached is None else {**query, "after": reached}
                    yield item
        except httpx.HTTPStatusError as error:
            if not (error.response.is_server_error or error.response.status_code == HTTPStatus.TOO_MANY_REQUESTS):
                raise
        except httpx.TransportError:
            pass  # the connection was lost, or nobody is there
        time.sleep(retry_after + random.random() * min(_LONGEST_PAUSE, 2.0**failures))  # noqa: S311 # not a secret
        failures = min(failures + 1, 10)


def _lines(answer: httpx.Response) -> Iterator[_Item]:
    """Yield the items that have come whole, but ``closing``: a connection may be lost in the middle of a line."""
    rest = b""
    for data in answer.iter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            item = json.loads(line) if line else None
            if item is not None and item["type"] != "closing":
                yield item
