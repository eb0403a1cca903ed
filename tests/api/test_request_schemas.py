"""Request schemas load as marshmallow does, though they skip the fields that are absent and not required."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, fields
from marshmallow import missing as absent

from service.web.fields.moves import MoveSchema
from service.web.fields.strict import RequestSchema
from service.web.games.creation_schemas import GameInSchema
from tests.laws.matches import steady

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=4), each, max_size=3),
    max_leaves=6,
)


class InnerSchema(RequestSchema):
    """A nested object with a required field and one with a default."""

    number = fields.Integer(required=True, strict=True)
    size = fields.Integer(load_default=7)


class OuterSchema(RequestSchema):
    """Fields of every kind that is treated differently: optional, required, default, renamed, nested, nullable."""

    optional = fields.Integer()
    required = fields.String(required=True)
    default = fields.Integer(load_default=3)
    made = fields.List(fields.Integer(), load_default=list)
    renamed = fields.Integer(data_key="from")
    stored_as = fields.Integer(attribute="other")
    nullable = fields.Integer(allow_none=True)
    inner = fields.Nested(InnerSchema)
    inners = fields.List(fields.Nested(InnerSchema))


BODIES = {
    OuterSchema: ["optional", "required", "default", "made", "from", "stored_as", "nullable", "inner", "inners"],
    MoveSchema: list(MoveSchema().load_fields),
    GameInSchema: list(GameInSchema().load_fields),
}
VALID: dict[type[RequestSchema], dict[str, Any]] = {
    OuterSchema: {"required": "given"},
    MoveSchema: {"action": "pass"},
    GameInSchema: {"variant": "fido"},
}
"""What a body needs at least to be accepted."""
INNER = st.fixed_dictionaries({}, optional={"number": st.integers() | JSON_VALUES, "size": JSON_VALUES})


def test_what_is_missing_is_told_with_what_may_stand_there() -> None:
    words = set()
    for schema in RequestSchema.__subclasses__():
        if not schema.__module__.startswith("service."):
            continue
        for name, field in schema().load_fields.items():
            if field.required:
                with pytest.raises(ValidationError) as missing:
                    field.deserialize(absent)
                reason: Any
                (reason,) = missing.value.messages
                assert reason.word != "required" or isinstance(field, fields.String), (schema, name)
                assert all(reason.params.values()) or reason.params["min"] == 0
                words.add(reason.word)
    assert words == {"required", "required_one_of", "required_number", "required_list"}


@contextmanager
def as_marshmallow_loads() -> Iterator[None]:
    """While this lasts, all schemas visit all their fields."""
    own = RequestSchema._deserialize
    RequestSchema._deserialize = Schema._deserialize  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        RequestSchema._deserialize = own  # type: ignore[method-assign]


def in_order(messages: Any) -> Any:
    """The messages with the fields of each object in order, as marshmallow has unknown ones in none."""
    if isinstance(messages, dict):
        return sorted((str(key), in_order(value)) for key, value in messages.items())
    return repr(messages)


def outcome(schema: Schema, body: Any) -> tuple[str, Any]:
    """What the schema makes of the body, with the order of its fields."""
    try:
        return "loaded", list(schema.load(body).items())
    except ValidationError as error:
        messages: dict[str, Any] = error.messages_dict
        return "refused", ([each for each in messages if each in schema.load_fields], in_order(messages))


@pytest.mark.parametrize("kind", BODIES, ids=lambda each: each.__name__)
@steady
@given(data=st.data())
def test_a_schema_loads_as_marshmallow_does(kind: type[RequestSchema], data: st.DataObject) -> None:
    values = JSON_VALUES | INNER | st.lists(INNER, max_size=2) | st.sampled_from(["play", "deal", "1-2", "fido", 5])
    body = data.draw(JSON_VALUES | st.dictionaries(st.sampled_from(BODIES[kind]) | st.text(max_size=3), values))
    if isinstance(body, dict) and data.draw(st.booleans()):
        body.update(VALID[kind])
    schema = kind()
    lean = outcome(schema, body)
    with as_marshmallow_loads():
        assert lean == outcome(schema, body)


def test_absent_optional_fields_are_not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    visited: list[str] = []
    schema = MoveSchema()
    for name, field in schema.load_fields.items():
        for method in ("deserialize", "_deserialize"):  # of a value that is absent, and of one that is there
            monkeypatch.setattr(field, method, noting(visited, name, getattr(field, method)))
    schema.load({"action": "play", "tile": "1-2", "version": 3})
    assert visited == ["tile"]  # the other two have the type that their fields load unchanged


def noting(visited: list[str], name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of the field of this name, which notes that it was called."""

    def call(*arguments: Any, **options: Any) -> Any:
        visited.append(name)
        return method(*arguments, **options)

    return call
