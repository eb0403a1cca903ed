"""The operator's commands for applications, their keys and the lists of their games.

Owns their output. Only a new key, or the list of applications, is printed on standard output, so that a shell can store
a key in a variable; all messages are printed on standard error. Does not depend on the parser of the command line.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import wraps
from time import monotonic
from typing import Any, Final

from service.backends.facade import BackendsFacade
from service.backends.index.reindex import Progress, Reindexer
from service.backends.keys import CACHE_SECONDS, Backends
from service.backends.values import NO_OWN_LIMITS, Backend
from service.bootstrap.storage import build_repository, open_storage
from service.bootstrap.web import build_backends
from service.config import Settings
from service.devserver.terminal import warn
from service.engine.errors import Refusal
from service.games.model.views import format_rfc3339
from service.games.store.idempotency import Idempotency
from service.games.store.notifications import RedisEventFeed
from service.json_logging import configure_logging
from service.limits.stored_bytes import KNOWN_MS
from service.metrics import Metrics
from service.reasons import sentence
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.scan import RedisScan
from service.web.fields.names import name_field
from service.web.fields.strict import RequestSchema
from service.web.http.body import validate
from service.web.http.errors import InvalidBody

_log = logging.getLogger(__name__)

APPLIED_SECONDS: Final = max(int(CACHE_SECONDS), KNOWN_MS // 1000)
"""The maximum time until every process applies changed limits of an application."""
_REPORT_SECONDS: Final = 2.0
"""Seconds between two lines about the progress of a command."""


class _ApplicationSchema(RequestSchema):
    """The arguments of ``create``."""

    name = name_field("The name of the application.", required=True)


def _command(act: Callable[..., int | None]) -> Callable[..., int]:
    """Return a command that calls ``act`` with the services for applications and its arguments.

    It returns the exit status, by default 0.
    """

    @wraps(act)
    def run(settings: Settings, **arguments: Any) -> int:
        configure_logging(settings.log_level, settings.log_format)
        storage = open_storage(settings, Metrics())
        # These commands have no idempotency keys, so nothing is derived from the secret, and any secret will do.
        backends = build_backends(settings, storage, RedisEventFeed(storage.topology), Idempotency([os.urandom(32)]))
        try:
            return act(backends, **arguments) or 0
        except InvalidBody as error:
            warn("; ".join(sentence(reason) for reasons in error.errors.values() for reason in reasons))
            return 2
        except Refusal as refusal:
            warn(sentence(refusal.reason))
        except StorageUnavailable as error:
            warn(f"the store does not answer ({error.reason}); nothing was changed")
        except OutcomeUnknown as error:
            warn(f"the store did not confirm the change ({error.reason}); look at the list before trying again")
        return 1

    return run


@_command
def create(backends: BackendsFacade, name: str) -> None:
    """Create an application, and print its key."""
    new = backends.keys.create(validate(_ApplicationSchema(), {"name": name})["name"])
    _audit("an application was made", new.backend.id)
    warn(f"application {new.backend.id} ({new.backend.name}); its key is shown only now")
    print(new.key, flush=True)


@_command
def list_all(backends: BackendsFacade) -> None:
    """Print every application: id, time of creation, suffixes of its valid keys or ``suspended``, own limits, name."""
    for backend in backends.keys.all():
        shown = "suspended" if backend.suspended else _keys(backends.keys, backend)
        limits = [_limits(backend)] if backend.limits != NO_OWN_LIMITS else []
        print(backend.id, format_rfc3339(backend.created_at), shown, *limits, backend.name, sep="  ")


@_command
def rotate(backends: BackendsFacade, app: str, overlap: int) -> None:
    """Create a new key for an application, and print it; the other keys stay valid for ``overlap`` seconds."""
    new, _ = backends.keys.rotate(app, overlap)
    others = "the others are revoked" if not overlap else f"the others stay valid for {overlap} s"
    _audit("a key of an application was made", new.backend.id)
    warn(f"a new key of {new.backend.name}, which is shown only now; {others}")
    print(new.key, flush=True)


@_command
def revoke(backends: BackendsFacade, app: str, suffix: str | None) -> None:
    """Revoke the key with this suffix, or all keys of the application."""
    backend = backends.keys.revoke(app, suffix)
    _audit("a key of an application was revoked" if suffix else "all keys of an application were revoked", app)
    warn(f"revoked; valid keys of {backend.name}: {_keys(backends.keys, backend)}")


@_command
def suspend(backends: BackendsFacade, app: str, *, suspended: bool) -> None:
    """Reject all keys of an application, or accept them again."""
    backend = backends.keys.change(app, lambda before: before._replace(suspended=suspended))
    new_status = "suspended" if suspended else "resumed"
    warn(f"{backend.name} is {new_status}; its games go on")
    _audit(f"an application was {new_status}", backend.id)


@_command
def limit(backends: BackendsFacade, app: str, **limits: int | None) -> int:
    """Set an application's own ``limits``, by the fields of ``OwnLimits``.

    ``None`` leaves a limit unchanged; a negative number replaces it by the usual limit.
    """
    changes = {name: None if value < 0 else value for name, value in limits.items() if value is not None}
    if not changes:
        warn("name a limit: --requests, --games or --stored")
        return 2
    backend = backends.keys.change(app, lambda before: before._replace(limits=before.limits._replace(**changes)))
    warn(f"{backend.name} has {_limits(backend)}: everywhere after {APPLIED_SECONDS} s at the latest")
    _audit("the limits of an application were changed", backend.id, **backend.limits._asdict())
    return 0


@_command
def delete(backends: BackendsFacade, app: str) -> None:
    """Delete an application."""
    backends.delete(app)
    _audit("an application was deleted", app)
    warn("deleted with its endpoints; games that it has created go on")


def reindex(settings: Settings, app: str | None) -> int:
    """Rebuild the index of an application, or the indexes of all applications if ``app`` is ``None``."""
    storage = open_storage(settings, Metrics())
    reported_at = monotonic()

    def report(progress: Progress) -> None:
        nonlocal reported_at
        if monotonic() - reported_at >= _REPORT_SECONDS:
            reported_at = monotonic()
            warn(_progress(progress))

    repository = build_repository(settings, storage, lambda _: None)
    reindexer = Reindexer(repository, storage.game_index, storage.reminders, storage.clock, report)
    try:
        result = reindexer.run(RedisScan(storage.topology), app)
    except (StorageUnavailable, OutcomeUnknown) as error:
        warn(f"the store does not answer ({error.reason}); what is not done yet can be done by another run")
        return 1
    warn(f"done: {_progress(result)}")
    return 0


def _progress(progress: Progress) -> str:
    seen, indexed, removed = progress
    return f"{seen} entries and games looked at, {indexed} indexed, {removed} removed"


def _keys(keys: Backends, backend: Backend) -> str:
    """Return the suffixes of the valid keys of an application as text, with their expiry times."""
    shown = [
        key.suffix if key.expires_at is None else f"{key.suffix} (until {format_rfc3339(key.expires_at)})"
        for key in keys.valid_keys(backend)
    ]
    return ", ".join(shown) or "none"


def _limits(backend: Backend) -> str:
    """Return an application's own limits as text; limits that are not listed are the usual ones."""
    units = {"requests": "requests/min", "games": "games/min", "stored": "MiB/day"}
    shown = [f"{limit or 'any'} {units[name]}" for name, limit in backend.limits._asdict().items() if limit is not None]
    return ", ".join(shown) or "the usual limits"


def _audit(message: str, app: str, **fields: int | None) -> None:
    """Log an action of the operator on an application."""
    _log.warning("%s by the operator", message, extra={"fields": {"app": app, **fields}})
