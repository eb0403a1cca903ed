"""``/v1/apps`` and ``/v1/app``: register an application, and look at, make and revoke its own keys."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from service.backends.ports import Application
from service.games.model.errors import Forbidden
from service.web.access import limit_expensive, operation
from service.web.openapi.app_operations import CREATE_KEY, GET_APPLICATION, REGISTER_APPLICATION, REVOKE_KEY
from service.web.request_parsing import bearer_token, idempotency, negotiate, read_json, read_json_or_nothing, validate
from service.web.responses import JSON, RawResponse, created_secret, no_content, ok
from service.web.schemas import apps as app_schemas
from service.web.serializers.apps import application_json, new_key_json, registered_application_json
from service.web.services import Services

blueprint: Final = Blueprint("apps", __name__)

_OWN_PATH: Final = "/v1/app"
_application_in: Final = app_schemas.ApplicationInSchema()
_key_in: Final = app_schemas.KeyInSchema()


@blueprint.post("/v1/apps")
@operation(REGISTER_APPLICATION)
def register_application(services: Services) -> RawResponse:
    """Register an application."""
    limit_expensive(services)
    if not services.apps.open_to_all:
        raise Forbidden("apps_closed")
    negotiate(JSON)
    body = read_json()
    name = validate(_application_in, body)["name"]
    new = services.apps.applications.create(name, idempotency(body, REGISTER_APPLICATION.min_key_length))
    return created_secret(registered_application_json(new), _OWN_PATH, replayed=new.replayed)


@blueprint.get("/v1/app")
@operation(GET_APPLICATION)
def get_application(services: Services, application: Application) -> RawResponse:
    """Look at the application of the key."""
    negotiate(JSON)
    keys = services.apps.applications.valid_keys(application)
    return ok(
        application_json(
            application,
            keys,
            services.apps.listing.usage(application.id),
            requests_per_minute=services.limits.app_requests,
            games_per_minute=services.limits.app_games,
        )
    )


@blueprint.post("/v1/app/keys")
@operation(CREATE_KEY)
def create_key(services: Services, application: Application) -> RawResponse:
    """Make a new key for the application."""
    negotiate(JSON)
    body = read_json_or_nothing()
    overlap = validate(_key_in, body)["overlap"]
    key = idempotency(body, CREATE_KEY.min_key_length)
    new = services.apps.applications.rotate(application.id, overlap, presented=bearer_token(), key=key)
    return created_secret(new_key_json(new), _OWN_PATH, replayed=new.replayed)


@blueprint.delete("/v1/app/keys/<hint>")
@operation(REVOKE_KEY)
def revoke_key(services: Services, application: Application, hint: str) -> RawResponse:
    """Revoke a key of the application."""
    services.apps.applications.revoke(application.id, hint, presented=bearer_token())
    return no_content()
