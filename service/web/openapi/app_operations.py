"""The descriptions of the operations on applications and their keys."""

from __future__ import annotations

from typing import Final

from service.web.openapi.operations import BODY_PROBLEMS, Operation, ResponseSpec
from service.web.request_parsing import TOKEN_KEY_LENGTH
from service.web.schemas import apps as app_schemas

APP_PROBLEMS: Final = ("unauthorized", "rate_limited", "not_acceptable")
"""Problems of every request of an application."""

REPEAT_PROBLEMS: Final = ("key_reused", "outcome_unknown", "secret_changed")
"""Problems of every request that may be repeated under an ``Idempotency-Key``, and whose response has a secret."""

REGISTER_APPLICATION: Final = Operation(
    id="registerApplication",
    tag="applications",
    summary="Register an application",
    description="Makes an application and its first key, which is returned only here. Only where the operator lets "
    "everybody do so; elsewhere it is 403 `forbidden`, and the operator makes keys.",
    body=app_schemas.ApplicationInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The application and its key.",
            schema=app_schemas.CreatedApplicationSchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=("forbidden", *BODY_PROBLEMS, "rate_limited", "not_acceptable", *REPEAT_PROBLEMS),
)

GET_APPLICATION: Final = Operation(
    id="getApplication",
    tag="applications",
    summary="Get the application of the key",
    description="Who the key belongs to, which keys are valid, what is kept for the application, and its limits. "
    "`RateLimit` tells how many requests it has left.",
    access="app",
    responses={
        200: ResponseSpec(
            description="The application.",
            schema=app_schemas.ApplicationInfoSchema,
            headers=("Cache-Control", "Vary"),
            limited=True,
        )
    },
    problems=APP_PROBLEMS,
)

CREATE_KEY: Final = Operation(
    id="createKey",
    tag="applications",
    summary="Make a new key",
    description="Makes another key, which is returned only here. The other keys stay valid for `overlap` seconds, so "
    "that all servers of the application can be given the new one. To replace a key that others may know, make a new "
    "one and revoke that one. Under the same `Idempotency-Key` the request may be repeated with the key that has made "
    "it, even if that has ended by it.",
    access="key_change",
    body=app_schemas.KeyInSchema,
    headers=("Idempotency-Key",),
    min_key_length=TOKEN_KEY_LENGTH,
    responses={
        201: ResponseSpec(
            description="The new key.",
            schema=app_schemas.CreatedKeySchema,
            headers=("Location", "Cache-Control"),
            replayable=True,
            limited=True,
        )
    },
    problems=(*APP_PROBLEMS, *BODY_PROBLEMS, "not_found", "limit_reached", *REPEAT_PROBLEMS),
)

REVOKE_KEY: Final = Operation(
    id="revokeKey",
    tag="applications",
    summary="Revoke a key",
    description="The key with this hint is valid for at most five more seconds. An application without a key gets one "
    "from the operator.",
    access="app",
    responses={204: ResponseSpec(description="It is revoked.", media_type=None, limited=True)},
    problems=("unauthorized", "rate_limited", "not_found", "outcome_unknown"),
)
