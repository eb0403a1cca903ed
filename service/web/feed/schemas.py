"""The schemas of the feed of an application."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from marshmallow import Schema, fields

from service.backends.index.feed import LATEST
from service.games.model.game_events import GAME_EVENT_TYPES
from service.web.fields.shown import (
    MAX_WAIT_SECONDS,
    SeatResultSchema,
    optional,
    rematch_of_field,
    required,
    seat_field,
    waiting_for_field,
)
from service.web.fields.strict import RequestSchema, invalid, query_integer, string

_CURSOR_PATTERN: Final = rf"^([0-9]{{1,18}}-[0-9]{{1,18}}|{LATEST})$"


def _check_cursor(text: str) -> None:
    if not re.fullmatch(_CURSOR_PATTERN, text):
        raise invalid("not_a_cursor")


def _cursor(text: str) -> fields.Field[Any]:
    return required(str, text, example="1767727800000-3")


class FeedQuerySchema(RequestSchema):
    """The requested items."""

    after = string(
        "The `cursor` after which items are requested: of an item, or of a page. `latest`: only new items from now "
        "on; a page then has no items, but the cursor to continue from. Default: from the oldest stored item on.",
        validate=_check_cursor,
        pattern=_CURSOR_PATTERN,
    )
    limit = query_integer("The maximum number of items in a page.", 1, 1000, load_default=100)
    wait = query_integer(
        "Seconds that a page waits for an item (long poll); ignored for streams.", 0, MAX_WAIT_SECONDS, load_default=0
    )


class FeedItemSchema(Schema):
    """What has happened in a game of the application."""

    cursor = _cursor("The place of the item in the feed; opaque.")
    game_id = optional(str, "The id of the game; absent in `reset` and `closing`.")
    ref = optional(str, "What the application calls the game now; absent once it is deleted.", example="match-17")
    version = required(
        int, "The version of the game after the event; 0 in `reset` and `closing`.", minimum=0, example=18
    )
    type = required(
        str,
        f"As of the events of a game: {', '.join(f'`{kind.name}`' for kind in GAME_EVENT_TYPES)}. `deleted`: the "
        "game was deleted. `reset`: items after the requested cursor are no longer stored, so read the list of "
        "games; those that are stored follow. In a stream also `closing`, the last one before the service stops.",
        example="played",
    )
    seat = seat_field("The seat that caused the event or is affected by it.")
    to_act = optional(
        [int],
        "The seats that may move after the event. A move may cause several events, as a play that ends the round; "
        "those of the last one count. Absent where it is not known.",
        example=[2],
    )
    waiting_for = waiting_for_field(" The refs are the current ones.")
    deadline = optional(datetime, "The deadline of the next move, if a clock ran; only in the newest event.")
    at = required(datetime, "The time of the event.", example="2026-01-06T19:30:00.000Z")
    winners = optional([int], "Of `finished`: the seats that have won the match.", example=[1])
    rematch_of = rematch_of_field("Of `created`, where the players have begun a rematch by themselves")
    players = optional([SeatResultSchema], "Of `finished`: the result of each seat, in seat order.")


class FeedPageSchema(Schema):
    """A page of the feed."""

    items = required([FeedItemSchema], "Oldest first.")
    cursor = _cursor("The cursor for the next request, as `after`: that of the last item here, or the requested one.")
    more = required(bool, "Whether there are more items already.", example=False)
