"""Follows a game or a feed, and prints each item as a line of JSON, then how it ended.

Arguments: the address of the service, a token or nothing, and what to follow: ``events`` or ``views`` and the id of a
game, or ``feed`` and the number of matches after whose end to stop.
"""

import json
import random
import sys
from collections.abc import Iterator

import httpx
from domino_client import AuthenticatedClient, Client
from domino_client.events import follow, follow_feed, follow_views

_, url, token, what, which = sys.argv
random.random = lambda: 0.02  # the part of its longest pause that a reader waits
client = AuthenticatedClient(url, token) if token else Client(url)


def items() -> Iterator[object]:
    """What is printed of each item."""
    if what == "events":
        for event in follow(client, which):
            yield [event.version, event.type_, event.data.to_dict()]
    elif what == "views":
        for view in follow_views(client, which):
            yield [view.version, view.status, view.you.seat if view.you else None]
    else:
        assert isinstance(client, AuthenticatedClient)
        left = int(which)
        for item in follow_feed(client):
            yield [item.game_id, item.version, item.type_]
            left -= item.type_ == "finished"
            if not left:
                return


try:
    for each in items():
        print(json.dumps(each), flush=True)
    print(json.dumps("end"))
except httpx.HTTPStatusError as error:
    print(json.dumps(error.response.json()["code"]))
