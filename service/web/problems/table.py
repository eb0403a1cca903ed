"""The codes of refusals over HTTP: the status of each, and what is said of it.

Owns the only table from the code of a refusal to its status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from service.reasons import REASONS
from service.texts import Language, template, text


class Problem(NamedTuple):
    """The meaning of a code over HTTP."""

    status: int
    only_reason: str | None = None
    """The only reason with this code, where there is but one: its sentence describes the problem."""


PROBLEMS: Final[Mapping[str, Problem]] = {
    "malformed": Problem(400),
    "unauthorized": Problem(401),
    "forbidden": Problem(403),
    "not_found": Problem(404),
    "method_not_allowed": Problem(405),
    "not_acceptable": Problem(406),
    "not_your_turn": Problem(409),
    "not_in_match": Problem(409),
    "illegal_move": Problem(409),
    "not_started": Problem(409),
    "round_over": Problem(409, "round_over"),
    "game_over": Problem(409, "game_over"),
    "seats_taken": Problem(409),
    "not_due": Problem(409),
    "not_away": Problem(409),
    "limit_reached": Problem(409),
    "not_finished": Problem(409, "not_finished"),
    "stale_version": Problem(412),
    "gone": Problem(410, "game_deleted"),
    "too_large": Problem(413),
    "uri_too_long": Problem(414, "uri_too_long"),
    "unsupported_media_type": Problem(415),
    "invalid": Problem(422),
    "key_reused": Problem(422, "key_reused"),
    "rate_limited": Problem(429),
    "internal": Problem(500, "internal"),
    "storage_unavailable": Problem(503, "storage_unavailable"),
    "too_many_streams": Problem(503, "too_many_streams"),
    "lookup_unavailable": Problem(503),
    "outcome_unknown": Problem(503, "outcome_unknown"),
    "secret_changed": Problem(503, "secret_changed"),
}


SHARES: Final = frozenset({"share_used", "too_many_games_of_bots", "too_many_lookups"})
"""Reasons with ``SHARE_CODE`` that pass by themselves: their status is that of too many requests."""
SHARE_CODE: Final = "limit_reached"
SHARE_STATUS: Final = 429


def status_of(word: str) -> int:
    """Return the status of the response to a refusal for this reason."""
    return SHARE_STATUS if word in SHARES else PROBLEMS[REASONS[word]].status


def problem_title(code: str, language: Language) -> str:
    """Return the title of the problem with this code."""
    return text(f"problems.{code}.title", language)


def problem_description(code: str, language: Language) -> str:
    """Return what the problem with this code means."""
    word = PROBLEMS[code].only_reason
    return template(f"problems.{code}.description" if word is None else f"reasons.{word}", language)
