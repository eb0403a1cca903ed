"""The legal moves of a seat as a JSON object."""

from __future__ import annotations

from service.games.model.results import LegalMoves
from service.web.fields.values import JsonObject
from service.web.view.serializers import moves_json, turn_json


def legal_moves_json(legal: LegalMoves) -> JsonObject:
    """Return the legal moves of the viewer's seat."""
    result: JsonObject = {"version": legal.version}
    result |= turn_json(legal.turn, legal.deadline)
    result["to_act"] = list(legal.to_act)
    result["legal_moves"] = moves_json(legal.moves, legal.version)
    return result
