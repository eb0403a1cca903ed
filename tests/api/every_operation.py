"""Every operation at its address, with the token or key for it: for tests that send all of them the same thing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final, NamedTuple

from flask import Flask
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.web.operation import Operation
from tests.api.client import Api, Table
from tests.api.saved_games import StoreContents
from tests.api.test_whole_app import method_of, operations
from tests.support.table import seat_to_move

JSON: Final = "application/json"
TEXT: Final = "text/plain"
WEBHOOK: Final = {"url": "https://hooks.example.com/", "events": ["game.turn"]}
REFUSED: Final[dict[str, Any]] = {
    "createGame": {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "options": {"hand": 4}},
    "seekTable": {"variant": "domino", "players": 9, "name": "Eve"},
    "joinGame": {"name": "Eve", "join_code": "ACDEFGHJ"},
    "takeSeat": {"name": "Eve", "join_code": "ACDEFGHJ"},
    "makeMove": {"action": "deal"},
    "setPresence": {"away": False},
    "claimSeat": {"seat": 0},
    "verifyRecord": "no record",
    "replayRecord": "no record",
    "createKey": {"overlap": -1},
    "createWebhook": {"url": "http://hooks.example.com/", "events": ["game.turn"]},
    "changeWebhook": {"status": "deleted"},
    **{
        name: {"colour": 1}
        for name in (
            *("changeToken", "changePlayer", "changeJoinCode", "beginRematch", "beginReview", "changeWebhookSecret"),
            *("pingWebhook", "redeliverMessage", "fillSeat", "startGame", "resign"),
        )
    },
}
"""For each operation with a body, one that is well-formed and refused: a text, or JSON."""
GONE: Final = {"deleteGame": 410, "freeSeat": 409, "deleteWebhook": 404, "erasePlayer": 202, "revokeKey": 404}
"""What each deletion answers: what it deletes is gone, or soon will be; no seat of a match is freed."""
NOT_THERE: Final = {"getHint": 403, "getReview": 404}
"""What is answered by what reads something that this game does not have."""
_WITHOUT_TOKEN: Final = ("public",)
_WITH_KEY: Final = ("app", "app_game", "key_change")
_WITH_EITHER: Final = (
    *("any_seat_or_app", "anyone_or_app", "join", "public_or_app", "seat_or_app", "spectator", "token_change"),
)


class Endpoint(NamedTuple):
    """An operation at its path, with the token or key for it, and the methods of all operations at this path."""

    described: Operation
    method: str
    rule: str
    names: dict[str, str]
    token: str | None
    methods: frozenset[str]

    @property
    def id(self) -> str:
        return self.described.id

    @property
    def path(self) -> str:
        return path_of(self.rule, self.names)

    @property
    def status(self) -> int:
        """What it answers, whatever the body, if it takes none."""
        return {**GONE, **NOT_THERE}.get(self.id, 200)

    @property
    def takes_body(self) -> bool:
        return self.described.takes_body

    @property
    def kind(self) -> str:
        """The type of its body."""
        return TEXT if self.described.text_body else JSON

    @property
    def body(self) -> bytes:
        """Its refused body, or one that it does not take."""
        refused = REFUSED.get(self.id, {"colour": 1})
        return (refused if isinstance(refused, str) else json.dumps(refused)).encode()

    def ask(self, api: Api, **request: Any) -> TestResponse:
        """Send a request with its method, path and token, unless others are given."""
        how = {"method": self.method, "path": self.path, "token": self.token, **request}
        return api.ask(how.pop("method"), how.pop("path"), **how)

    def refused(self, api: Api, **request: Any) -> TestResponse:
        """Send its refused body if it takes one: whatever else is in the request, it changes nothing."""
        sent = {"data": self.body, "content_type": self.kind} if self.takes_body else {}
        return self.ask(api, **sent, **request)


class Target(NamedTuple):
    """A game of an application that has a webhook, and every operation on them."""

    table: Table
    endpoints: tuple[Endpoint, ...]
    key: str
    backends: BackendsFacade
    store: StoreContents

    @property
    def with_body(self) -> list[Endpoint]:
        return [each for each in self.endpoints if each.takes_body]

    @property
    def once(self) -> list[Endpoint]:
        """Every operation with one of its tokens."""
        return [*{each.id: each for each in self.endpoints}.values()]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Check that this changes nothing of them, and makes nothing else."""
        before = self.own(), self.store.now()
        yield
        assert (self.own(), self.store.now()) == before

    def own(self) -> Any:
        """All that the store holds of them."""
        application = self.backends.keys.authenticate(self.key)
        return application, self.backends.webhooks.all(application.id), self.store.now(self.table)[1]


def path_of(rule: str, names: dict[str, str]) -> str:
    """The path of a rule with these names in the places of its variables."""
    for place, name in names.items():
        rule = rule.replace(place, name)
    assert "<" not in rule
    return rule


def as_stream(data: bytes) -> dict[str, Any]:
    """A body without a length, as a server passes on a chunked one."""
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"input_stream": BytesIO(data), "environ_overrides": environ}


def create_own(api: Api, key: str) -> Table:
    """A new game of the application with this key."""
    players = [{"name": "Ada", "ref": "user-ada"}, {"name": "Bo"}]
    return api.create("domino", players, key=key)


def make_target(app: Flask, backends: BackendsFacade, store: StoreContents, publish: Callable[[], None]) -> Target:
    api = Api(app.test_client(use_cookies=False))
    key = backends.keys.create("The application of all operations").key
    table, gone = (create_own(api, key) for _ in range(2))
    seat = seat_to_move(api.view(table))
    webhook, gone_webhook = (api.post("/v1/webhooks", WEBHOOK, token=key).get_json()["id"] for _ in range(2))
    for path, status in ((gone.path, 204), (f"/v1/webhooks/{gone_webhook}", 204), ("/v1/players/user-gone", 202)):
        assert api.delete(path, token=key).status_code == status
    publish()
    names = {"<int:seat>": str(seat), "<variant>": "domino", "<suffix>": "Zr0q8T", "<message>": "msg_1"}
    here = {**names, "<game>": table.id, "<webhook>": webhook, "<ref:ref>": "user-ada"}
    there = {**names, "<game>": gone.id, "<webhook>": gone_webhook, "<ref:ref>": "user-gone"}
    methods: dict[str, set[str]] = {}
    for rule, _ in operations(app):
        methods.setdefault(rule.rule, set()).update((rule.methods or set()) - {"OPTIONS"})
    tokens: dict[str, tuple[str | None, ...]] = {
        **dict.fromkeys(_WITHOUT_TOKEN, (None,)),
        **dict.fromkeys(_WITH_KEY, (key,)),
        **dict.fromkeys(_WITH_EITHER, (table.tokens[seat], key)),
        "seat": (table.tokens[seat],),
    }
    endpoints = [
        Endpoint(
            described,
            method_of(rule),
            rule.rule,
            there if described.id in GONE and described.id != "freeSeat" else here,
            token,
            frozenset(methods[rule.rule]),
        )
        for rule, described in operations(app)
        for token in tokens[described.access]
    ]
    assert {each.id for each in endpoints if each.takes_body} == set(REFUSED)
    assert {each.id for each in endpoints if each.method == "DELETE"} == set(GONE)
    return Target(table, tuple(endpoints), key, backends, store)
