"""The description of the request for a move that the service sends to a remote player."""

from __future__ import annotations

from typing import Any, Final

from service.web.moves.remote_messages import MESSAGE_TYPE

_ASK_FOR_MOVE: Final = """\
Sent to the `url` of a remote player when its seat is on turn, signed by [Standard Webhooks](https://www.standardwebhooks.com)
1.0. The answer is one of `data.view.legal_moves` as it stands; its content type is not looked at, and it has at most
64 KiB.

There are 5 seconds for an answer, and three tries; if the answer before was no legal move, `data.problem` says why.
Redirects are not followed. After the third try a computer player of the level `greedy` makes this one turn, and the
event is `timed_out`."""


def move_requests(headers: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of the section ``webhooks``; ``headers`` are those of every signed message."""
    return {
        MESSAGE_TYPE: {
            "post": {
                "operationId": "askForMove",
                "tags": ["messages"],
                "summary": "Ask a remote player for a move",
                "description": _ASK_FOR_MOVE,
                "security": [],
                "parameters": headers,
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
