"""Valid and invalid requests generated from the document, sent to live games: every answer must be documented.

``SCHEMATHESIS_EXAMPLES`` draws more of them for each operation (30 in a nightly run, 15 in the gate), and
``SCHEMATHESIS_SEED`` other ones.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.core.media_types import YAML_MEDIA_TYPES
from schemathesis.core.parameters import ParameterLocation

from service.engine.variants import variants
from tests.support.lanes import current, fewer
from tests.support.serving import Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import Table

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", fewer(30)))
SEED = int(os.environ.get("SCHEMATHESIS_SEED", "1"))
BEARER = "Bearer of-a-seat"
Case = schemathesis.Case[Any]

ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409"]
MAY_BE_INVALID = (
    # What the schemas cannot express: a seat is one of three things, options hold for some variants only;
    *("createGame", "seekTable"),
    # how many are there is not in the request;
    "startGame",
    # a key that is drawn twice stands for another request already, and a seat drawn at random may be one's own;
    *("joinGame", "takeSeat", "changeToken", "claimSeat", "createKey", "changePlayer"),
    # a cursor drawn at random is none, a text is seldom a variant, and games that wait are listed for a player;
    *("getFeed", "listGames", "listLobby"),
    # a text is seldom a record, a version drawn at random is seldom reached, and an aspect has one decimal.
    *("verifyRecord", "replayRecord", "getBoardAsJson", "getBoardAsSvg", "getBoardAsText"),
)


def accepting(name: str, *statuses: str) -> Json:
    """An operation that may answer so to what fits its schemas."""
    return {
        "include-operation-id": name,
        "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, *statuses]}},
    }


OPERATIONS: list[Json] = [
    *[accepting(name, "422") for name in MAY_BE_INVALID],
    # A tile goes with a play only; and a version drawn at random is not the game's.
    accepting("makeMove", "412", "422"),
    # A game that was deleted is 410 to whoever asks, also to the check that asks again without a token.
    {"include-operation-id": "deleteGame", "checks": {"ignored_auth": {"enabled": False}}},
]
CHECKS: Json = {
    # A bad `If-Match` is one that does not hold.
    "negative_data_rejection": {
        "expected-statuses": ["400", "401", "403", "404", "405", "406", "409", "412", "415", "422"]
    },
    "max_response_time": PATIENCE,
}


@schemathesis.deserializer(*YAML_MEDIA_TYPES)
def _text(_context: Any, response: Any) -> str:
    """The OpenAPI document is a string to a client, as every other file."""
    return str(response.text)


class Tables:
    """Live games of every variant, and games with open seats; a finished game is replaced by a new one."""

    def __init__(self, http: httpx.Client, new_key: Callable[[], str]) -> None:
        self.http = http
        self.new_key = new_key
        """Makes the key of a new application."""
        self.session = requests.Session()
        """Keeps the connection of the cases alive."""
        self.begin()
        self.playing = [self._deal(variant) for variant in variants()]
        self.key = self.new_key()
        self.waiting = [self._open() for _ in range(2)]
        self.over = self._play()
        self.record = self.over.record()
        self.learning = self._against_computer()
        self.http.post(f"/v1/games/{self.over.id}/review", headers=self.over.headers(0)).raise_for_status()
        self._wait_for(self.learning, "/hint")
        self._wait_for(self.over, "/review")

    def begin(self) -> None:
        """Restart the numbering of requests, so that those of an operation do not depend on what ran before it."""
        self.numbers = itertools.count()
        self.rng = random.Random(SEED)

    def _deal(self, variant: str) -> Table:
        """A game in which the seat to move can be claimed when the few seconds of its turn are over."""
        return Table.create(self.http, variant, clock={"turn": 5}, absence={"then": "claim"})

    def _open(self) -> Table:
        return Table.create(self.http, "menschenwolf", [{"name": "Ada"}, *[{"open": True}] * 12])

    def owned(self) -> str:
        """The id of a new game of the application, with a seat that is open."""
        body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
        headers = {"Authorization": f"Bearer {self.key}"}
        created: str = self.http.post("/v1/games", json=body, headers=headers).raise_for_status().json()["game"]["id"]
        return created

    def _play(self) -> Table:
        """A finished match with as many seats as ``SEATS``."""
        table = Table.create(self.http, "homo-homini-lupus", options={"rounds": 1})
        for _ in table.play(SEED):
            pass
        return table

    def _against_computer(self) -> Table:
        """A game against a computer player, in which the person is to move."""
        table = Table.create(self.http, "domino", [{"name": "Ada"}, {"bot": "random"}], pace=0)
        view = table.view()
        while view["to_act"] != [0]:
            view = table.get(f"?after={view['version']}&wait=5").json()
        return table

    def _wait_for(self, table: Table, what: str) -> None:
        """Ask seat 0 of a game for what bot workers compute, until it is there."""
        ends = monotonic() + ADVICE_SECONDS
        while table.get(what, 0).status_code != 200:
            assert monotonic() < ends, f"no {what}"
            sleep(0.2)

    def live(self, number: int) -> tuple[Table, int]:
        """A running game and the seat that is to move."""
        place = number % len(self.playing)
        table = self.playing[place]
        view = table.view()
        if view["status"] == "finished":
            table = self.playing[place] = self._deal(view["variant"])
        return table, table.to_move()

    def half_empty(self, number: int) -> Table:
        place = number % len(self.waiting)
        if self.waiting[place].view()["status"] != "waiting":
            self.waiting[place] = self._open()
        return self.waiting[place]


class Seat:
    """Marks the requests that need the token of a seat; which one is decided when they are sent."""

    def get(self, _case: Case, _context: schemathesis.AuthContext) -> str:
        return BEARER

    def set(self, case: Case, data: str, _context: schemathesis.AuthContext) -> None:
        case.headers["Authorization"] = data


SEATS: list[list[Json]] = [
    [{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy"}, {"name": "Di"}],
    [{"name": "Ada"}, {"open": True}, {"open": True}, {"name": "Di"}],
    [{"name": "Ada"}, {"bot": "greedy"}, {"bot": "random"}, {"bot": "expert"}],
]
CLOCKS: list[Json] = [{"turn": 60}, {"bank": 300}, {"bank": 300, "increment": 5}]
OUT_OF_PLACE: list[Json] = [{"action": "deal", "client_seed": "mu"}, {"action": "flip"}]
"""Moves that are seldom legal."""
ADVICE_SECONDS = 120.0
"""The longest time that a hint and a short review take on a busy machine."""
OF_APPLICATIONS = ("changeJoinCode", "deleteGame", "getFeed", "listGames", "changePlayer")
"""Operations that are mostly called with the key of an application."""
ONLY_REFUSED = (
    *("changeWebhook", "changeWebhookSecret", "createWebhook", "deleteWebhook", "erasePlayer", "getPlayer"),
    *("getWebhook", "listDeliveries", "listWebhooks", "pingWebhook", "redeliverMessage"),
)
EXPECTED: dict[str, set[int]] = {
    "beginRematch": {201, 401, 409, 422},
    "beginReview": {202, 401, 409},
    "changeJoinCode": {201, 401},
    "createGame": {201, 422},
    "createKey": {201, 401, 422},
    "getApplication": {200, 401},
    "revokeKey": {204, 401, 404},
    "deleteGame": {204, 401},
    "getFeed": {200, 401},
    "listGames": {200, 401, 422},
    "changeToken": {201, 401, 403, 404},
    "claimSeat": {401, 409, 422},
    "getEvents": {200, 401, 404},
    "getGame": {200, 401, 404},
    "getHint": {200, 401, 403},
    "getMoves": {200, 401, 404},
    "getReview": {200, 401, 404},
    "getScore": {200, 401, 404},
    "joinGame": {201, 401, 403, 404, 422},
    "makeMove": {201, 401, 409, 412, 422},
    "changePlayer": {200, 401, 422},
    "replayRecord": {200, 422},
    "resign": {401, 403, 404},
    "freeSeat": {401, 403, 404},
    "fillSeat": {200, 404, 409},
    "startGame": {401, 404, 409},
    "seekTable": {201, 422},
    "takeSeat": {403, 422},
    "setPresence": {200, 401, 403, 404, 409, 422},
    "verifyRecord": {200, 422},
    # These need the key of an application, but tokens of seats are sent:
    **dict.fromkeys(ONLY_REFUSED, {401}),  # noqa: RUF024 # never changed
}

described = schemathesis.openapi.from_path(
    ROOT / "openapi.yaml",
    config=schemathesis.Config.from_dict(
        {
            "seed": SEED,
            "request-timeout": PATIENCE,
            "checks": CHECKS,
            "operations": OPERATIONS,
            # Of fifty more cases for each operation in this phase, most of the time of a run; the gate has those drawn.
            "phases": {"coverage": {"enabled": current() == "nightly"}},
            "generation": {"database": "none", "deterministic": True, "max-examples": EXAMPLES, "no-shrink": True},
        }
    ),
)
described.auth(refresh_interval=None)(Seat)


@pytest.fixture(scope="package")
def tables(http: httpx.Client, service: Service) -> Iterator[Tables]:
    tables = Tables(http, service.new_key)
    with tables.session:
        yield tables


@pytest.fixture
def seen(tables: Tables) -> Iterator[Counter[tuple[str, int]]]:
    """Counts operations and the status of their answers; afterwards some requests must have succeeded.

    The few that the gate draws come to success and to a missing token, but not to every refusal.
    """
    tables.begin()
    counted: Counter[tuple[str, int]] = Counter()
    yield counted
    for name in {name for name, _ in counted}:
        wanted = {each for each in EXPECTED.get(name, {200}) if current() == "nightly" or each < 400}
        assert wanted <= {status for each, status in counted if each == name}, counted


@described.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_every_answer_is_one_that_the_document_allows(
    case: Case, service: Service, tables: Tables, seen: Counter[tuple[str, int]]
) -> None:
    table, seat = bring_to_life(case, tables)
    answer = case.call(base_url=service.url, session=tables.session)
    if answer.status_code == 201 and case.path.endswith("/token"):
        table.tokens[seat] = answer.json()["token"]
    seen[case.operation.definition.raw["operationId"], answer.status_code] += 1
    case.validate_response(answer)


def bring_to_life(case: Case, tables: Tables) -> tuple[Table, int]:
    """Send most requests to a live game with the token of a seat, and fill in what many valid ones need.

    Returns that game and seat.
    """
    number = next(tables.numbers)
    assert case.meta is not None
    is_good = case.meta.generation.mode.is_positive
    is_good_without_body = all(
        info.mode.is_positive for place, info in case.meta.components.items() if place is not ParameterLocation.BODY
    )
    joins = case.path.endswith("/players")
    name = case.operation.definition.raw["operationId"]
    waits = joins or name in ("fillSeat", "startGame")
    table, seat = (tables.half_empty(number), 0) if waits else tables.live(number)
    if name == "fillSeat" and is_good_without_body:
        case.path_parameters["seat"] = 1 + number % 12
    if case.path.endswith(("/rematch", "/review")) and number % 2:
        table, seat = tables.over, 0
    if case.path.endswith("/hint") and number % 2:
        table, seat = tables.learning, 0
    if "game" in case.path_parameters:
        if number % 8:
            case.path_parameters["game"] = table.id
        elif number % 16 and name != "makeMove":
            case.headers.pop("Authorization", None)
    if case.headers.get("Authorization") == BEARER or ("Authorization" in case.headers and number % 4):
        case.headers["Authorization"] = f"Bearer {table.tokens[seat]}"
    if (case.path == "/v1/app" or case.path.startswith("/v1/app/")) and number % 4 and is_good_without_body:
        key = tables.new_key()
        case.headers["Authorization"] = f"Bearer {key}"
        if "suffix" in case.path_parameters and number % 8 > 1:
            case.path_parameters["suffix"] = key[-6:]
    if name in OF_APPLICATIONS and number % 4 and is_good_without_body:
        case.headers["Authorization"] = f"Bearer {tables.key}"
        if "game" in case.path_parameters:
            case.path_parameters["game"] = tables.owned()
        if "seat" in case.path_parameters and number % 3:
            case.path_parameters["seat"] = 0
    if name == "setPresence" and number % 2 and is_good_without_body:
        case.path_parameters["seat"] = seat
    if "wait" in case.query and is_good:
        case.query["wait"] = 0  # a poll should not wait
    if not is_good or number % 3 == 0:
        return table, seat
    body: Any = case.body
    if case.path.endswith(("/token", "/presence")):
        case.path_parameters["seat"] = seat
    elif case.path.endswith("/claims"):
        other = (seat + 1) % len(table.tokens)
        case.body = {"seat": seat if number % 4 else other}
        if "Authorization" in case.headers:
            case.headers["Authorization"] = f"Bearer {table.tokens[other]}"
    elif joins:
        case.body = {**body, "join_code": table.join_code}
    elif case.path.endswith("/moves") and case.method == "POST":
        case.body = tables.rng.choice([*table.moves(seat), *OUT_OF_PLACE])
    elif name == "createGame":
        body = {**body, "variant": tables.rng.choice(list(variants())), "players": tables.rng.choice(SEATS)}
        for name in ("deals", "options", "continues", "absence", "ref", "lobby"):
            body.pop(name, None)
        body["clock"] = tables.rng.choice(CLOCKS)
        case.body = body
        if number % 5 == 0:
            version = 2 + tables.rng.randrange(12)
            case.body = {"players": body["players"], "continues": {"record": tables.record, "version": version}}
    elif name == "seekTable":
        case.body = {"variant": tables.rng.choice(["block", "draw", "domino"]), "players": 4, "name": body["name"]}
    elif case.path in ("/v1/verifications", "/v1/replays"):
        case.body = tables.record
    return table, seat
