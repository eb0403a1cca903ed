"""The legal moves of a seat as a JSON object."""

from __future__ import annotations

from service.games.model.results import LegalMoves
from service.web.fields.values import JsonObject
from service.web.view.serializers import deadline_json, moves_json


def legal_moves_json(legal: LegalMoves) -> JsonObject:
    """The legal moves of the viewer's seat."""
    result: JsonObject = {"version": legal.version}
    if legal.turn is not None:
        result["turn"] = {"seat": legal.turn} | deadline_json(legal.deadline)
    elif legal.deadline is not None:
        result["deal"] = deadline_json(legal.deadline)
    result["to_act"] = list(legal.to_act)
    result["moves"] = moves_json(legal.moves, legal.version)
    return result
