"""The query of a request: nothing but the parameters of its schema, each once, and never a token.

Owns which parameters are refused.
"""

from __future__ import annotations

from typing import Any, Final

from flask import request
from marshmallow import Schema, ValidationError

from service.engine.errors import Reason
from service.games.model.errors import Unauthorized
from service.web.fields.validation import reason_of
from service.web.http.body import validate
from service.web.http.current import current_environ
from service.web.http.errors import InvalidBody

_TOKEN_PARAMETERS: Final = ("token", "access_token")


def read_query(schema: Schema) -> dict[str, Any]:
    """Return the query, which ``check_query`` has checked, loaded by ``schema``. Raises ``InvalidBody``."""
    query: dict[str, Any] = validate(schema, request.args.to_dict())
    return query


def read_query_of_reader(schema: Schema) -> dict[str, Any]:
    """Return the query of a reader that may come back to a stream: ``Last-Event-ID`` overrides ``after``.

    Raises ``InvalidBody``.
    """
    query = read_query(schema)
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        try:
            query["after"] = schema.fields["after"].deserialize(last)
        except ValidationError as error:
            raise InvalidBody({"Last-Event-ID": [reason_of(message) for message in error.messages]}) from None
    return query


def check_query(schema: Schema | None) -> None:
    """Check that the query has nothing but the parameters of this schema, each once. Raises ``InvalidBody``."""
    allowed = [] if schema is None else [field.data_key or name for name, field in schema.load_fields.items()]
    unknown = Reason("unknown_parameter", {"allowed": allowed}) if allowed else Reason("no_parameters")
    errors: dict[str, list[Reason]] = {}
    for name, values in request.args.lists():
        if name not in allowed:
            errors[name] = [Reason("token_in_query") if name in _TOKEN_PARAMETERS else unknown]
        elif len(values) > 1:
            errors[name] = [Reason("given_twice")]
    if errors:
        raise InvalidBody(errors)


def check_token_place(*, needs_token: bool) -> None:
    """Check that a token is not shown where it does not count; its bearer would be taken for a spectator.

    Raises ``Unauthorized`` for one in ``X-Api-Key`` and, where a token is needed, for one in the query, which
    ``check_query`` refuses in any case.
    """
    environ = current_environ()
    if "HTTP_AUTHORIZATION" in environ:
        return
    if "HTTP_X_API_KEY" in environ:
        raise Unauthorized("token_misplaced", place="X-Api-Key")
    for name in request.args if needs_token else ():
        if name in _TOKEN_PARAMETERS:
            raise Unauthorized("token_misplaced", place=f"?{name}")
