"""Applications kept in Redis or Valkey: a record for each, and one set of all their ids.

Owns what is sent and how answers are read. The record of an application lies in the slot of its id, the set of all ids
elsewhere. An id without a record, which a failure between two commands leaves behind, is no application.
"""

from __future__ import annotations

from service.apps.ports import Application, ApplicationStore
from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.storage import keys
from service.storage.application_records import decode_application, encode_application
from service.storage.connection import Command, MaybeSent, NotSent
from service.storage.redis_calls import FailureObserver, Observer, RedisCalls, observe_nothing
from service.storage.redis_errors import as_unavailable, unanswered
from service.storage.script_commands import evalsha
from service.storage.topology import Topology


class RedisApplications(ApplicationStore):
    """Keeps applications on the servers of a ``RedisStore``, as the port ``ApplicationStore`` promises."""

    def __init__(
        self,
        topology: Topology,
        *,
        replicated: bool = False,
        observe: Observer = observe_nothing,
        observe_failure: FailureObserver = observe_nothing,
    ) -> None:
        self._topology = topology
        self._calls = RedisCalls(topology, replicated=replicated, observe=observe)
        self._observe_failure = observe_failure

    def create(self, application: Application) -> None:
        """Store a new application."""
        app, key = application.id.encode(), keys.application(application.id)
        self._write("add_app", keys.APPLICATIONS, (b"SADD", keys.APPLICATIONS, app))
        self._write("create_app", key, (b"SET", key, encode_application(application)))

    def read(self, app: str) -> Application | None:
        """The application with this id."""
        key = keys.application(app)
        data = self._calls.read("read_app", key, (b"GET", key))
        return None if data is None else decode_application(app, data)

    def replace(self, before: Application, after: Application | None) -> bool:
        """Replace the application if it is still as ``before``, or delete it."""
        key = keys.application(before.id)
        data = b"" if after is None else encode_application(after)
        replaced = self._write("replace", key, evalsha("replace", (key,), encode_application(before), data)) == 1
        if replaced and after is None:
            self._write("remove_app", keys.APPLICATIONS, (b"SREM", keys.APPLICATIONS, before.id.encode()))
        return replaced

    def all(self) -> list[Application]:
        """Every application, the oldest first."""
        members = self._calls.read("list_apps", keys.APPLICATIONS, (b"SMEMBERS", keys.APPLICATIONS))
        ids = [each.decode() for each in members]
        calls: list[tuple[bytes, Command]] = [(key, (b"GET", key)) for key in map(keys.application, ids)]
        found = []
        for app, answer in zip(ids, self._topology.call_each(calls) if calls else (), strict=True):
            if isinstance(answer, NotSent | MaybeSent):
                raise unanswered(answer)
            if isinstance(answer, Exception):
                raise as_unavailable(answer) or answer from None
            if answer is not None:
                found.append(decode_application(app, answer))
        return sorted(found, key=lambda each: (each.created_at, each.id))

    def _write(self, operation: str, key: bytes, command: Command) -> object:
        try:
            return self._calls.write(operation, key, command)
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._observe_failure(error.reason)
            raise
