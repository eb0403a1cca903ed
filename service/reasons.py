"""The list of all reasons for refusals.

Owns the reasons, the code of each, and the values in their sentences. The sentences are in ``service.texts``. The code
that raises a refusal selects its reason. Does not depend on HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.engine.errors import Param, Reason
from service.texts import DEFAULT_LANGUAGE, Language, text


def sentence(reason: Reason, language: Language = DEFAULT_LANGUAGE) -> str:
    """Return the sentence of a reason in this language, with its values inserted."""
    return text(
        f"reasons.{reason.word}", language, **{name: _format_value(value) for name, value in reason.params.items()}
    )


def _format_value(value: Param) -> str:
    return str(value) if isinstance(value, int | str) else ", ".join(value)


PARAMS: Final[Mapping[str, str]] = {
    "tile": "a tile",
    "tiles": "tiles",
    "seat": "a seat; with `not_your_turn` the one whose turn it is",
    "end": "an end, as the request names it",
    "ends": "the ends that there are, or where the tile fits",
    "number": "the number of the end",
    "half": "a half of a tile",
    "halves": "the halves of which either may stay outside",
    "action": "the refused action",
    "allowed": "what is possible instead",
    "field": "the path of the first field in `causes`",
    "line": "a line, from 1",
    "column": "a column, from 1",
    "min": "the lowest possible value",
    "max": "the highest possible value",
    "players": "a number of players",
    "teams": "a number of teams",
    "hand": "a number of tiles in a hand",
    "version": "a version of the game or of the record",
    "key": "the name of a key in the body",
    "header": "the name of a header",
    "deadline": "when the time of the seat is over",
    "limit": "the limit of requests that is reached, as in `RateLimit-Policy`",
    "place": "where a token was sent: a header, or a parameter of the query",
    "type": "the media type that was sent",
    "message": "more about it, in English",
}
"""The meaning of each value of a reason, by its name."""

_INTEGERS: Final = ("seat", "number", "half", "line", "column", "min", "max", "players", "teams", "hand", "version")
_LISTS: Final = ("tiles", "ends", "halves", "allowed")


def param_type(name: str) -> type:
    """Return the type of the value with this name: ``int``, ``list`` (of words) or ``str``."""
    return int if name in _INTEGERS else list if name in _LISTS else str


_WORDS: Final[Mapping[str, str]] = {
    "malformed": """
        malformed header_too_long body_incomplete body_too_short body_empty not_utf8 syntax single_quotes trailing_comma
        duplicate_key too_many_containers nested_too_deep
    """,
    "unauthorized": "no_token unknown_token no_key unknown_key app_suspended not_a_bearer_token token_misplaced",
    "forbidden": """
        wrong_join_code unknown_join_code token_of_another_seat hint_among_people challenge_not_repeated
        rematch_token_changed
    """,
    "not_found": """
        not_found no_such_game game_expired no_player rematch_expired no_such_seat no_such_application no_such_key
        no_such_webhook no_such_message no_such_person no_review no_such_variant
    """,
    "method_not_allowed": "method_not_allowed",
    "not_acceptable": "not_acceptable",
    "not_your_turn": "not_your_turn",
    "not_in_match": "out_of_match",
    "illegal_move": """
        tile_not_held not_in_set may_not_lead may_not_follow must_lie_face_up table_empty no_such_end end_gated
        end_closed does_not_fit fits_nowhere several_ends either_way wrong_half_outside both_halves_outside must_play
        must_draw turn_to_end already_drew stock_empty nothing_to_end may_not_flip round_not_over
    """,
    "not_started": "seats_open",
    "round_over": "round_over",
    "game_over": "game_over",
    "seats_taken": "seats_taken seat_taken",
    "not_due": "deadline_not_passed nothing_to_claim",
    "limit_reached": """
        too_many_keys too_many_webhooks too_many_repeats too_many_erasures too_many_asked share_used
        too_many_games_of_bots too_many_lookups
    """,
    "not_away": "not_away",
    "not_finished": "not_finished",
    "stale_version": "stale_version",
    "too_large": "too_large",
    "uri_too_long": "uri_too_long",
    "unsupported_media_type": "wrong_content_type no_content_type compressed_body",
    "invalid": """
        required required_one_of required_number required_list null unknown_field no_fields invalid_value
        body_not_an_object not_an_object not_a_list url_too_long url_malformed url_not_https url_credentials url_port
        url_not_public not_a_string not_an_integer not_a_number not_a_boolean not_one_of not_true length too_short
        too_long out_of_range not_an_aspect not_a_time not_a_cursor needs_player_ref too_many_fields not_a_tile
        control_characters blank invisible_characters nothing_visible too_many_marks name_of_open_seat one_of_name_ref
        name_taken idempotency_key token_in_query no_parameters unknown_parameter given_twice not_a_player not_players
        one_of_name_open_bot needs_key only_with_open_seats not_visible only_with_name not_with_continues
        one_of_turn_bank only_with_bank only_with_clock exact_players number_of_players unknown_option whole_number
        set_too_small hands_too_large no_such_teams fixed_deals rounds_of_bots deals_for_seats number_of_hands
        empty_hand no_such_deal hand_size tiles_twice tiles_foreign tiles_missing cannot_open record_syntax
        partial_record faulty_record nothing_to_continue no_fork_point players_of_the_record another_seat
        play_needs_tile only_with_play only_with_deal
    """,
    "gone": "game_deleted",
    "key_reused": "key_reused",
    "rate_limited": "rate_limited",
    "internal": "internal game_damaged",
    "storage_unavailable": "storage_unavailable overloaded",
    "too_many_streams": "too_many_streams",
    "lookup_unavailable": "lookup_unanswered lookups_busy",
    "outcome_unknown": "outcome_unknown",
    "secret_changed": "secret_changed",
}
"""The reasons of each code, separated by blanks."""

REASONS: Final[Mapping[str, str]] = {word: code for code, words in _WORDS.items() for word in words.split()}
"""The code of each reason."""
