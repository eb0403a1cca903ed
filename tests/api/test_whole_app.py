"""Facts about the whole application: what every route, every refusal and every documented problem must have."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import iscoroutinefunction
from typing import Any, get_args

import pytest
from flask import Flask, g, session
from flask.sessions import NullSession
from werkzeug.routing import Rule

from service.texts import LANGUAGES
from service.web.access import AccessRule
from service.web.http.dispatch import LeanFlask
from service.web.operation import Operation
from service.web.problems.answers import PROBLEMS, problem_description, problem_title
from tests.api.client import ANYWHERE, Api
from tools.openapi.operations import operation_of, problems_of

NOT_IN_DOCUMENT = {
    *("/", "/client/<path:name>", "/docs", "/docs/", "/docs/<path:path>"),
    *("/healthz", "/readyz", "/openapi.yaml", "/openapi.json", "/llms.txt", "/robots.txt"),
}
"""The only paths that the document does not describe: pages and files, probes, and itself."""
PUBLIC = {"getVariant", "getVersion", "listProblems", "listVariants", "replayRecord", "takeSeat", "verifyRecord"}
"""Operations without a token."""
SPECTATOR = {
    *("getBoardAsJson", "getBoardAsSvg", "getBoardAsText", "getEvents", "getFairness", "getGame", "getMoves"),
    *("getRecord", "getScore"),
}
"""Operations that take the token of a seat, the key of the application that owns the game, or none."""
ANYONE_OR_APPLICATION = {"createGame", "seekTable"}
"""Operations that take the key of an application or, unless the service requires one, none."""
PUBLIC_OR_APPLICATION = {"listLobby"}
"""Operations that take the key of an application, or none."""
APPLICATION = {
    *("changeWebhook", "changeWebhookSecret", "createWebhook", "deleteWebhook", "erasePlayer", "getApplication"),
    *("listDeliveries", "getFeed", "getPlayer", "getWebhook", "listGames", "listWebhooks", "pingWebhook"),
    *("redeliverMessage", "revokeKey"),
}
"""Operations that need the key of an application."""
JOIN = {"joinGame"}
WITHOUT_TOKEN = PUBLIC | SPECTATOR | JOIN | ANYONE_OR_APPLICATION | PUBLIC_OR_APPLICATION
BY_HTTP_ITSELF = {"method_not_allowed", "uri_too_long", *ANYWHERE}
"""Problems that no operation has to document."""
STATUSES = {
    "malformed": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "not_your_turn": 409,
    "not_in_match": 409,
    "illegal_move": 409,
    "not_started": 409,
    "round_over": 409,
    "game_over": 409,
    "seats_taken": 409,
    "stale_version": 412,
    "too_large": 413,
    "unsupported_media_type": 415,
    "invalid": 422,
    "internal": 500,
    "storage_unavailable": 503,
}
"""The problems of the contract."""


def operations(app: Flask) -> Iterator[tuple[Rule, Operation]]:
    for rule in app.url_map.iter_rules():
        described = operation_of(app.view_functions[rule.endpoint])
        if described is not None:
            yield rule, described


def method_of(rule: Rule) -> str:
    (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
    return method


def test_every_route_is_described_or_nothing_that_a_client_calls(app: Flask) -> None:
    described = {rule.rule for rule, _ in operations(app)}
    every = {rule.rule: operation_of(app.view_functions[rule.endpoint]) for rule in app.url_map.iter_rules()}
    assert {rule for rule, operation in every.items() if operation is None} == NOT_IN_DOCUMENT
    assert described.isdisjoint(NOT_IN_DOCUMENT)


def test_every_operation_is_one_method_at_one_address(app: Flask) -> None:
    found = [(method_of(rule), rule.rule) for rule, _ in operations(app)]
    names = [described.id for _, described in operations(app)]
    assert len(set(found)) == len(found)
    assert len(set(names)) == len(names)


def test_every_route_needs_a_token_or_is_listed_as_public(app: Flask) -> None:
    by_access: dict[str, set[str]] = {rule: set() for rule in get_args(AccessRule)}
    for _, described in operations(app):
        by_access[described.access].add(described.id)
    assert (by_access["public"], by_access["spectator"], by_access["join"]) == (PUBLIC, SPECTATOR, JOIN)
    assert by_access["seat"] == {"beginRematch", "claimSeat", "getHint", "makeMove"}
    assert by_access["any_seat_or_app"] == {"beginReview", "fillSeat", "getReview", "startGame"}
    assert by_access["seat_or_app"] == {"freeSeat", "resign", "setPresence"}
    assert (by_access["token_change"], by_access["key_change"]) == ({"changeToken"}, {"createKey"})
    assert by_access["app_game"] == {"changeJoinCode", "deleteGame", "changePlayer"}
    assert (by_access["anyone_or_app"], by_access["app"]) == (ANYONE_OR_APPLICATION, APPLICATION)
    assert by_access["public_or_app"] == PUBLIC_OR_APPLICATION


def test_every_route_that_is_not_public_refuses_a_missing_or_wrong_token(app: Flask, api: Api) -> None:
    here, elsewhere = api.create("domino", 2), api.create("domino", 2)
    guarded = [(rule, described) for rule, described in operations(app) if described.id not in PUBLIC]
    assert guarded
    for rule, described in guarded:
        for token in (None, "seat_of_nobody", elsewhere.tokens[0]):
            path = rule.rule.replace("<game>", here.id).replace("<int:seat>", "0")
            answer = api.ask(method_of(rule), path, token=token)
            refused = token is not None or described.id not in WITHOUT_TOKEN
            if described.id in ANYONE_OR_APPLICATION | PUBLIC_OR_APPLICATION and token is not None:
                refused = not token.startswith("seat_")
            assert (answer.status_code == 401) == refused, f"{described.id} with {token or 'no token'}"


def test_every_route_that_may_answer_401_documents_it(app: Flask) -> None:
    for _, described in operations(app):
        assert ("unauthorized" in problems_of(described)) == (described.id not in PUBLIC), described.id


def test_the_problems_have_the_statuses_of_the_contract() -> None:
    assert {code: each.status for code, each in PROBLEMS.items()}.items() >= STATUSES.items()
    for code in PROBLEMS:
        for language in LANGUAGES:
            assert problem_title(code, language)
            assert problem_description(code, language)


def test_every_problem_of_an_operation_is_in_the_table_once(app: Flask) -> None:
    for _, described in operations(app):
        assert set(problems_of(described)) <= PROBLEMS.keys(), described.id
        assert len(set(problems_of(described))) == len(problems_of(described)), described.id


def test_every_problem_in_the_table_is_one_of_an_operation_or_of_all(app: Flask) -> None:
    named = {code for _, described in operations(app) for code in problems_of(described)}
    assert named | BY_HTTP_ITSELF == PROBLEMS.keys()


def test_every_operation_that_takes_a_body_names_what_may_be_wrong_with_one(app: Flask) -> None:
    wrong: Any = {"malformed", "too_large", "unsupported_media_type", "invalid"}
    for rule, described in operations(app):
        takes_one = method_of(rule) in ("POST", "PUT", "PATCH")
        assert described.takes_body == takes_one, described.id
        assert (wrong <= set(problems_of(described))) == described.takes_body, described.id


def test_nothing_waits_for_the_end_of_a_request(app: Flask) -> None:
    """``LeanFlask`` calls nothing then."""
    assert not app.teardown_request_funcs
    assert not app.teardown_appcontext_funcs


def test_the_adapter_of_a_request_is_made_by_the_method_that_caches_hosts() -> None:
    """A release of Flask that calls something else instead would validate the host of each request again."""
    called: list[str] = []

    class Observed(LeanFlask):
        def __getattribute__(self, attribute: str) -> Any:
            called.append(attribute)
            return super().__getattribute__(attribute)

    observed = Observed("observed")
    observed.add_url_rule("/", view_func=lambda: "answer")
    called.clear()
    assert observed.test_client().get("/").text == "answer"
    assert "create_url_adapter" in called


def test_nothing_can_be_stored_in_what_all_requests_share() -> None:
    observed = LeanFlask("observed")
    with observed.app_context(), pytest.raises(AttributeError):
        g.stored = "by one request, for the next one"


def test_no_request_has_a_session() -> None:
    observed = LeanFlask("observed")
    observed.secret_key = "without one there would be no session in any case"
    observed.add_url_rule("/", view_func=lambda: str(type(session._get_current_object())))  # type: ignore[attr-defined]
    assert observed.test_client().get("/").text == str(NullSession)


def test_no_handler_is_a_coroutine(app: Flask) -> None:
    """Flask is not asked to run one (``LeanFlask``)."""
    handlers: list[Any] = [
        *app.view_functions.values(),
        *[each for group in app.before_request_funcs.values() for each in group],
    ]
    handlers += [each for group in app.after_request_funcs.values() for each in group]
    assert len(handlers) > len(APPLICATION)
    assert not [each for each in handlers if iscoroutinefunction(each)]
