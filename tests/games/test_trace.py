"""The trace of the last request that changed a game is stored with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.games.ports import TRACE, trace_headers
from service.games.store.checksums import SUM_CHARS
from service.games.store.codec import decode_game, encode_game
from service.web.http.middleware import _sampled
from tests.workers.tables import InProcess, request

ID = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    yield
    TRACE.set("")


def test_a_game_without_a_trace_is_stored_without_a_place_for_it() -> None:
    table = InProcess()
    game = table.game(table.create(request("domino", "pg")).view.id)
    assert game.trace == ""
    plain, traced = encode_game(game), encode_game(game._replace(trace=ID))
    assert traced[:-SUM_CHARS] == plain[: -SUM_CHARS - 1] + f',"{ID}"]'.encode()
    assert decode_game(game.id, game.version, plain).trace == ""
    assert decode_game(game.id, game.version, traced).trace == ID


def test_a_game_has_the_trace_of_the_request_that_created_it_and_requests_have_none_by_themselves() -> None:
    table = InProcess()
    TRACE.set(ID)
    created = table.create(request("domino", "pg")).view.id
    assert table.game(created).trace == ID
    TRACE.set("")
    assert table.game(table.create(request("domino", "pg")).view.id).trace == ""
    assert table.game(created).trace == ID


def test_only_in_a_trace_is_there_a_header() -> None:
    assert trace_headers(bytes(range(8))) == {}
    TRACE.set(ID)
    assert trace_headers(bytes(range(8))) == {"traceparent": f"00-{ID}-0001020304050607-01"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (f"00-{ID}-00f067aa0ba902b7-01", ID),
        (f"00-{ID}-00f067aa0ba902b7-03", ID),
        (f"00-{ID}-00f067aa0ba902b7-00", ""),
        (f"00-{ID}-0000000000000000-01", ""),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", ""),
        (f"00-{ID.upper()}-00f067aa0ba902b7-01", ""),
        (f"00-{ID}-00f067aa0ba902b7-01-more", ""),
        (f"01-{ID}-00f067aa0ba902b7-01", ""),
        ("x" * 8000, ""),
        ("", ""),
    ],
)
def test_only_a_valid_and_sampled_trace_is_taken(given: str, expected: str) -> None:
    assert _sampled(given) == expected
