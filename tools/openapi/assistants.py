"""The text at ``/llms.txt``: what an assistant or another program needs to play, and a line for each operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_METHODS: Final = ("get", "post", "put", "patch", "delete")

_TEXT: Final = """\
# Domino

> {summary}.

Play with five calls: `GET /v1/variants` lists the games; `POST /v1/games` with `variant` and `players` starts one and
returns the token of each seat; `GET /v1/games/{{game}}` with `Authorization: Bearer <token>` shows your hand and your
`legal_moves`; `POST /v1/games/{{game}}/moves` takes one of them, unchanged; `GET /v1/games/{{game}}/score` explains
every point. Repeat the two in the middle until `status` is `finished`; `to_act` says who may move, and after a round
`deal` is a move.

A new game against a computer player: `{{"variant": "block", "players": [{{"name": "Ada"}}, {{"bot": "greedy"}}]}}`.
With `?text=true` a view has a sentence on how the game stands; with `after` (the `version` that you know) and `wait`
(up to 25 seconds) it waits for the others. A POST whose answer was lost is repeated with the same `Idempotency-Key`.

## Documents

- [OpenAPI as YAML](openapi.yaml): {yaml} KB, [as JSON](openapi.json): {json} KB, with schemas and examples
- [Problems](problems): every code and reason of an error, as JSON; a response has those that concern it

## Operations

"""


def text_for_assistants(described: Mapping[str, Any], yaml_bytes: int, json_bytes: int) -> str:
    """Return the text for the document ``described``, whose files are so large."""
    summary = described["info"]["description"].partition(". ")[0].strip()
    text = _TEXT.format(summary=summary, yaml=round(yaml_bytes / 1000), json=round(json_bytes / 1000))
    lines = [
        f"- `{method.upper()} {path}`: {item[method]['summary']}\n"
        for path, item in described["paths"].items()
        for method in _METHODS
        if method in item
    ]
    return text + "".join(lines)
