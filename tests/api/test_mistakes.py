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
from tests.api.client import Api, Table, refusal
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.support.table import round_over, seat_to_move

HANDS = ("1-1 1-2 2-4 2-5 0-2 0-4 0-5", "1-3 2-3 3-4 3-5 3-6 1-4 1-5")
"""Seat 0 has the only double, so that it leads; 1-2 fits the left end of 1-1, 1-3."""
TWO = [{"name": "Ada"}, {"name": "Bo"}]
MOVES, PLAYERS = "{game}/moves", "{game}/players"
WRONG_CODE = {"name": "Bo", "join_code": "x"}


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


def post(name: str, path: str, *answer: Any, **more: Any) -> Mistake:
    return Mistake(name, "POST", path, *answer, **more)


def create(name: str, body: Any, *answer: Any, **more: Any) -> Mistake:
    return post(name, "/v1/games", *answer, **{"body": body, **more})


def game(name: str, fields: dict[str, Any], *answer: Any, **more: Any) -> Mistake:
    """A game of domino of two with these fields."""
    return create(name, {"variant": "domino", "players": TWO, **fields}, *answer, **more)


def move(name: str, body: Any, *answer: Any, seat: int | None = 0, **more: Any) -> Mistake:
    return post(name, MOVES, *answer, **{"body": body, "seat": seat, **more})


def play(name: str, tile: str, *answer: Any, stage: str = "running", **fields: Any) -> Mistake:
    return move(name, {"action": "play", "tile": tile, **fields}, *answer, stage=stage)


def invalid(reason: str, text: str) -> tuple[int, str, str, str]:
    return 422, "invalid", reason, text


def malformed(reason: str, text: str) -> tuple[int, str, str, str]:
    return 400, "malformed", reason, text


def illegal(reason: str, text: str) -> tuple[int, str, str, str]:
    return 409, "illegal_move", reason, text


def unauthorized(reason: str, text: str) -> tuple[int, str, str, str]:
    return 401, "unauthorized", reason, text


def not_found(reason: str, text: str) -> tuple[int, str, str, str]:
    return 404, "not_found", reason, text


def unsupported(reason: str, text: str) -> tuple[int, str, str, str]:
    return 415, "unsupported_media_type", reason, text


BEARER = "Authorization: Bearer"
JSON = {"Content-Type": "application/json"}
TEXT = {"Content-Type": "text/plain"}
GATEWAY = {"X-Api-Key": "seat_abc"}


def authorized(header: str) -> dict[str, str]:
    return {"Authorization": header}


