"""Webhooks over HTTP: registered, looked at, changed and deleted by their application, and by nobody else."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
import redis

from service.backends.facade import BackendsFacade
from service.backends.values import DeliveryAttempt, RequestedMessage, Webhook
from service.backends.webhooks.endpoints import MAX_REQUESTED, MAX_WEBHOOKS
from service.backends.webhooks.messages import MESSAGE_TYPES
from service.outgoing.lookups import LookupFailed
from service.redis import keys
from service.redis.topology import SingleNodeTopology
from service.texts import text
from tests.api.client import Api, causes_of, errors_of, invalid_fields, location_of, refusal, status_and_code, told
from tests.support.stores.redis_stores import redis_webhooks
from tools.openapi.messages import MESSAGES

URL = "https://club.example/hooks?token=1"
WANTED = {"url": URL, "events": ["game.turn", "game.finished"]}

GAME = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}

HOSTILE_URLS = {
    "http://club.example/": "url_not_https",
    "ftp://club.example/": "url_not_https",
    "https://club.example:8443/": "url_port",
    "https://user:pass@club.example/": "url_credentials",
    "https://127.0.0.1/": "url_not_public",
    "https://localhost/": "url_not_public",
    "https://169.254.169.254/latest/meta-data": "url_not_public",
    "https://[::1]/": "url_not_public",
    "https://[::ffff:127.0.0.1]/": "url_not_public",
    "https://0x7f000001/": "url_malformed",
    "https://2130706433/": "url_malformed",
    "https://club.example/\r\nX: y": "url_malformed",
    "https://clüb.example/": "url_malformed",
    "club.example": "url_malformed",
}


def create(api: Api, key: str, **more: Any) -> dict[str, Any]:
    return told(api.post("/v1/webhooks", WANTED | more, token=key), 201)


def test_an_endpoint_is_registered_with_a_secret_that_is_shown_once(api: Api, app_key: str) -> None:
    answer = api.post("/v1/webhooks", WANTED, token=app_key)
    made = answer.get_json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert made.keys() == {"id", "url", "events", "status", "created_at", "secret"}
    assert made["status"] == "unverified"
    assert len(base64.b64decode(made["secret"].removeprefix("whsec_"))) == 32
    secret = made.pop("secret")
    assert api.get(location_of(answer), token=app_key).get_json() == made
    assert api.get("/v1/webhooks", token=app_key).get_json() == {"webhooks": [made]}
    changed = api.ask("PATCH", location_of(answer), json={"events": ["game.joined"]}, token=app_key).get_json()
    assert changed == made | {"events": ["game.joined"]}
    new = api.post(f"{location_of(answer)}/secret", token=app_key).get_json()
    assert new["secret"].startswith("whsec_")
    assert new["secret"] != secret


def test_an_endpoint_gets_all_messages_unless_told_which(api: Api, app_key: str) -> None:
    made = api.post("/v1/webhooks", {"url": URL}, token=app_key)
    assert (made.status_code, made.get_json()["events"]) == (201, list(MESSAGE_TYPES))
    changed = api.ask("PATCH", location_of(made), json={"status": "disabled"}, token=app_key).get_json()
    assert changed["events"] == list(MESSAGE_TYPES)


def test_a_patch_may_be_called_a_merge_patch_and_other_types_are_told(api: Api, app_key: str) -> None:
    path = f"/v1/webhooks/{create(api, app_key)['id']}"
    for number, content_type in enumerate(("application/json", "application/merge-patch+json")):
        events = [MESSAGE_TYPES[number]]
        answer = api.ask("PATCH", path, data=json.dumps({"events": events}), content_type=content_type, token=app_key)
        assert (answer.status_code, answer.get_json()["events"]) == (200, events)
    refused = api.ask("PATCH", path, data="[]", content_type="application/json-patch+json", token=app_key)
    assert status_and_code(refused) == (415, "unsupported_media_type")
    assert refused.headers["Accept-Patch"] == "application/json, application/merge-patch+json"
    other = api.ask("POST", f"{path}/secret", token=app_key, data="{}", content_type="application/merge-patch+json")
    assert status_and_code(other) == (415, "unsupported_media_type")
    assert "Accept-Patch" not in other.headers


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_a_url_to_which_nothing_may_be_sent_is_refused(url: str, api: Api, app_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    for answer in (
        api.post("/v1/webhooks", WANTED | {"url": url}, token=app_key),
        api.ask("PATCH", webhook, json={"url": url}, token=app_key),
    ):
        assert status_and_code(answer) == (422, "invalid")
        assert errors_of(answer.get_json()) == {"url": [text(f"reasons.{HOSTILE_URLS[url]}", "en")]}
    assert api.get(webhook, token=app_key).get_json()["url"] == URL


@pytest.mark.parametrize(
    ("failed", "wanted"),
    [
        ("share_used", (429, "limit_reached", "too_many_lookups")),
        ("no_room", (503, "lookup_unavailable", "lookups_busy")),
        ("no_answer", (503, "lookup_unavailable", "lookup_unanswered")),
    ],
)
def test_a_url_whose_host_cannot_be_looked_up_now_is_not_refused_for_good(
    failed: Literal["share_used", "no_room", "no_answer"],
    wanted: tuple[int, str, str],
    api: Api,
    app_key: str,
    backends: BackendsFacade,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    asked_for = []

    def fail(url: str, app: str) -> None:
        asked_for.append((url, app))
        raise LookupFailed(failed)

    monkeypatch.setattr(backends.webhooks, "check_url", fail)
    other = "https://other.example/"
    for answer in (
        api.post("/v1/webhooks", WANTED | {"url": other}, token=app_key),
        api.ask("PATCH", webhook, json={"url": other}, token=app_key),
    ):
        assert refusal(answer) == wanted
        assert int(answer.headers["Retry-After"]) == answer.get_json()["retry_after"] > 0
    assert asked_for == [(other, app_key[4:28])] * 2
    assert [each["url"] for each in api.get("/v1/webhooks", token=app_key).get_json()["webhooks"]] == [URL]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"url": ""}, {"url": "https://club.example/" + "x" * 500}, {"events": []}),
        *({"events": ["game.turn", "game.played"]}, {"events": ["webhook.challenge"]}),
    ],
)
def test_bad_fields_are_refused(wrong: dict[str, Any], api: Api, app_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    for method, path, body in (("POST", "/v1/webhooks", WANTED | wrong), ("PATCH", webhook, wrong)):
        (field,) = invalid_fields(api.ask(method, path, json=body, token=app_key))
        assert field.partition(".")[0] in wrong


def test_an_application_has_five_endpoints_at_most(api: Api, app_key: str) -> None:
    made = [create(api, app_key) for _ in range(MAX_WEBHOOKS)]
    answer = api.post("/v1/webhooks", WANTED, token=app_key)
    assert status_and_code(answer) == (409, "limit_reached")
    assert answer.get_json()["params"] == {"max": MAX_WEBHOOKS}
    assert api.ask("DELETE", f"/v1/webhooks/{made[0]['id']}", token=app_key).status_code == 204
    create(api, app_key)


def test_endpoints_are_their_own_applications_alone(api: Api, app_key: str, other_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    requests: list[Callable[[str | None], Any]] = [
        lambda key: api.get(webhook, token=key),
        lambda key: api.ask("PATCH", webhook, json={"status": "disabled"}, token=key),
        lambda key: api.ask("DELETE", webhook, token=key),
        lambda key: api.post(f"{webhook}/secret", token=key),
        lambda key: api.post(f"{webhook}/pings", token=key),
        lambda key: api.get(f"{webhook}/deliveries", token=key),
        lambda key: api.post(f"{webhook}/deliveries/msg_1/attempts", token=key),
    ]
    for send in requests:
        assert status_and_code(send(other_key)) == (404, "not_found")
        assert status_and_code(send(None)) == (401, "unauthorized")
        assert status_and_code(send("seat_" + "x" * 43)) == (401, "unauthorized")
    assert api.get("/v1/webhooks", token=other_key).get_json() == {"webhooks": []}
    assert api.get(webhook, token=app_key).get_json()["status"] == "unverified"


def test_an_endpoint_is_disabled_and_enabled(api: Api, app_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    for status, expected in (("disabled", "disabled"), ("active", "unverified")):  # it has answered no challenge
        answer = api.ask("PATCH", webhook, json={"status": status}, token=app_key)
        assert (answer.status_code, answer.get_json()["status"]) == (200, expected)


def test_no_more_than_ten_pings_wait(api: Api, app_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    ids = set()
    for _ in range(MAX_REQUESTED):
        answer = api.post(f"{webhook}/pings", token=app_key)
        assert answer.status_code == 202
        ids.add(answer.get_json()["id"])
    assert len(ids) == MAX_REQUESTED
    assert status_and_code(api.post(f"{webhook}/pings", token=app_key)) == (409, "limit_reached")
    assert api.get(f"{webhook}/deliveries", token=app_key).get_json() == {"deliveries": []}


@pytest.mark.parametrize("kind", MESSAGE_TYPES)
def test_a_sample_of_each_type_may_be_asked_for(kind: str, api: Api, app_key: str) -> None:
    webhook = f"/v1/webhooks/{create(api, app_key)['id']}"
    answer = api.post(f"{webhook}/pings", {"type": kind}, token=app_key)
    assert (answer.status_code, list(answer.get_json())) == (202, ["id"])


@pytest.mark.parametrize("kind", ["game.moved", "webhook.challenge", ""])
def test_an_unknown_type_of_sample_is_refused_with_those_that_there_are(kind: str, api: Api, app_key: str) -> None:
    answer = api.post(f"/v1/webhooks/{create(api, app_key)['id']}/pings", {"type": kind}, token=app_key)
    assert causes_of(answer) == [("type", "not_one_of")]
    assert answer.get_json()["params"]["allowed"] == list(MESSAGE_TYPES)


class Tried:
    """An endpoint of an application, and attempts that were made."""

    def __init__(self, api: Api, key: str, backends: BackendsFacade, server: redis.Redis) -> None:
        self._app = backends.keys.authenticate(key).id
        self._webhooks = backends.webhooks
        self._kept = redis_webhooks(SingleNodeTopology(server))
        self._id = create(api, key)["id"]
        self.path = f"/v1/webhooks/{self._id}/deliveries"

    @property
    def endpoint(self) -> Webhook:
        return self._webhooks.get(self._app, self._id)

    def log(self, message: str, kind: str, game: str | None) -> None:
        tried = DeliveryAttempt(message, kind, game, 1_800_000_000_500, 84, 204, None, 2, 1_800_000_000_000)
        self._kept.log(self.endpoint, tried)


@pytest.fixture
def tried(api: Api, app_key: str, backends: BackendsFacade, server: redis.Redis) -> Tried:
    return Tried(api, app_key, backends, server)


def test_a_message_that_was_tried_is_sent_again(api: Api, app_key: str, tried: Tried) -> None:
    game = api.post("/v1/games", GAME, token=app_key).get_json()["game"]["id"]
    tried.log("msg_1", "game.turn", game)
    answer = api.post(f"{tried.path}/msg_1/attempts", token=app_key)
    assert (answer.status_code, answer.get_json()) == (202, {"id": "msg_1"})
    assert tried.endpoint.requested == (RequestedMessage("msg_1", "game.turn", 1_800_000_000_000, game, 2),)
    (shown,) = api.get(tried.path, token=app_key).get_json()["deliveries"]
    assert (shown["id"], shown["game_id"], shown["version"]) == ("msg_1", game, 2)


def test_a_message_that_cannot_be_sent_again_is_refused_with_the_reason(
    api: Api, app_key: str, other_key: str, tried: Tried, server: redis.Redis
) -> None:
    deleted, expired, foreign = (api.create("domino", 2, key=key).id for key in (app_key, app_key, other_key))
    assert api.ask("DELETE", f"/v1/games/{deleted}", token=app_key).status_code == 204
    server.delete(*keys.of_game(expired))
    tried.log("msg_0", "webhook.challenge", None)
    refused = {"msg_0": (403, "challenge_not_repeated")}
    for message, game, status, reason in (
        ("msg_1", deleted, 410, "game_deleted"),
        ("msg_2", expired, 404, "game_expired"),
        ("msg_3", foreign, 404, "game_expired"),
    ):
        tried.log(message, "game.turn", game)
        refused[message] = status, reason
    refused |= dict.fromkeys(("msg_4", "%ED%A0%80", "%00"), (404, "no_such_message"))
    for message, expected in refused.items():
        answer = api.post(f"{tried.path}/{message}/attempts", token=app_key)
        assert (answer.status_code, answer.get_json()["reason"]) == expected
    assert tried.endpoint.requested == ()
    tried.log("msg_1", "game.deleted", deleted)
    assert api.post(f"{tried.path}/msg_1/attempts", token=app_key).status_code == 202


def test_the_document_describes_every_message_with_an_example_that_fits() -> None:
    assert [each.name for each in MESSAGES] == [*MESSAGE_TYPES, "webhook.challenge"]
    for message in MESSAGES:
        assert message.schema().load(json.loads(json.dumps(message.example)))
        assert message.example["type"] == message.name


def test_an_application_is_deleted_with_its_endpoints(api: Api, backends: BackendsFacade, server: redis.Redis) -> None:
    application, _, key = backends.keys.create("Club")
    create(api, key)
    create(api, key)
    backends.delete(application.id)
    assert status_and_code(api.get("/v1/webhooks", token=key)) == (401, "unauthorized")
    assert backends.webhooks.all(application.id) == []
    assert list(server.scan_iter(f"domino:{{{application.id}}}*")) == []
