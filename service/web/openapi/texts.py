"""What the document says beside its routes and shapes: of the service as a whole, of headers and parts of addresses.

Owns words only. Must not know which operation uses which header: that stands beside its route.
"""

from __future__ import annotations

from typing import Any, Final

from service.games.catalogue import LANGUAGES
from service.web.request_parsing import KEY_PATTERN
from service.web.schemas.requests import HIGHEST_VERSION

DESCRIPTION: Final = """\
Deals, referees and counts domino games. Every game view lists the legal moves of its holder, each ready to be posted
back as it stands, so that a client needs to know no rule.

A token is sent as `Authorization: Bearer <token>`. A field with nothing to say is absent, never null. Clients ignore
fields that they do not know; words that may grow are plain strings with a documented list.

Every answer to a request that is HTTP has an `X-Request-ID`: the client's, if it sent one of 1 to 64 letters, digits,
`.`, `_` or `-`, else a new one. The log of the service names it, so it helps to keep it with an error report.

Every error is `application/problem+json`, with a stable `code`:

| code | status | meaning |
|---|---|---|
"""

TAGS: Final = {
    "variants": "The games on offer.",
    "games": "A hosted match: its seats, its table, its score.",
    "moves": "What a seat may do, and doing it.",
    "records": "What can be checked and kept of a game.",
    "service": "The service itself.",
}

RESPONSE_HEADERS: Final = {
    "ETag": "Names this version for this viewer; for `If-None-Match` and `If-Match`.",
    "Cache-Control": "Who may keep the answer.",
    "Vary": "The request headers that the answer depends on.",
    "Location": "The address of the game.",
    "Content-Language": "The language of the texts.",
    "Idempotent-Replayed": "`true` when this is the first answer once more.",
    "Retry-After": "Seconds to wait.",
    "RateLimit": "What is left of a limit, by its name, and the seconds until all of it is there: "
    '`"seat";r=5990;t=42`; absent where there is no limit.',
    "RateLimit-Policy": 'How many requests the limit allows in how many seconds: `"seat";q=6000;w=60`; absent where '
    "there is no limit.",
    "Allow": "The methods that this address takes.",
    "WWW-Authenticate": "How to authenticate.",
}

REQUEST_HEADERS: Final[dict[str, dict[str, Any]]] = {
    "Accept-Language": {
        "description": f"The language of the texts: {' or '.join(LANGUAGES)}.",
        "schema": {"type": "string"},
        "example": "de",
    },
    "If-None-Match": {
        "description": "An `ETag` known to the client; answered with 304 if the game is still there.",
        "schema": {"type": "string"},
        "example": '"17-2"',
    },
    "Last-Event-ID": {
        "description": "As `after`, and before it: what an `EventSource` sends when it connects again.",
        "schema": {"type": "integer", "minimum": 0, "maximum": HIGHEST_VERSION},
        "example": 17,
    },
    "Idempotency-Key": {
        "description": "A key of the client's own making, at random and 1 to 255 visible characters long: the same "
        "key and body again within 24 hours, from anywhere, give the first answer and change nothing. Whoever knows "
        "key and body can have the answer again, so a key should not be guessable; a UUID does well.",
        "schema": {"type": "string", "pattern": KEY_PATTERN},
        "example": "9f1e6b1c-6f1d-4a55-8a3e-2d2f6d1b7c40",
    },
    "If-Match": {
        "description": "The version, or the view's whole `ETag`, that the move is meant for.",
        "schema": {"type": "string"},
        "example": '"17"',
    },
}

PATH_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "game": {"description": "The id of the game.", "schema": {"type": "string"}, "example": "5m1Gd5tIvN3vYhYkS0oJGA"},
    "seat": {"description": "The number of the seat.", "schema": {"type": "integer", "minimum": 0}, "example": 0},
    "variant": {"description": "The id of the variant.", "schema": {"type": "string"}, "example": "domino"},
}