MISTAKES = [
    # tokens
    get("X-Api-Key", "{game}", *unauthorized("token_misplaced", BEARER), headers=GATEWAY),
    get("X-Api-Key for the moves", MOVES, *unauthorized("token_misplaced", BEARER), headers=GATEWAY),
    get("token in the query", "{game}?token=seat_abc", *invalid("token_in_query", BEARER)),
    get("access_token in the query", "{game}/events?access_token=seat_abc", *invalid("token_in_query", BEARER)),
    get("token in the query beside the header", "{game}?token=seat_abc", *invalid("token_in_query", BEARER), seat=0),
    get("token in the query of the variants", "/v1/variants?token=x", *invalid("token_in_query", BEARER)),
    post("token in the query of a move", f"{MOVES}?token=a", *unauthorized("token_misplaced", "?token"), body={}),
    move("no token", {"action": "pass"}, *unauthorized("no_token", f"{BEARER} seat_…"), seat=None),
    get("unknown token", "{game}", *unauthorized("unknown_token", "no token"), headers=authorized("Bearer x")),
    get("unknown key", "{game}", *unauthorized("unknown_key", "no valid key"), headers=authorized("Bearer app_x")),
    get("token without Bearer", "{game}", *unauthorized("not_a_bearer_token", BEARER), headers=authorized("x")),
    get("Basic", "{game}", *unauthorized("not_a_bearer_token", BEARER), headers=authorized("Basic eDp5")),
    post(
        "another's token", "{game}/players/1/token", 403, "forbidden", "token_of_another_seat", "not the token", seat=0
    ),
    # addresses and methods
    get("unknown game", "/v1/games/nowhere", *not_found("no_such_game", "no such game")),
    get("unknown variant", "/v1/variants/chess", *not_found("no_such_variant", "dominospiel")),
    post("unknown seat", "{game}/players/7/token", *not_found("no_such_seat", "the last one is 1"), seat=0),
    get("an id in quotes", f'/v1/games/"{"A" * 24}"', *not_found("no_such_game", "no such game"), seat=0),
    get("null in place of an id", "/v1/games/null/moves", *not_found("no_such_game", "no such game"), seat=0),
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
    create("no Content-Type", b"{}", *unsupported("no_content_type", "application/json")),
    create("another Content-Type", b"{}", *unsupported("wrong_content_type", "text/plain"), headers=TEXT),
    create("zip", b"{}", *unsupported("compressed_body", "compressed"), headers={**JSON, "Content-Encoding": "gzip"}),
    # JSON
    create("single quotes", b"{'variant': 'domino'}", *malformed("single_quotes", "column 2"), headers=JSON),
    create("trailing comma", b'{"a": 1,\n "b": [2,]}', *malformed("trailing_comma", "line 2, column 9"), headers=JSON),
    create("no value", b'{"a": }', *malformed("syntax", "line 1, column 7"), headers=JSON),
    create("cut off", b'{"a": 1', *malformed("syntax", "line 1, column 8"), headers=JSON),
    create("empty", b"", *malformed("body_empty", "empty"), headers=JSON),
    create("key twice", b'{"variant": 1, "variant": 2}', *malformed("duplicate_key", "variant"), headers=JSON),
    create(
        "key of a player twice",
        b'{"players": [{"name": 1, "name": 2}]}',
        *malformed("duplicate_key", "name"),
        headers=JSON,
    ),
    create("Latin-1", '{"a":\n"é"}'.encode("latin-1"), *malformed("not_utf8", "line 2, column 2"), headers=JSON),
    create("NaN", b'{"a": NaN}', *malformed("syntax", "column 7"), headers=JSON),
    create(
        "as deep as allowed", b"[" * 32 + b"1" + b"]" * 32, *invalid("body_not_an_object", "JSON object"), headers=JSON
    ),
    create("too deep", b"[" * 33 + b"]" * 33, *malformed("nested_too_deep", "32"), headers=JSON),
    create("too large", b" " * 300_000, 413, "too_large", "too_large", "256 KiB", headers=JSON),
    create("list", [], *invalid("body_not_an_object", "JSON object")),
    # a new game
    game("names alone", {"players": ["A", "B"]}, *invalid("not_a_player", '{"name": "Ada"}')),
    game("number of players", {"players": 2}, *invalid("not_players", '[{"name": "Ada"}')),
    game("one player", {"players": TWO[:1]}, *invalid("number_of_players", "2 to 10")),
    create("no players", {"variant": "domino"}, *invalid("required_list", "Needed: a list of 2 to 13.")),
    create("no variant", {"players": TWO}, *invalid("required_one_of", "variant: Needed: one of ")),
    game("null", {"players": None}, *invalid("null", "players: ")),
    game("wrong variant", {"variant": "chess"}, *invalid("not_one_of", "dominospiel")),
    game("typo", {"rule": {}}, *invalid("unknown_field", "rule: Unknown field; possible: variant, players, options")),
    game("option of another game", {"options": {"rounds": 3}}, *invalid("unknown_option", "set, hand, limit, teams")),
    game("limit as text", {"options": {"limit": "50"}}, *invalid("not_an_integer", "options.limit: Not an integer.")),
    game("limit too high", {"options": {"limit": 5000}}, *invalid("whole_number", "from 1 to 1000")),
    game("homo with 2", {"variant": "homo-homini-lupus"}, *invalid("exact_players", "4 players")),
    game("fido with 2", {"variant": "fido"}, *invalid("number_of_players", "3 to 9 players")),
    game(
        "5 on double-six",
        {"players": [*TWO, *TWO, *TWO[:1]]},
        *invalid("set_too_small", "Double-six is for at most 4 players; `set` 9 or 12 is for more."),
    ),
    game(
        "unknown level",
        {"players": [TWO[0], {"bot": "gentle"}]},
        *invalid("not_one_of", "random, beginner, casual, greedy, expert"),
    ),
    game("two clocks", {"clock": {"turn": 60, "bank": 60}}, *invalid("one_of_turn_bank", "one of turn and bank")),
    game("minutes as text", {"clock": {"turn": "1 min"}}, *invalid("not_an_integer", "clock.turn: ")),
    game("half a second", {"clock": {"turn": 0.5}}, *invalid("not_an_integer", "clock.turn: ")),
    game(
        "increment for turns", {"clock": {"turn": 60, "increment": 5}}, *invalid("only_with_bank", "clock.increment: ")
    ),
    game("absence as a word", {"clock": {"turn": 60}, "absence": "bot"}, *invalid("not_an_object", "absence: ")),
    game("forfeit without a clock", {"absence": {"then": "forfeit"}}, *invalid("only_with_clock", "absence: ")),
    game("pace as text", {"pace": "1"}, *invalid("not_a_number", "pace: ")),
    game("blank name", {"players": [TWO[0], {"name": " "}]}, *invalid("blank", "players.1.name")),
    game("closed seat", {"players": [TWO[0], {"open": False}]}, *invalid("not_true", "true")),
    game(
        "incomplete deal",
        {"deals": [{"hands": [["0-0"], ["0-1"]], "stock": []}]},
        *invalid("tiles_missing", "0-2, 0-3"),
    ),
    game("bad key", {}, *invalid("idempotency_key", "16 to 255"), headers={"Idempotency-Key": "short"}),
    post("not a record", "/v1/verifications", *invalid("record_syntax", "line 1, column 1"), body=b"x", headers=TEXT),
    post("record in JSON", "/v1/replays", *unsupported("wrong_content_type", "text/plain"), body={"record": "x"}),
    # joining
    post(
        "no join code", PLAYERS, *invalid("required", "join_code: Needed: a text."), body={"name": "Bo"}, stage="open"
    ),
    post("wrong join code", PLAYERS, 403, "forbidden", "wrong_join_code", "join code", body=WRONG_CODE, stage="open"),
    move("too early", {"action": "pass"}, 409, "not_started", "seats_open", "no seat is open", stage="open"),
    # moves
    move("list of moves", [{"action": "pass"}], *invalid("body_not_an_object", "JSON object")),
    move("answer of /moves", {"legal_moves": []}, *invalid("required_one_of", "Needed: one of play, draw, ")),
    move("PLAY", {"action": "PLAY", "tile": "1-2"}, *invalid("not_one_of", "play, draw, pass")),
    play("another separator", "1/2", *invalid("not_a_tile", '"0-6"')),
    play("66", "66", *invalid("not_a_tile", '"0-6"')),
    move("no tile", {"action": "play"}, *invalid("play_needs_tile", "tile: A play needs a tile.")),
    move("pass with a tile", {"action": "pass", "tile": "1-2"}, *invalid("only_with_play", "tile: ")),
    play("seed with a play", "1-2", *invalid("only_with_deal", "deal"), client_seed="x"),
    play("end top", "1-2", *illegal("no_such_end", "ends are left, right"), end="top"),
    play("end of the lead", "1-1", *illegal("table_empty", "left"), end="left", stage="lead"),
    play("wrong end", "1-2", *illegal("does_not_fit", "number 3"), end="right"),
    play("fits nowhere", "2-4", *illegal("fits_nowhere", "2-4")),
    play("not held", "1-3", *illegal("tile_not_held", "do not hold")),
    play("9-9 on double-six", "9-9", *illegal("not_in_set", "no tile 9-9")),
    play("wrong lead", "1-2", *illegal("may_not_lead", "possible: 1-1"), stage="lead"),
    play("face down", "1-2", *illegal("must_lie_face_up", "face down"), face_down=True),
    move("pass", {"action": "pass"}, *illegal("must_play", "1-2 fits")),
    move("draw", {"action": "draw"}, *illegal("must_play", "1-2 fits")),
    move("done", {"action": "done"}, *illegal("nothing_to_end", "several tiles")),
    move("flip", {"action": "flip"}, *illegal("may_not_flip", "opening tile")),
    move("deal", {"action": "deal"}, *illegal("round_not_over", "nothing to deal")),
    move("not my turn", {"action": "pass"}, 409, "not_your_turn", "not_your_turn", "turn of seat 0", seat=1),
    play("old version", "1-2", 412, "stale_version", "stale_version", "at version 4", version=1),
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
    causes = [{**each, "detail": ""} for each in problem.get("causes", ())]
    return {**problem, "title": "", "detail": "", "causes": causes}


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each.name for each in MISTAKES])
def test_a_mistake_is_told_its_reason_and_what_helps(api: Api, tables: dict[str, Table], mistake: Mistake) -> None:
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
    assert all(said != gesagt for said, gesagt in zip(texts_of(problem), texts_of(german), strict=True))


