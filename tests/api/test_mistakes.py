"""What people get wrong at first: every answer says in English and in German what to do instead, with a stable reason.

The table has a request for each mistake; ``{game}`` stands for a game of the stage of the row.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple

import pytest

from service.engine.errors import Reason
from service.engine.variants import variants
from service.reasons import REASONS, sentence
from service.web.games.creation_schemas import GameInSchema
from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves

HANDS = ("1-1 1-2 2-4 2-5 0-2 0-4 0-5", "1-3 2-3 3-4 3-5 3-6 1-4 1-5")
"""Seat 0 has the only double, so that it leads; 1-2 fits the left end of 1-1, 1-3."""
TWO = [{"name": "Ada"}, {"name": "Bo"}]
MOVES = "{game}/moves"


class Mistake(NamedTuple):
    """A request and what its answer has: status, code, reason, and a text that helps.

    ``stage`` is the game of the request: ``lead`` (seat 0 is to lead), ``running`` (it may play 1-2 at ``left``),
    ``open`` (a seat is open). ``seat`` sends the request, ``None`` without a token.
    """

    name: str
    method: str
    path: str
    status: int
    code: str
    reason: str
    help: str
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012 # never changed
    seat: int | None = None
    stage: str = "running"


def get(name: str, path: str, *answer: Any, **more: Any) -> Mistake:
    return Mistake(name, "GET", path, *answer, **more)


def create(name: str, body: Any, *answer: Any, **more: Any) -> Mistake:
    return Mistake(name, "POST", "/v1/games", *answer, **{"body": body, **more})


def move(name: str, body: Any, *answer: Any, seat: int | None = 0, **more: Any) -> Mistake:
    return Mistake(name, "POST", MOVES, *answer, **{"body": body, "seat": seat, **more})


def invalid(reason: str, text: str) -> tuple[int, str, str, str]:
    return 422, "invalid", reason, text


def malformed(reason: str, text: str) -> tuple[int, str, str, str]:
    return 400, "malformed", reason, text


def illegal(reason: str, text: str) -> tuple[int, str, str, str]:
    return 409, "illegal_move", reason, text


def unauthorized(reason: str, text: str) -> tuple[int, str, str, str]:
    return 401, "unauthorized", reason, text


BEARER = "Authorization: Bearer"
JSON = {"Content-Type": "application/json"}

MISTAKES = [
    # tokens
    get("X-Api-Key", "{game}", *unauthorized("token_misplaced", BEARER), headers={"X-Api-Key": "seat_abc"}),
    get("X-Api-Key for the moves", MOVES, *unauthorized("token_misplaced", BEARER), headers={"X-Api-Key": "seat_abc"}),
    get("token in the query", "{game}?token=seat_abc", *invalid("token_in_query", BEARER)),
    get("access_token in the query", "{game}/events?access_token=seat_abc", *invalid("token_in_query", BEARER)),
    get("token in the query beside the header", "{game}?token=seat_abc", *invalid("token_in_query", BEARER), seat=0),
    get("token in the query of the variants", "/v1/variants?token=x", *invalid("token_in_query", BEARER)),
    Mistake(
        "move with its token in the query",
        "POST",
        f"{MOVES}?token=seat_abc",
        *unauthorized("token_misplaced", "?token"),
        body={"action": "pass"},
    ),
    move("no token", {"action": "pass"}, *unauthorized("no_token", f"{BEARER} seat_…"), seat=None),
    get("unknown token", "{game}", *unauthorized("unknown_token", "no token"), headers={"Authorization": "Bearer x"}),
    get(
        "unknown key", "{game}", *unauthorized("unknown_key", "no valid key"), headers={"Authorization": "Bearer app_x"}
    ),
    get("token without Bearer", "{game}", *unauthorized("not_a_bearer_token", BEARER), headers={"Authorization": "x"}),
    get("Basic", "{game}", *unauthorized("not_a_bearer_token", BEARER), headers={"Authorization": "Basic eDp5"}),
    Mistake(
        "token of another seat",
        "POST",
        "{game}/players/1/token",
        403,
        "forbidden",
        "token_of_another_seat",
        "not the token of that seat",
        seat=0,
    ),
    # addresses and methods
    get("unknown game", "/v1/games/nowhere", 404, "not_found", "no_such_game", "no such game"),
    get("unknown variant", "/v1/variants/chess", 404, "not_found", "no_such_variant", "dominospiel"),
    Mistake(
        "unknown seat", "POST", "{game}/players/7/token", 404, "not_found", "no_such_seat", "the last one is 1", seat=0
    ),
    get(
        "an id in quotes",
        '/v1/games/"AAAAAAAAAAAAAAAAAAAAAAAA"',
        404,
        "not_found",
        "no_such_game",
        "no such game",
        seat=0,
    ),
    get("null in place of an id", "/v1/games/null/moves", 404, "not_found", "no_such_game", "no such game", seat=0),
    get("list of games", "/v1/games", *unauthorized("no_key", f"{BEARER} app_…")),
    Mistake("DELETE", "DELETE", "{game}", *unauthorized("no_key", f"{BEARER} app_…")),
    Mistake("DELETE of moves", "DELETE", MOVES, 405, "method_not_allowed", "method_not_allowed", "GET"),
    get("since", "{game}/events?since=3", *invalid("unknown_parameter", "after, limit, wait")),
    get("a query where there is none", f"{MOVES}?since=3", *invalid("no_parameters", "no parameters")),
    get("wait=600", "{game}/events?wait=600", *invalid("out_of_range", "25")),
    get("limit=-1", "{game}/events?limit=-1", *invalid("out_of_range", "1000")),
    get("a large after", f"{{game}}/events?after={9 * '1234567890'}", *invalid("out_of_range", "after:")),
    get("after=x", "{game}/events?after=x", *invalid("not_an_integer", "after: Not an integer.")),
    # media types
    get("XML", "{game}", 406, "not_acceptable", "not_acceptable", "application/json", headers={"Accept": "text/xml"}),
    create("no Content-Type", b"{}", 415, "unsupported_media_type", "no_content_type", "application/json"),
    create(
        "another Content-Type",
        b"{}",
        415,
        "unsupported_media_type",
        "wrong_content_type",
        "text/plain",
        headers={"Content-Type": "text/plain"},
    ),
    create(
        "compressed",
        b"{}",
        415,
        "unsupported_media_type",
        "compressed_body",
        "compressed",
        headers={**JSON, "Content-Encoding": "gzip"},
    ),
    # JSON
    create("single quotes", b"{'variant': 'domino'}", *malformed("single_quotes", "column 2"), headers=JSON),
    create("trailing comma", b'{"a": 1,\n "b": [2,]}', *malformed("trailing_comma", "line 2, column 9"), headers=JSON),
    create("no value", b'{"a": }', *malformed("syntax", "line 1, column 7"), headers=JSON),
    create("cut off", b'{"a": 1', *malformed("syntax", "line 1, column 8"), headers=JSON),
    create("empty", b"", *malformed("body_empty", "empty"), headers=JSON),
    create("key twice", b'{"variant": 1, "variant": 2}', *malformed("duplicate_key", "variant"), headers=JSON),
    create("Latin-1", '{"a":\n"é"}'.encode("latin-1"), *malformed("not_utf8", "line 2, column 2"), headers=JSON),
    create("NaN", b'{"a": NaN}', *malformed("syntax", "column 7"), headers=JSON),
    create("too deep", b"[" * 40 + b"]" * 40, *malformed("nested_too_deep", "32"), headers=JSON),
    create("too large", b" " * 300_000, 413, "too_large", "too_large", "256 KiB", headers=JSON),
    create("list", [], *invalid("body_not_an_object", "JSON object")),
    # a new game
    create("names alone", {"variant": "domino", "players": ["A", "B"]}, *invalid("not_a_player", '{"name": "Ada"}')),
    create("number of players", {"variant": "domino", "players": 2}, *invalid("not_players", '[{"name": "Ada"}')),
    create("one player", {"variant": "domino", "players": TWO[:1]}, *invalid("number_of_players", "2 to 10")),
    create("no players", {"variant": "domino"}, *invalid("required_list", "Needed: a list of 2 to 13.")),
    create("no variant", {"players": TWO}, *invalid("required_one_of", "variant: Needed: one of ")),
    create("null", {"variant": "domino", "players": None}, *invalid("null", "players: ")),
    create("wrong variant", {"variant": "chess", "players": TWO}, *invalid("not_one_of", "dominospiel")),
    create(
        "typo",
        {"variant": "domino", "players": TWO, "rule": {}},
        *invalid("unknown_field", "rule: Unknown field; possible: variant, players, options"),
    ),
    create(
        "option of another game",
        {"variant": "domino", "players": TWO, "options": {"rounds": 3}},
        *invalid("unknown_option", "set, hand, limit, teams"),
    ),
    create(
        "limit as text",
        {"variant": "domino", "players": TWO, "options": {"limit": "50"}},
        *invalid("not_an_integer", "options.limit: Not an integer."),
    ),
    create(
        "limit too high",
        {"variant": "domino", "players": TWO, "options": {"limit": 5000}},
        *invalid("whole_number", "from 1 to 1000"),
    ),
    create("homo with 2", {"variant": "homo-homini-lupus", "players": TWO}, *invalid("exact_players", "4 players")),
    create("fido with 2", {"variant": "fido", "players": TWO}, *invalid("number_of_players", "3 to 9 players")),
    create(
        "5 on double-six",
        {"variant": "domino", "players": [*TWO, *TWO, *TWO[:1]]},
        *invalid("set_too_small", "Double-six is for at most 4 players; `set` 9 or 12 is for more."),
    ),
    create(
        "unknown level",
        {"variant": "domino", "players": [TWO[0], {"bot": "gentle"}]},
        *invalid("not_one_of", "random, beginner, casual, greedy, expert"),
    ),
    create(
        "two clocks",
        {"variant": "domino", "players": TWO, "clock": {"turn": 60, "bank": 60}},
        *invalid("one_of_turn_bank", "one of turn and bank"),
    ),
    create(
        "minutes as text",
        {"variant": "domino", "players": TWO, "clock": {"turn": "1 min"}},
        *invalid("not_an_integer", "clock.turn: "),
    ),
    create(
        "half a second",
        {"variant": "domino", "players": TWO, "clock": {"turn": 0.5}},
        *invalid("not_an_integer", "clock.turn: "),
    ),
    create(
        "increment for turns",
        {"variant": "domino", "players": TWO, "clock": {"turn": 60, "increment": 5}},
        *invalid("only_with_bank", "clock.increment: "),
    ),
    create(
        "absence as a word",
        {"variant": "domino", "players": TWO, "clock": {"turn": 60}, "absence": "bot"},
        *invalid("not_an_object", "absence: "),
    ),
    create(
        "forfeit without a clock",
        {"variant": "domino", "players": TWO, "absence": {"then": "forfeit"}},
        *invalid("only_with_clock", "absence: "),
    ),
    create("pace as text", {"variant": "domino", "players": TWO, "pace": "1"}, *invalid("not_a_number", "pace: ")),
    create(
        "blank name", {"variant": "domino", "players": [TWO[0], {"name": " "}]}, *invalid("blank", "players.1.name")
    ),
    create("closed seat", {"variant": "domino", "players": [TWO[0], {"open": False}]}, *invalid("not_true", "true")),
    create(
        "incomplete deal",
        {"variant": "domino", "players": TWO, "deals": [{"hands": [["0-0"], ["0-1"]], "stock": []}]},
        *invalid("tiles_missing", "0-2, 0-3"),
    ),
    create(
        "bad key",
        {"variant": "domino", "players": TWO},
        *invalid("idempotency_key", "16 to 255"),
        headers={"Idempotency-Key": "short"},
    ),
    Mistake(
        "not a record",
        "POST",
        "/v1/verifications",
        *invalid("record_syntax", "line 1, column 1"),
        body=b"x",
        headers={"Content-Type": "text/plain"},
    ),
    Mistake(
        "record in JSON",
        "POST",
        "/v1/verifications",
        415,
        "unsupported_media_type",
        "wrong_content_type",
        "text/plain",
        body={"record": "x"},
    ),
    # joining
    Mistake(
        "no join code",
        "POST",
        "{game}/players",
        *invalid("required", "join_code: Needed: a text."),
        body={"name": "Bo"},
        stage="open",
    ),
    Mistake(
        "wrong join code",
        "POST",
        "{game}/players",
        403,
        "forbidden",
        "wrong_join_code",
        "join code",
        body={"name": "Bo", "join_code": "x"},
        stage="open",
    ),
    move(
        "move before the start", {"action": "pass"}, 409, "not_started", "seats_open", "no seat is open", stage="open"
    ),
    # moves
    move("list of moves", [{"action": "pass"}], *invalid("body_not_an_object", "JSON object")),
    move(
        "answer of /moves",
        {"version": 3, "legal_moves": []},
        *invalid("required_one_of", "Needed: one of play, draw, "),
    ),
    move("PLAY", {"action": "PLAY", "tile": "1-2"}, *invalid("not_one_of", "play, draw, pass")),
    move("another separator", {"action": "play", "tile": "1/2"}, *invalid("not_a_tile", '"0-6"')),
    move("66", {"action": "play", "tile": "66"}, *invalid("not_a_tile", '"0-6"')),
    move("no tile", {"action": "play"}, *invalid("play_needs_tile", "tile: A play needs a tile.")),
    move("pass with a tile", {"action": "pass", "tile": "1-2"}, *invalid("only_with_play", "tile: ")),
    move("seed with a play", {"action": "play", "tile": "1-2", "client_seed": "x"}, *invalid("only_with_deal", "deal")),
    move("end top", {"action": "play", "tile": "1-2", "end": "top"}, *illegal("no_such_end", "ends are left, right")),
    move(
        "end of the lead",
        {"action": "play", "tile": "1-1", "end": "left"},
        *illegal("table_empty", "left"),
        stage="lead",
    ),
    move("wrong end", {"action": "play", "tile": "1-2", "end": "right"}, *illegal("does_not_fit", "number 3")),
    move("fits nowhere", {"action": "play", "tile": "2-4"}, *illegal("fits_nowhere", "2-4")),
    move("not held", {"action": "play", "tile": "1-3"}, *illegal("tile_not_held", "do not hold")),
    move("9-9 on double-six", {"action": "play", "tile": "9-9"}, *illegal("not_in_set", "no tile 9-9")),
    move("wrong lead", {"action": "play", "tile": "1-2"}, *illegal("may_not_lead", "possible: 1-1"), stage="lead"),
    move("face down", {"action": "play", "tile": "1-2", "face_down": True}, *illegal("must_lie_face_up", "face down")),
    move("pass", {"action": "pass"}, *illegal("must_play", "1-2 fits")),
    move("draw", {"action": "draw"}, *illegal("must_play", "1-2 fits")),
    move("done", {"action": "done"}, *illegal("nothing_to_end", "several tiles")),
    move("flip", {"action": "flip"}, *illegal("may_not_flip", "opening tile")),
    move("deal", {"action": "deal"}, *illegal("round_not_over", "nothing to deal")),
    move("not my turn", {"action": "pass"}, 409, "not_your_turn", "not_your_turn", "turn of seat 0", seat=1),
    move(
        "old version",
        {"action": "play", "tile": "1-2", "version": 1},
        412,
        "stale_version",
        "stale_version",
        "at version 4",
    ),
]


@pytest.fixture(scope="module")
def tables(app: Any) -> dict[str, Table]:
    """A game at each stage."""
    api = Api(app.test_client(use_cookies=False))
    deals = [deal("domino", *HANDS)]
    lead = api.create("domino", 2, deals=deals)
    running = api.create("domino", 2, deals=deals)
    make_moves(api, running, "1-1 1-3@right")
    return {"lead": lead, "running": running, "open": api.create("domino", [{"name": "Ada"}, {"open": True}])}


def answer_to(api: Api, tables: dict[str, Table], mistake: Mistake, language: str) -> tuple[Any, dict[str, str]]:
    table = tables[mistake.stage]
    headers = {"Accept-Language": language, **mistake.headers}
    body = {"data" if isinstance(mistake.body, bytes) else "json": mistake.body}
    token = None if mistake.seat is None else table.tokens[mistake.seat]
    answer = api.ask(mistake.method, mistake.path.format(game=table.path), token=token, headers=headers, **body)
    return json.loads(answer.data), dict(answer.headers)


def texts_of(problem: Any) -> list[str]:
    return [problem["detail"], *[each["detail"] for each in problem.get("causes", ())]]


def without_texts(problem: Any) -> dict[str, Any]:
    rest = {name: value for name, value in problem.items() if name not in ("title", "detail")}
    rest["causes"] = [{**each, "detail": ""} for each in problem.get("causes", ())]
    return rest


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each.name for each in MISTAKES])
def test_a_mistake_is_answered_with_its_reason_and_what_helps(
    api: Api, tables: dict[str, Table], mistake: Mistake
) -> None:
    problem, headers = answer_to(api, tables, mistake, "en")
    assert (problem["status"], problem["code"], problem["reason"]) == (mistake.status, mistake.code, mistake.reason)
    assert REASONS[mistake.reason] == mistake.code
    assert problem["type"] == f"/problems#{mistake.code}"
    assert mistake.help in problem["detail"]
    assert (headers["Content-Language"], "Accept-Language" in headers["Vary"]) == ("en", True)
    german, headers = answer_to(api, tables, mistake, "de-AT, en;q=0.5")
    assert headers["Content-Language"] == "de"
    assert german["title"] != problem["title"]
    assert without_texts(german) == without_texts(problem)
    for said, gesagt in zip(texts_of(problem), texts_of(german), strict=True):
        assert said != gesagt


def test_params_are_the_values_of_the_sentence(api: Api, tables: dict[str, Table]) -> None:
    wanted = {
        "trailing comma": {"line": 2, "column": 9},
        "not my turn": {"seat": 0},
        "end top": {"end": "top", "ends": ["left", "right"]},
        "wrong end": {"tile": "1-2", "end": "right", "number": 3, "ends": ["left"]},
        "no variant": {"field": "variant", "allowed": list(variants())},
        "answer of /moves": {"field": "action", "allowed": ["play", "draw", "pass", "done", "flip", "deal"]},
        "9-9 on double-six": {"tile": "9-9", "max": 6},
        "pass": {"action": "pass", "tile": "1-2"},
        "wait=600": {"field": "wait", "min": 0, "max": 25},
        "option of another game": {"field": "options.rounds", "allowed": ["set", "hand", "limit", "teams"]},
    }
    mistakes = {each.name: each for each in MISTAKES}
    for name, params in wanted.items():
        problem, _ = answer_to(api, tables, mistakes[name], "en")
        assert problem["params"] == params, name


def test_each_fault_of_a_field_is_a_cause(api: Api) -> None:
    body = {"variant": "domino", "players": ["A", {"name": " "}], "rule": 1}
    problem = api.post("/v1/games", body).get_json()
    assert problem["causes"] == [
        {"field": "players.0", "reason": "not_a_player", "detail": sentence(Reason("not_a_player"))},
        {"field": "players.1.name", "reason": "blank", "detail": sentence(Reason("blank"))},
        {
            "field": "rule",
            "reason": "unknown_field",
            "detail": problem["causes"][2]["detail"],
            "params": {"allowed": [each.data_key or name for name, each in GameInSchema().load_fields.items()]},
        },
    ]
    assert "unique_names" in problem["causes"][2]["detail"]


def test_who_is_out_is_told_so_and_not_to_wait_for_a_turn(api: Api) -> None:
    deals = [deal("menschenwolf", "1-2 …", "…", "…", limit=1)]
    table = api.create("menschenwolf", 3, options={"limit": 1}, deals=deals)
    view = api.view(table)
    while view["status"] == "playing":
        seat = view["turn"]["seat"]
        view = api.move(table, seat, api.moves(table, seat)[0]).get_json()
    out = [each["seat"] for each in view["players"] if not each["active"]]
    assert (view["status"], len(out)) == ("round_over", 1)
    for action in ("deal", "pass"):
        problem = api.post(f"{table.path}/moves", {"action": action}, token=table.tokens[out[0]]).get_json()
        assert (problem["code"], problem["reason"], problem["params"]) == (
            "not_in_match", "out_of_match", {"seat": out[0]},
        )  # fmt: skip
        assert problem["legal_moves"] == []


def test_an_end_that_is_not_open_is_named_with_what_it_is(api: Api) -> None:
    table = api.create("menschenwolf", 2, seed="shut ends")
    reasons: set[str] = set()

    def ask_at_shut_ends(view: Any) -> bool:
        if view["status"] != "playing":
            return len(reasons) == 2
        seat = view["turn"]["seat"]
        face_down = [each["tile"] for each in view["board"]["tiles"] if each["face_down"]]
        for end in view["board"]["ends"]:
            if end["state"] != "open":
                body = {"action": "play", "tile": api.view(table, seat)["you"]["hand"][0], "end": end["id"]}
                problem = api.post(f"{table.path}/moves", body, token=table.tokens[seat]).get_json()
                assert problem["reason"] == ("end_closed" if end["tile"] in face_down else "end_gated")
                assert problem["params"] == {"end": end["id"]}
                reasons.add(problem["reason"])
        return len(reasons) == 2

    api.play_until(table, ask_at_shut_ends, Random("shut ends"))
    assert reasons == {"end_closed", "end_gated"}


def test_a_body_of_one_key_many_times_is_refused_at_once(api: Api) -> None:
    body = b"{" + b",".join([b'"%d":1' % number for number in range(20_000)]) + b',"7":1}'
    answer = api.ask("POST", "/v1/games", data=body, content_type="application/json")
    assert (answer.status_code, answer.get_json()["params"]) == (400, {"key": "7"})


def test_the_token_counts_beside_a_key_of_a_gateway(api: Api, tables: dict[str, Table]) -> None:
    table = tables["running"]
    view = api.get(table.path, token=table.tokens[0], headers={"X-Api-Key": "of a gateway"}).get_json()
    assert view["you"]["seat"] == 0
    assert api.get("/v1/variants", headers={"X-Api-Key": "of a gateway"}).status_code == 200
