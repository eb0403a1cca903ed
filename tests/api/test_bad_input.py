"""What is wrong with a request of one operation: its fields, deals and options, the order of errors, and the end.

What may be wrong at any operation is in ``test_bad_requests``, values of another type included.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import pytest

from service.engine.tiles import double_set
from tests.api.client import Api, Table, errors_of, invalid_fields, status_and_code
from tests.api.deals import deal
from tests.api.every_operation import JSON
from tests.api.saved_games import SavedGames, StoreContents
from tests.support.lanes import in_lane
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick


class Fields(NamedTuple):
    """A request with its token, the games that it may change, and values that its fields must not have."""

    path: str
    body: dict[str, Any]
    token: str | None
    games: tuple[Table, ...]
    wrong: dict[str, tuple[Any, ...]]


NO_INTEGERS: tuple[Any, ...] = ("2", 2.0, 2.9, True, None, [], {}, [2], "", 1e308, -(2.0**70))
NO_STRINGS: tuple[Any, ...] = (2, 2.0, True, None, [], {}, ["x"])
NO_LINES = ("", " ", "\t", "\u3000", "a\nb", "a\0b", "\0", "\x7f", "a\x1bb", "a\u0085b", "\u2028", "x" * 61)
NO_TILES = (
    *("", "12", "1-", "-1", "1--2", "1-2-3", " 1-2", "1-2 ", "01-2", "1 - 2", "1_2", "1\u20132", "\u0661-\u0662"),
    *("1-19", "19-19", "1-2\n", "1-2\0", "a-b", "9" * 5000 + "-1"),
)
HUGE = (10**30, -(10**30))
HUGE_BODY = "{" * 300_000
ADA_BO: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}]
SEATS: tuple[Any, ...] = (
    *({}, {"name": "Ada", "open": True}, {"bot": "gentle"}, {"bot": ""}, {"name": "Ada", "bot": "x"}),
    *({"open": True, "bot": "x"}, {"open": False}),
)
OF_A_GAME: dict[str, tuple[Any, ...]] = {
    "variant": ("", "chess", "Domino", "domino\0", "domino ", "d" * 10_000),
    "players": ([], [{"name": "Ada"}], ADA_BO * 100, [ADA_BO, ADA_BO], [None, None], ["Ada", "Bo"]),
    "players.0": SEATS,
    "players.0.name": NO_LINES,
    **{f"options.{name}": (*NO_INTEGERS, -1, *HUGE) for name in ("limit", "set", "hand", "teams")},
    **{f"options.{name}": (1,) for name in ("limits", "divisor", "rounds", "Limit", "limit\0", "__class__")},
    "seed": ("", "x" * 201, "a\0b", "\0"),
    "deals": ([], [None], [{}], [[]], [1], ["0-0"]),
    "clock.bank": HUGE,
    "clock.increment": HUGE,
    "absence.then": ("", "bot\0"),
}
OF_A_JOIN: dict[str, tuple[Any, ...]] = {
    "name": (*NO_STRINGS, *NO_LINES),
    "join_code": NO_STRINGS,
    **dict.fromkeys(("seat", "token", "Name", "", "_schema", "\x00"), (1,)),
}
OF_A_MOVE: dict[str, tuple[Any, ...]] = {
    "action": ("", "Play", "play ", "resign", "play\0"),
    "tile": NO_TILES,
    "version": (0, -1, *HUGE, 2**31),
    **dict.fromkeys(("seat", "token", "Tile", "moves"), (1,)),
}


@pytest.fixture(params=["game", "join", "move", "claim"])
def fields(request: pytest.FixtureRequest, api: Api, timed_api: Any, monkeypatch: pytest.MonkeyPatch) -> Fields:
    """Each request whose fields have other rules than their types."""
    if request.param == "game":
        body = {"variant": "domino", "players": ADA_BO, "options": {"limit": 50}, "clock": {"bank": 60}, "pace": 0}
        return Fields("/v1/games", body, None, (), OF_A_GAME)
    if request.param == "join":
        table = api.create("domino", [{"name": "Ada"}, {"open": True}])
        return Fields(f"{table.path}/players", {"name": "Bo", "join_code": table.join_code}, None, (table,), OF_A_JOIN)
    if request.param == "move":
        table = api.create("domino", 2)
        seat = seat_to_move(api.view(table))
        return Fields(f"{table.path}/moves", api.moves(table, seat)[0], table.tokens[seat], (table,), OF_A_MOVE)
    table = timed_api.create("domino", 2, clock={"turn": 60}, absence={"then": "claim"})
    seat = seat_to_move(timed_api.view(table))
    monkeypatch.setattr(api, "client", timed_api.client)
    timed_api.clock.advance(3600)
    claim = {"seat": (-1, 2, 12, 13, *HUGE)}
    return Fields(f"{table.path}/claims", {"seat": seat}, table.tokens[1 - seat], (table,), claim)


def changed(body: Any, path: str, value: Any) -> Any:
    """The body with this value at this path."""
    key, _, rest = path.partition(".")
    if isinstance(body, list):
        return [changed(each, rest, value) if rest else value for each in body[:1]] + body[1:]
    return body | {key: changed(body.get(key, {}), rest, value) if rest else value}


def test_every_wrong_value_of_a_field_is_invalid_by_its_field(
    api: Api, contents: StoreContents, fields: Fields
) -> None:
    with contents.unchanged(*fields.games):
        wrong = []
        for path, values in fields.wrong.items():
            for value in values:
                answer = api.post(fields.path, changed(fields.body, path, value), token=fields.token)
                named = {name.partition(".")[0] for name in errors_of(answer.get_json())}
                if status_and_code(answer) != (422, "invalid") or not named & {path.partition(".")[0], ""}:
                    wrong.append(f"{path} = {value!r:.80} gets {answer.status_code} {answer.text:.200}")
        assert not wrong
    assert api.post(fields.path, fields.body, token=fields.token).status_code == 201


def test_a_join_needs_a_name_and_a_code_and_a_play_a_tile(api: Api, contents: StoreContents) -> None:
    waiting, table = api.create("domino", [{"name": "Ada"}, {"open": True}]), api.create("domino", 2)
    with contents.unchanged(waiting, table):
        for missing in ("name", "join_code"):
            join = {"name": "Bo", "join_code": waiting.join_code}
            del join[missing]
            assert missing in invalid_fields(api.post(f"{waiting.path}/players", join))
        assert "tile" in invalid_fields(api.move(table, 0, {"action": "play"}))


def test_many_wrong_things_are_refused_like_one_and_too_many_unread(api: Api, contents: StoreContents) -> None:
    deals = [{"hands": [["0-0"] * 100] * 10, "stock": []}] * 20
    with contents.unchanged():
        for answer in (
            api.try_create("domino", [{"name": 1}] * 1000),
            api.post("/v1/games", {f"field{number}": number for number in range(10_000)}),
            api.try_create("domino", ADA_BO, deals=deals),
        ):
            assert status_and_code(answer) == (422, "invalid")
        assert status_and_code(api.try_create("domino", [{"name": 1}] * 10_000)) == (400, "malformed")


def test_a_move_that_is_no_play_takes_no_tile_end_or_points(api: Api, contents: StoreContents) -> None:
    table = api.create("domino", 2)
    of_a_play = {"tile": "0-0", "end": "left", "face_down": False, "points": 1, "ends_sum": 1}
    seat = seat_to_move(api.view(table))
    with contents.unchanged(table):
        extras = [*of_a_play.items(), ("face_down", True)]
        for action, (name, value) in product(("draw", "pass", "done", "flip", "deal"), extras):
            assert invalid_fields(api.move(table, seat, {"action": action, name: value})) == [name]


# Deals and options

GOOD = deal("domino", "6-6 …", "…")


def test_the_deal_that_the_impossible_ones_are_made_of_is_dealt(api: Api) -> None:
    assert api.try_create("domino", 2, deals=[GOOD, GOOD]).status_code == 201


def impossible_deals() -> dict[str, Any]:
    first, second = GOOD["hands"]
    stock = GOOD["stock"]
    doubles = [f"{number}-{number}" for number in range(7)]
    others = [f"{low}-{high}" for high in range(7) for low in range(high)]
    return {
        "a tile twice": {"hands": [first, second], "stock": [*stock, first[0]]},
        "a tile twice in one hand": {"hands": [[first[0], first[0], *first[2:]], second], "stock": stock},
        "a tile twice, spelled in two ways": {"hands": [["0-1", "1-0", *first[2:]], second], "stock": stock},
        "a tile missing": {"hands": [first, second], "stock": stock[1:]},
        "a tile of a larger set": {"hands": [first, second], "stock": [*stock[1:], "7-7"]},
        "a tile too many": {"hands": [first, second], "stock": [*stock, "7-7"]},
        "no stock": {"hands": [first, second]},
        "no hands": {"stock": stock},
        "a hand too small": {"hands": [first[1:], second], "stock": [first[0], *stock]},
        "a hand too large": {"hands": [[*first, stock[0]], second], "stock": stock[1:]},
        "two wrong hands that are right together": {"hands": [first[1:], [*second, first[0]]], "stock": stock},
        "an empty hand": {"hands": [first, []], "stock": [*second, *stock]},
        "all hands empty": {"hands": [[], []], "stock": [*first, *second, *stock]},
        "a hand too few": {"hands": [first], "stock": [*second, *stock]},
        "a hand too many": {"hands": [first, second, stock[:7]], "stock": stock[7:]},
        "an empty hand too many": {"hands": [first, second, []], "stock": stock},
        "no double in any hand": {"hands": [others[:7], others[7:14]], "stock": doubles + others[14:]},
        "a tile that is none": {"hands": [[*first[1:], "x"], second], "stock": stock},
        "a tile that is a number": {"hands": [[*first[1:], 66], second], "stock": stock},
        "a tile that is null": {"hands": [[*first[1:], None], second], "stock": stock},
        "hands by seat": {"hands": {"0": first, "1": second}, "stock": stock},
        "a hand that is a text": {"hands": [" ".join(first), second], "stock": stock},
        "an unknown field": {"hands": [first, second], "stock": stock, "round": 1},
    }


@pytest.mark.parametrize("name", impossible_deals())
def test_an_impossible_deal_is_refused_at_every_place_of_the_list(api: Api, contents: StoreContents, name: str) -> None:
    with contents.unchanged():
        wrong = impossible_deals()[name]
        lists = [[wrong], [GOOD, wrong]]
        if name == "an empty hand":  # possible in a later round, in which the second player may be out
            lists = lists[:1]
        for place, deals in enumerate(lists):
            answer = api.try_create("domino", 2, deals=deals)
            assert status_and_code(answer) == (422, "invalid")
            assert all(field.startswith(f"deals.{place}") for field in errors_of(answer.get_json()))


@pytest.mark.parametrize("variant", ["fido", "domino"])
def test_a_deal_without_a_double_is_refused(api: Api, contents: StoreContents, variant: str) -> None:
    """Nobody holds a double."""
    hands = ["0-1 0-2 0-3 0-4 0-5 0-6 1-2", "1-3 1-4 1-5 1-6 2-3 2-4 2-5", "2-6 3-4 3-5 3-6 4-5 4-6 5-6"]
    hands = hands if variant == "fido" else hands[:2]
    stock = [tile.name for tile in double_set(6) if tile.name not in " ".join(hands)]
    dealt = {"hands": [hand.split() for hand in hands], "stock": stock}
    with contents.unchanged():
        answer = api.try_create(variant, len(hands), options={"set": 6}, deals=[dealt])
        assert status_and_code(answer) == (422, "invalid")


CANNOT_GO_TOGETHER: dict[str, list[tuple[str, int, dict[str, Any]]]] = {
    "players": [
        *[("fido", 2, {}), ("fido", 10, {"set": 18}), ("homo-homini-lupus", 3, {}), ("dominospiel", 8, {})],
        ("menschenwolf", 14, {}),
    ],
    "options.set": [
        *[("domino", 5, {}), ("domino", 5, {"set": 6}), ("domino", 4, {"set": 15}), ("fido", 4, {"set": 7})],
        ("homo-homini-lupus", 4, {"set": 6}),
    ],
    "options.hand": [
        *[("domino", 10, {"set": 9, "hand": 7}), ("domino", 8, {"set": 9, "hand": 7})],
        *[("domino", 10, {"set": 9, "hand": 6}), ("domino", 4, {"hand": 4}), ("domino", 4, {"hand": 8})],
    ],
    "options.teams": [
        *[("domino", seats, {"teams": teams}) for seats, teams in ((3, 2), (2, 2), (4, 3), (4, 4), (4, 1))],
        ("domino", 5, {"teams": 5, "set": 9}),
    ],
    "options.rounds": [("fido", 4, {"rounds": 101})],
    "options.settlement": [("dominospiel", 4, {"settlement": "never"})],
    "options.others_write_own": [("menschenwolf", 4, {"others_write_own": 1})],
}


@pytest.mark.parametrize("field", CANNOT_GO_TOGETHER)
def test_options_and_players_that_cannot_go_together_are_refused_by_name(
    api: Api, contents: StoreContents, field: str
) -> None:
    with contents.unchanged():
        for variant, seats, rules in CANNOT_GO_TOGETHER[field]:
            assert invalid_fields(api.try_create(variant, seats, options=rules)) == [field], (variant, seats, rules)


# Tokens


def test_a_token_counts_in_the_header_only(api: Api) -> None:
    table, waiting = api.create("domino", 2), api.create("domino", [{"name": "Ada"}, {"open": True}])
    token = table.tokens[0]
    for query in (f"?token={token}", f"?access_token={token}", f"?authorization=Bearer%20{token}"):
        assert status_and_code(api.get(table.path + query)) == (422, "invalid")
        assert status_and_code(api.post(f"{table.path}/moves{query}", {"action": "pass"})) == (401, "unauthorized")
    assert api.get(waiting.path, token=waiting.join_code).status_code == 401
    assert "you" not in table.get("", Cookie=f"token={token}").get_json()


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer  "])
def test_the_scheme_may_be_written_in_any_letters(api: Api, scheme: str) -> None:
    table = api.create("domino", 2)
    assert table.get("", Authorization=scheme + table.tokens[1]).get_json()["you"]["seat"] == 1


def test_a_move_without_a_token_is_401_whether_the_game_is_there_or_not(api: Api) -> None:
    table = api.create("domino", 2)
    for path in (table.path, f"/v1/games/{'A' * 24}"):
        for body in (b"{", b'{"action": "pass"}', b"x" * 300_000):
            answer = api.ask("POST", f"{path}/moves", data=body, content_type="text/plain")
            assert status_and_code(answer) == (401, "unauthorized")


def test_errors_of_a_move_are_checked_in_the_documented_order(api: Api, contents: StoreContents) -> None:
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    token, waiting = table.tokens[seat], table.tokens[1 - seat]
    stale = {"If-Match": '"1"'}
    cases: list[tuple[int, dict[str, Any]]] = [
        (401, {"token": "wrong", "data": HUGE_BODY, "content_type": "text/plain", "headers": stale}),
        (415, {"token": token, "data": HUGE_BODY, "content_type": "text/plain", "headers": stale}),
        (413, {"token": token, "data": HUGE_BODY, "content_type": JSON, "headers": stale}),
        (400, {"token": token, "data": "{", "content_type": JSON, "headers": stale}),
        (422, {"token": token, "json": {"action": "knock", "version": 1}, "headers": stale}),
        (422, {"token": waiting, "json": {"action": "play", "tile": "x"}, "headers": stale}),
        (412, {"token": token, "json": {"action": "deal"}, "headers": stale}),
        (412, {"token": waiting, "json": {"action": "pass", "version": 1}}),
        (409, {"token": waiting, "json": {"action": "pass", "version": 2}}),
        (409, {"token": token, "json": {"action": "deal", "version": 2}}),
    ]
    with contents.unchanged(table):
        assert_statuses(api, f"{table.path}/moves", cases)


def test_errors_of_a_creation_are_checked_in_the_documented_order(api: Api, contents: StoreContents) -> None:
    cases: list[tuple[int, dict[str, Any]]] = [
        (415, {"data": HUGE_BODY, "content_type": "text/plain"}),
        (413, {"data": HUGE_BODY, "content_type": JSON}),
        (400, {"data": "{", "content_type": JSON}),
        (422, {"json": {}}),
    ]
    with contents.unchanged():
        assert_statuses(api, "/v1/games", cases)


def assert_statuses(api: Api, path: str, cases: list[tuple[int, dict[str, Any]]]) -> None:
    assert [api.ask("POST", path, **request).status_code for _, request in cases] == [status for status, _ in cases]


# Finished games

ENDING = ("domino", "dominospiel", "fido", "homo-homini-lupus", "menschenwolf")


@pytest.mark.parametrize("variant", in_lane(ENDING, quick=("domino",)))
def test_after_the_end_nothing_can_be_done(
    api: Api, contents: StoreContents, saved_games: SavedGames, variant: str
) -> None:
    table = saved_games.at(variant, "finished").table
    moves = [{"action": action} for action in ("deal", "pass", "draw")]
    with contents.unchanged(table):
        for seat, move in product(table.tokens, [*moves, {"action": "play", "tile": "0-0"}]):
            answer = api.move(table, seat, move)
            assert (status_and_code(answer), answer.get_json()["legal_moves"]) == ((409, "game_over"), [])
        assert api.post(f"{table.path}/players", {"name": "Eve", "join_code": "x"}).status_code == 403