def test_params_are_the_values_of_the_sentence(api: Api, tables: dict[str, Table]) -> None:
    wanted = {
        "key twice": {"key": "variant"},
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
    problems = {each.name: answer_to(api, tables, each, "en")[0] for each in MISTAKES if each.name in wanted}
    assert {name: problem["params"] for name, problem in problems.items()} == wanted


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
    view = api.play_until(table, round_over)
    (out,) = [each["seat"] for each in view["players"] if not each["active"]]
    assert view["status"] == "round_over"
    for action in ("deal", "pass"):
        answer = api.move(table, out, {"action": action})
        assert refusal(answer) == (409, "not_in_match", "out_of_match")
        assert (answer.get_json()["params"], answer.get_json()["legal_moves"]) == ({"seat": out}, [])


def test_an_end_that_is_not_open_is_named_with_what_it_is(api: Api) -> None:
    table = api.create("menschenwolf", 2, seed="shut ends")
    reasons: set[str] = set()

    def ask_at_shut_ends(view: Any) -> bool:
        face_down = [each["tile"] for each in view["board"]["tiles"] if each["face_down"]]
        for end in view["board"]["ends"] if view["status"] == "playing" else ():
            if end["state"] != "open":
                seat = seat_to_move(view)
                body = {"action": "play", "tile": api.view(table, seat)["you"]["hand"][0], "end": end["id"]}
                problem = api.move(table, seat, body).get_json()
                assert problem["reason"] == ("end_closed" if end["tile"] in face_down else "end_gated")
                assert problem["params"] == {"end": end["id"]}
                reasons.add(problem["reason"])
        return len(reasons) == 2

    api.play_until(table, ask_at_shut_ends, Random("shut ends"))


def test_the_token_counts_beside_a_key_of_a_gateway(api: Api, tables: dict[str, Table]) -> None:
    assert tables["running"].get("", 0, X_Api_Key="of a gateway").get_json()["you"]["seat"] == 0
    assert api.get("/v1/variants", headers=GATEWAY).status_code == 200
