"""The requests that the service sends, for the section ``webhooks`` of the document."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema

from service.web.remote_messages import MESSAGE_TYPE
from service.web.schemas.remote import MoveMessage

MESSAGES: Final[tuple[type[Schema], ...]] = (MoveMessage,)
"""The schemas of the bodies, which no operation of the service has."""

_HEADERS: Final = {
    "webhook-id": "The id of the message, the same whenever it is sent again.",
    "webhook-timestamp": "When it was sent, in seconds since 1970.",
    "webhook-signature": (
        "`v1,` and the Base64 of the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined by full "
        "stops; the key is the `secret`, which is Base64 after `whsec_`. Several are separated by blanks."
    ),
}

_ASK_FOR_MOVE: Final = """\
Sent to the `url` of a remote player when its seat is on turn, signed by [Standard Webhooks](https://www.standardwebhooks.com)
1.0. The answer is one of `data.view.legal_moves` as it stands; its content type is not looked at, and it has at most
64 KiB.

There are 5 seconds for an answer, and three tries; if the answer before was no legal move, `data.problem` says why.
Redirects are not followed. After the third try a computer player of the level `greedy` makes this one turn, and the
event is `timed_out`."""


def webhooks() -> dict[str, Any]:
    """The section."""
    return {
        MESSAGE_TYPE: {
            "post": {
                "operationId": "askForMove",
                "tags": ["moves"],
                "summary": "Ask a remote player for a move",
                "description": _ASK_FOR_MOVE,
                "security": [],
                "parameters": [
                    {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
                    for name, text in _HEADERS.items()
                ],
                "requestBody": {"required": True, "content": _json("MoveMessage")},
                "responses": {
                    "200": {"description": "The move to make.", "content": _json("Move")},
                    "204": {
                        "description": (
                            "The remote player makes this move by itself, with `POST …/moves` and its token. It is not "
                            "asked again for this turn."
                        )
                    },
                },
            }
        }
    }


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
