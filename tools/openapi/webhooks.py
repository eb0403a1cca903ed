"""The section ``webhooks`` of the document: the messages that the service sends."""

from __future__ import annotations

import re
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import resolver

from tools.openapi.layout import Example
from tools.openapi.messages import DELIVERY, MESSAGES
from tools.openapi.messages import HEADERS as MESSAGE_HEADERS


def webhooks_section(spec: APISpec) -> dict[str, Any]:
    """Return the messages that the service sends, each as the operation of who gets it."""
    for schema in dict.fromkeys([message.schema for message in MESSAGES]):
        spec.components.schema(resolver(schema), schema=schema)
    headers = [
        {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in MESSAGE_HEADERS.items()
    ]
    return {
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


def _receive(name: str) -> str:
    """Return the name of the operation that takes a message of this type: ``receiveGameTurn`` for ``game.turn``."""
    return "receive" + "".join([word.capitalize() for word in re.split(r"[._]", name)])
