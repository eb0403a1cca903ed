"""A move is read in a short way, and as marshmallow reads it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError

from service.engine.moves import ACTIONS
from service.web.bodies import MoveIn

GOOD: dict[str, st.SearchStrategy[Any]] = {
    "action": st.sampled_from(ACTIONS),
    "tile": st.sampled_from(["5-12", "12|5", "0-0"]),
    "end": st.sampled_from(["left", "e7", ""]),
    "face_down": st.booleans(),
    "version": st.integers(1, 2**31 - 1),
    "ends_sum": st.integers(),
    "points": st.integers(),
    "client_seed": st.text(min_size=1, max_size=70),
}
BAD: st.SearchStrategy[Any] = st.sampled_from([None, 0, -1, 2**31, 1.0, "", "x", "5-99", True, [], {}, "\n", "\ud800"])
PLAY = {
    "action": "play",
    "tile": "5-12",
    "end": "e7",
    "face_down": False,
    "version": 17,
    "ends_sum": 28,
    "points": 4,
}


def some(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: GOOD[name] for name in names})


good = st.one_of(
    some(*PLAY).map(lambda fields: {**fields, "action": "play", "tile": "5-12"}),
    some("action", "version", "client_seed"),
    some(*GOOD),
)
bodies = st.one_of(
    good,
    st.builds(lambda body, name, value: {**body, name: value}, good, st.sampled_from([*GOOD, "unknown", ""]), BAD),
)


def outcome(load: Any, body: Any) -> Any:
    try:
        return "taken", load(body)
    except ValidationError as error:
        return "refused", error.messages


@settings(derandomize=True, database=None, deadline=None, max_examples=500)
@given(bodies)
def test_a_move_is_taken_or_refused_as_by_marshmallow_alone(body: dict[str, Any]) -> None:
    schema = MoveIn()
    assert outcome(schema.load, body) == outcome(lambda value: Schema.load(schema, value), body)


@pytest.mark.parametrize("body", [PLAY, {"action": "draw"}, {"action": "deal", "client_seed": "bells", "version": 3}])
def test_a_good_move_is_read_without_going_through_all_fields(
    body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Schema.load(MoveIn(), body)
    monkeypatch.setattr(Schema, "load", lambda *_: pytest.fail("all fields are gone through"))
    assert MoveIn().load(body) == loaded
