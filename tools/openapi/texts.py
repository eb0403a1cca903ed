"""The texts of the document about the service as a whole, headers, and path parameters.

Does not depend on which operation uses which header.
"""

from __future__ import annotations

from typing import Any, Final

from service.texts import LANGUAGES, language_names
from service.web.fields.moves import MAX_VERSION
from service.web.http.headers import TOKEN_KEY_LENGTH

FIRST: Final = language_names(LANGUAGES[:1])
OTHERS: Final = language_names(LANGUAGES[1:])

DESCRIPTION: Final = f"""\
Deals, referees and scores domino games. Every game view lists the legal moves of its viewer, each of which can be
posted back unchanged, so that a client need not implement any rules.

The paths begin with `/v1`, which only grows: operations, fields and words of documented lists are added; nothing is
renamed, removed or given another meaning.

A token is sent as `Authorization: Bearer <token>`, and so is the key of an application. Fields without a value are
absent, never null. Clients must ignore unknown fields; enumerations that may grow are plain strings with a documented
list.

Every response to a well-formed HTTP request has an `X-Request-ID`: that of the client, if it sent one of 1 to 64
letters, digits, `.`, `_` or `-`, else a new one. It is in the log of the service; include it in error reports.

Every error is `application/problem+json`, with a stable `code` and a stable `reason` that says more;
`GET /problems` describes all of them. `title` and `detail` are for people: in {OTHERS} where
`Accept-Language` prefers it, else in {FIRST}. A token or key in the query is refused with 422, a header `X-Api-Key` in
place of `Authorization` with 401, unknown parameters of a query with 422.
"""

CONTACT: Final = {
    "name": "the domino-service authors",
    "url": "https://domino-service.example",
    "email": "authors@domino-service.example",
}
"""``.example`` is reserved, so that nobody has these addresses: the project has no public ones before a release."""

LICENSE: Final = {"name": "MIT", "url": "https://spdx.org/licenses/MIT.html"}

TAGS: Final = {
    "applications": "Backends that own games: their keys.",
    "games": "A hosted match: its seats, its table, its score.",
    "learning": "Hints on the running turn, and reviews of finished matches.",
    "messages": "What the service sends: messages to the endpoints of applications.",
    "moves": "Legal moves, and making one.",
    "records": "Records, verification and fairness.",
    "service": "The service itself.",
    "variants": "The available variants.",
    "webhooks": "Signed messages to the endpoints of an application, by Standard Webhooks 1.0.",
}

RESPONSE_HEADERS: Final = {
    "ETag": "Identifies this version for this viewer; for `If-None-Match` and `If-Match`.",
    "Cache-Control": "Whether the response may be cached.",
    "Vary": "The request headers on which the response depends.",
    "Location": "The address of the game, the application or the endpoint, relative to that of the request.",
    "Content-Language": "The language of the texts.",
    "Content-Disposition": "What a browser calls the file that it saves; of text.",
    "Idempotent-Replayed": "`true` if this repeats the first response.",
    "Retry-After": "Seconds to wait.",
    "RateLimit": 'Requests left, and seconds until the limit is reset: `"seat";r=5990;t=42`. Absent without a limit.',
    "RateLimit-Policy": 'Requests allowed in so many seconds: `"seat";q=6000;w=60`. Absent without a limit.',
    "Accept-Patch": "The types of the body of a PATCH; absent for other methods.",
    "Allow": "The methods that the resource supports.",
    "WWW-Authenticate": "How to authenticate.",
}

# Neither these nor the parameters of paths and queries have examples that fit one game only: the page at /docs and
# Postman would send them. An `Idempotency-Key` would even be shared by all who do, who would get each other's tokens.
REQUEST_HEADERS: Final[dict[str, dict[str, Any]]] = {
    "Accept-Language": {
        "description": f"The language of the texts: {' or '.join(LANGUAGES)}.",
        "schema": {"type": "string"},
    },
    "If-None-Match": {
        "description": 'An `ETag` known to the client, such as `"17-Zr0q8TmX-2"`; the response is 304 if it is still '
        "current.",
        "schema": {"type": "string"},
    },
    "Last-Event-ID": {
        "description": "Overrides `after`; an `EventSource` sends it when it reconnects.",
        "schema": {"type": "integer", "minimum": 0, "maximum": MAX_VERSION},
    },
    "Idempotency-Key": {
        "description": "A random key, such as a UUID: at most 255 visible characters, at "
        f"least {TOKEN_KEY_LENGTH} where the response contains a token. A request with the same key and body within 24 "
        "hours, of the same application if of any, gets the first response and changes nothing. Do not let it be "
        "guessed.",
        "schema": {"type": "string"},
    },
    "If-Match": {
        "description": 'The version, such as `"17"`, or the `ETag` of the view, that the move is meant for, or '
        "`*` for any.",
        "schema": {"type": "string"},
        "example": "*",
    },
}

PATH_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "game": {"description": "The id of the game.", "schema": {"type": "string"}},
    "seat": {"description": "The number of the seat.", "schema": {"type": "integer", "minimum": 0}},
    "suffix": {
        "description": "The `suffix` of a key.",
        "schema": {"type": "string"},
    },
    "webhook": {"description": "The id of the endpoint.", "schema": {"type": "string"}},
    "message": {"description": "The id of a message of `deliveries`.", "schema": {"type": "string"}},
    "ref": {
        "description": "What the application calls the person, with everything but letters, digits and `-._~` "
        "percent-encoded.",
        "schema": {"type": "string"},
    },
    "variant": {"description": "The id of the variant.", "schema": {"type": "string"}, "example": "domino"},
}
