"""``/v1/app``: read an application, make and revoke its keys."""

from __future__ import annotations

from functools import partial
from typing import Final

from flask import Blueprint

from service.backends.facade import REQUEST_BYTES
from service.backends.values import Backend
from service.limits.stored_bytes import Tenant
from service.web.backends.schemas import (
    ApplicationInfoSchema,
    CreatedKeySchema,
    KeyInSchema,
    application_json,
    new_key_json,
)
from service.web.http.body import read_json_or_nothing, validate
from service.web.http.headers import bearer_token, idempotency, negotiate
from service.web.http.responses import JSON, RawResponse, created_secret, no_content, ok
from service.web.operation import Operation, ResponseSpec
from service.web.services import Services

blueprint: Final = Blueprint("backends", __name__)

_OWN_PATH: Final = "/v1/app"
_key_in: Final = KeyInSchema()


@blueprint.get("/v1/app")
@Operation(
    id="getApplication",
    tag="applications",
    access="app",
    responses={200: ResponseSpec(description="The application.", schema=ApplicationInfoSchema)},
)
def get_application(services: Services, backend: Backend) -> RawResponse:
    """Get the application of the key.

    The application that the key belongs to, its valid keys, its usage, and its limits. `RateLimit` has the number of
    requests that are left.
    """
    negotiate(JSON)
    limits = {
        "requests_per_minute": services.limits.app_requests(backend),
        "games_per_minute": services.limits.app_games(backend),
        "bytes_per_day": services.backends.shares.limit(Tenant(backend.id, is_app=True)),
    }
    keys, usage = services.backends.keys.valid_keys(backend), services.backends.listing.usage(backend.id)
    return ok(application_json(backend, keys, usage, limits))


@blueprint.post("/v1/app/keys")
@Operation(
    id="createKey",
    tag="applications",
    access="key_change",
    headers=("Idempotency-Key",),
    body=KeyInSchema,
    secret=True,
    responses={201: ResponseSpec(description="The new key.", schema=CreatedKeySchema)},
    own_problems=("not_found", "limit_reached"),
    stores=True,
)
def create_key(services: Services, backend: Backend) -> RawResponse:
    """Make a new key.

    Makes another key, which is returned only here. The other keys stay valid for `overlap` seconds, so that all servers
    of the application can be given the new one. To replace a key that others may know, make a new key and revoke the
    old one. With the same `Idempotency-Key`, the request may be repeated with the key that made it, even if that key is
    no longer valid because of it.
    """
    negotiate(JSON)
    body = read_json_or_nothing()
    overlap = validate(_key_in, body)["overlap"]
    key, keys = idempotency(body), services.backends.keys
    rotate = partial(keys.rotate, backend.id, overlap, presented=bearer_token(), key=key)
    is_repeated = partial(keys.is_rotation_repeated, backend.id, key)
    new, replayed = services.backends.store(backend.id, REQUEST_BYTES, rotate, is_repeated)
    return created_secret(new_key_json(new), _OWN_PATH, replayed=replayed)


@blueprint.delete("/v1/app/keys/<suffix>")
@Operation(
    id="revokeKey",
    tag="applications",
    access="app",
    responses={204: ResponseSpec(description="It is revoked.", media_type=None)},
    own_problems=("not_found", "outcome_unknown"),
)
def revoke_key(services: Services, backend: Backend, suffix: str) -> RawResponse:
    """Revoke a key.

    The key with this suffix is valid for at most five more seconds. An application without a key gets one from the
    operator.
    """
    services.backends.keys.revoke(backend.id, suffix, presented=bearer_token())
    return no_content()
