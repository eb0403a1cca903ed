"""The section ``webhooks`` of the document: the messages that the service sends."""

from __future__ import annotations

import re
from typing import Any, Final

from apispec import APISpec
from apispec.ext.marshmallow import resolver
from marshmallow import Schema
from service.web.moves.remote_messages import MESSAGE_TYPE

from tools.openapi import message_schemas
from tools.openapi.layout import Example
from tools.openapi.messages import DELIVERY, MESSAGES
from tools.openapi.messages import HEADERS as MESSAGE_HEADERS

_ASK_FOR_MOVE: Final = """\
Sent to the `url` of a remote player when its seat is on turn, signed by [Standard Webhooks](https://www.standardwebhooks.com)
1.0. The answer is one of `data.view.legal_moves` as it stands; its content type is not looked at, and it has at most
64 KiB.

There are 5 seconds for an answer, and three tries; if the answer before was no legal move, `data.problem` says why.
Redirects are not followed. After the third try a computer player of the level `greedy` makes this one turn, and the
event is `timed_out`."""


def webhooks_section(spec: APISpec) -> dict[str, Any]:
    """Return the messages that the service sends, each as the operation of who gets it."""
    schemas: list[type[Schema]] = [*(message.schema for message in MESSAGES), message_schemas.MoveMessageSchema]
    for schema in dict.fromkeys(schemas):
        spec.components.schema(resolver(schema), schema=schema)
    headers = [
        {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in MESSAGE_HEADERS.items()
    ]
    messages = {
        message.name: {
            "post": {
                "operationId": _receive(message.name),
                "security": [],
                "tags": ["messages"],
                "summary": message.summary,
                "description": f"{message.description} {DELIVERY}",
                "parameters": headers,
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"$ref": f"#/components/schemas/{resolver(message.schema)}"},
                            "example": Example(message.example),
                        }
                    },
                },
                "responses": {"2XX": {"description": "It has arrived."}},
            }
        }
        for message in MESSAGES
    }
    return messages | _move_requests(headers)


def _receive(name: str) -> str:
    """Return the name of the operation that takes a message of this type: ``receiveGameTurn`` for ``game.turn``."""
    return "receive" + "".join([word.capitalize() for word in re.split(r"[._]", name)])


def _move_requests(headers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entry of the section ``webhooks``; ``headers`` are those of every signed message."""
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
