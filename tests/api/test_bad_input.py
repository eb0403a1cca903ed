"""Hostile and broken requests: each gets its documented problem, and nothing is changed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple

import pytest
import redis
from werkzeug.test import TestResponse

from service.web.http.body import MAX_BODY_BYTES
from tests.api.client import Api, Table, status_and_code
from tests.api.deals import deal
from tests.api.saved_games import SavedGames, Snapshot, count_keys, take_snapshot
from tests.support.table import seat_to_move

JSON = "application/json"
DEEP = 100_000


class Endpoint(NamedTuple):
    """A path that takes a body, a valid body with its status, the token for it, and the games that it may change."""

    path: str
    body: dict[str, Any]
    token: str | None
    games: tuple[Table, ...]
    method: str = "POST"
    status: int = 201

    def ask(self, api: Api, **request: Any) -> TestResponse:
        """A request for this path, by default with the type of JSON."""
        return api.ask(self.method, self.path, token=self.token, **{"content_type": JSON, **request})


@pytest.fixture(params=["games", "players", "moves", "presence", "claims"])
def endpoint(request: pytest.FixtureRequest, api: Api) -> Endpoint:
    """Each path that takes a body."""
    if request.param == "games":
        body = {
            "variant": "domino",
            "players": [{"name": "Ada"}, {"bot": "greedy"}],
            "rules": {"limit": 50},
            "seed": "x",
            "clock": {"bank": 60},
            "pace": 0,
        }
        return Endpoint("/v1/games", body, None, ())
    if request.param == "players":
        table = api.create("domino", [{"name": "Ada"}, {"open": True}])
        return Endpoint(f"{table.path}/players", {"name": "Bo", "join_code": table.join_code}, None, (table,))
    if request.param == "claims":
        timed = request.getfixturevalue("timed_api")
        table = timed.create("domino", 2, clock={"turn": 60}, absence={"then": "claim"})
        seat = seat_to_move(timed.view(table))
        request.getfixturevalue("monkeypatch").setattr(api, "client", timed.client)
        timed.clock.advance(3600)
        return Endpoint(f"{table.path}/claims", {"seat": seat}, table.tokens[1 - seat], (table,))
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    if request.param == "presence":
        path = f"{table.path}/players/{seat}/presence"
        return Endpoint(path, {"away": True}, table.tokens[seat], (table,), "PUT", 200)
    move = api.moves(table, seat)[0]
    return Endpoint(f"{table.path}/moves", move, table.tokens[seat], (table,))


class StoreContents:
    """The contents of the store, to check that a request has changed nothing."""

    def __init__(self, server: redis.Redis) -> None:
        self._server = server

    def now(self, *tables: Table) -> tuple[Any, list[Snapshot]]:
        return count_keys(self._server), [take_snapshot(self._server, table.id) for table in tables]


@pytest.fixture
def contents(server: redis.Redis) -> StoreContents:
    return StoreContents(server)


def with_key_twice(body: dict[str, Any]) -> bytes:
    key, value = next(iter(body.items()))
    return (json.dumps(body)[:-1] + f", {json.dumps(key)}: {json.dumps(value)}}}").encode()


# Invalid JSON

MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "a space": b" ",
    "half an object": b'{"name": "Ada"',
    "a comma too many": b'{"name": "Ada",}',
    "a word": b"hello",
    "two values": b"{} {}",
    "single quotes": b"{'name': 'Ada'}",
    "a comment": b'{"name": "Ada"} // Ada',
    "no quotes": b'{name: "Ada"}',
    "a form": b"name=Ada&join_code=x",
    "NaN": b'{"version": NaN}',
    "Infinity": b'{"version": Infinity}',
    "minus Infinity": b'{"version": -Infinity}',
    "a number beyond all floats": b'{"version": 1e400}',
    "a number of 5,000 digits": b'{"version": 1' + b"0" * 5000 + b"}",
    "a float of 5,000 digits": b'{"version": 1.' + b"0" * 5000 + b"}}",
    "a leading zero": b'{"version": 01}',
    "a hexadecimal number": b'{"version": 0x1}',
    "a lone surrogate": b'{"name": "\\ud800"}',
    "a lone low surrogate": b'{"name": "\\udc00"}',
    "surrogates the wrong way round": b'{"name": "\\udc00\\ud800"}',
    "a lone surrogate in a key": b'{"\\ud800": 1}',
    "a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "latin-1": '{"name": "José"}'.encode("latin-1"),
    "an overlong encoding": b'{"name": "\xc0\xaf"}',
    "half a character": b'{"name": "\xe2\x82"}',
    "UTF-16": '{"name": "Ada"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"name": "Ada"}'.encode("utf-16-le"),
    "UTF-32": '{"name": "Ada"}'.encode("utf-32"),
    "a byte order mark": b'\xef\xbb\xbf{"name": "Ada"}',
    "a bare NUL": b'{"name": "A\x00da"}',
    "NUL behind it": b'{"name": "Ada"}\x00',
    "a bare line break in a string": b'{"name": "A\nda"}',
    "a bad escape": b'{"name": "\\x41"}',
    "deep lists": b"[" * DEEP,
    "deep lists, closed": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * 10_000,
    "deep objects, closed": b'{"a":' * 30_000 + b"1" + b"}" * 30_000,
    "lists as deep as a reader may go": b"[" * 900 + b"]" * 900,
    "a key twice": b'{"name": "Ada", "name": "Ada"}',
    "a key twice, spelled in two ways": b'{"name": "Ada", "n\\u0061me": "Ada"}',
    "a key twice further in": b'{"players": [{"name": "Ada", "name": "Bo"}], "variant": "domino"}',
    "a key twice in a list of lists": b'{"a": [[{"b": {"c": 1, "c": 1}}]]}',
    "gzip that nobody announced": gzip.compress(b'{"name": "Ada"}'),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_not_json_as_it_is_written_down_is_malformed(
    api: Api, contents: StoreContents, endpoint: Endpoint, name: str
) -> None:
    before = contents.now(*endpoint.games)
    answer = endpoint.ask(api, data=MALFORMED[name])
    assert status_and_code(answer) == (400, "malformed")
    assert contents.now(*endpoint.games) == before


def test_a_good_body_that_names_a_key_twice_is_malformed(api: Api, contents: StoreContents, endpoint: Endpoint) -> None:
    before = contents.now(*endpoint.games)
    answer = endpoint.ask(api, data=with_key_twice(endpoint.body))
    assert status_and_code(answer) == (400, "malformed")
    assert contents.now(*endpoint.games) == before


@pytest.mark.parametrize("body", [b"[]", b"null", b'"play"', b"1", b"true", b"[{}]", b"{}", b"-0.0", b'{"": ""}'])
def test_json_that_is_not_the_object_wanted_is_invalid(
    api: Api, contents: StoreContents, endpoint: Endpoint, body: bytes
) -> None:
    before = contents.now(*endpoint.games)
    answer = endpoint.ask(api, data=body)
    assert status_and_code(answer) == (422, "invalid")
    assert answer.json is not None
    assert answer.json["errors"]
    assert contents.now(*endpoint.games) == before


# Content type and size


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/problem+json",
        "application/jsonp",
        "application/json-patch+json",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "application/json, text/plain",
        "*/*",
        "json",
        "\xff",
    ],
)
def test_another_content_type_is_not_supported(
    api: Api, contents: StoreContents, endpoint: Endpoint, content_type: str | None
) -> None:
    before = contents.now(*endpoint.games)
    body = json.dumps(endpoint.body)
    answer = endpoint.ask(api, data=body, content_type=content_type)
    assert status_and_code(answer) == (415, "unsupported_media_type")
    assert contents.now(*endpoint.games) == before


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "x-gzip", "gzip, identity", "nonsense"])
def test_a_compressed_body_is_not_supported(
    api: Api, contents: StoreContents, endpoint: Endpoint, encoding: str
) -> None:
    before = contents.now(*endpoint.games)
    body = gzip.compress(json.dumps(endpoint.body).encode())
    headers = {"Content-Encoding": encoding}
    answer = endpoint.ask(api, data=body, headers=headers)
    assert status_and_code(answer) == (415, "unsupported_media_type")
    assert contents.now(*endpoint.games) == before


@pytest.mark.parametrize("content_type", ["application/json", "APPLICATION/JSON", 'application/json; charset="UTF-8"'])
def test_json_in_utf_8_is_taken_however_it_is_announced(api: Api, endpoint: Endpoint, content_type: str) -> None:
    body = json.dumps(endpoint.body)
    answer = endpoint.ask(api, data=body, content_type=content_type)
    assert answer.status_code == endpoint.status


def padded(body: dict[str, Any], size: int) -> bytes:
    return json.dumps(body).encode().ljust(size)


def as_stream(data: bytes) -> dict[str, Any]:
    """A body without a length, as a server passes on a chunked one."""
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"input_stream": BytesIO(data), "environ_overrides": environ}


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_256_kib_is_taken_and_one_byte_more_is_not(
    api: Api, contents: StoreContents, endpoint: Endpoint, chunked: bool
) -> None:
    before = contents.now(*endpoint.games)
    for size in (MAX_BODY_BYTES + 1, 4 * MAX_BODY_BYTES):
        data = padded(endpoint.body, size)
        how = as_stream(data) if chunked else {"data": data}
        answer = endpoint.ask(api, **how)
        assert status_and_code(answer) == (413, "too_large")
    assert contents.now(*endpoint.games) == before
    data = padded(endpoint.body, MAX_BODY_BYTES)
    how = as_stream(data) if chunked else {"data": data}
    assert MAX_BODY_BYTES == 256 * 1024
    assert endpoint.ask(api, **how).status_code == endpoint.status


def test_a_body_whose_length_is_a_lie_is_refused(api: Api, contents: StoreContents, endpoint: Endpoint) -> None:
    before = contents.now(*endpoint.games)
    data = json.dumps(endpoint.body).encode()
    for length, wanted in ((str(len(data) - 1), 400), ("0", 400), (str(2**40), 413)):
        answer = endpoint.ask(api, input_stream=BytesIO(data), environ_overrides={"CONTENT_LENGTH": length})
        assert answer.status_code == wanted
    assert contents.now(*endpoint.games) == before


# Fields

NO_INTEGERS: tuple[Any, ...] = ("2", 2.0, 2.9, True, None, [], {}, [2], "", 1e308, -(2.0**70))
NO_NUMBERS: tuple[Any, ...] = ("2", True, None, [], {}, [2], "")
NO_STRINGS: tuple[Any, ...] = (2, 2.0, True, None, [], {}, ["x"])
NO_BOOLEANS: tuple[Any, ...] = (0, 1, "true", "false", None, [], {}, 1.0)
NO_LISTS: tuple[Any, ...] = (2, "x", True, None, {}, {"0": []})
NO_OBJECTS: tuple[Any, ...] = (2, "x", True, None, [], [[]])
NO_LINES: tuple[Any, ...] = (
    "",
    " ",
    "\t",
    "\u3000",
    "a\nb",
    "a\0b",
    "\0",
    "\x7f",
    "a\x1bb",
    "a\u0085b",
    "\u2028",
    "x" * 61,
)
NO_TILES: tuple[Any, ...] = (
    *NO_STRINGS,
    "",
    "12",
    "1-",
    "-1",
    "1--2",
    "1-2-3",
    " 1-2",
    "1-2 ",
    "01-2",
    "1 - 2",
    "1_2",
    "1\u20132",
    "\u0661-\u0662",
    "1-19",
    "19-19",
    "1-2\n",
    "1-2\0",
    "a-b",
    "9" * 5000 + "-1",
)

ADA_BO: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}]


def games_fields() -> Iterator[tuple[str, Any]]:
    """A field of a game to be created, and a value that it must not have."""
    for value in (*NO_STRINGS, "", "chess", "Domino", "domino\0", "domino ", "d" * 10_000):
        yield "variant", value
    for value in (*NO_LISTS, [], [{"name": "Ada"}], ADA_BO * 100, [ADA_BO, ADA_BO], [None, None], ["Ada", "Bo"]):
        yield "players", value
    for value in (*NO_STRINGS, *NO_LINES):
        yield "players.0.name", value
    for value in (False, 0, 1, "true", None):
        yield "players.0", {"open": value}
    seats: tuple[Any, ...] = ({}, {"name": "Ada", "open": True}, {"bot": "gentle"}, {"bot": ""}, {"bot": None})
    for value in (*seats, {"name": "Ada", "bot": "x"}, {"open": True, "bot": "x"}, {"colour": 1}, {"Name": "Ada"}):
        yield "players.0", value
    for value in NO_OBJECTS:
        yield "rules", value
    for option in ("limit", "set", "hand", "teams"):
        for value in (*NO_INTEGERS, -1, 10**30, -(10**30)):
            yield f"rules.{option}", value
    for value in ("limits", "divisor", "rounds", "", "Limit", "limit\0", "__class__"):
        yield f"rules.{value}", 1
    for value in (0, 1001):
        yield "rules.limit", value
    for value in (*NO_STRINGS, "", "x" * 201, "a\0b", "\0"):
        yield "seed", value
    for value in (*NO_LISTS, [], [None], [{}], [[]], [1], ["0-0"]):
        yield "deals", value
    for value in (*NO_OBJECTS, {}, {"turn": 60, "bank": 60}, {"increment": 1}):
        yield "clock", value
    for value in (*NO_INTEGERS, 9, 86_401, -1, 10**30, -(10**30)):
        yield "clock.bank", value
    for value in (*NO_INTEGERS, -1, 3601, 10**30):
        yield "clock.increment", value
    for value in (*NO_INTEGERS, 60):
        yield "clock.turn", value
    for value in (*NO_OBJECTS, {}):
        yield "absence", value
    for value in (*NO_STRINGS, "", "pass", "bot\0"):
        yield "absence.then", value
    for value in (*NO_NUMBERS, -0.001, 10.001, 1e300, -1, 10**30):
        yield "pace", value
    for key in ("Variant", "bots", "", "_schema", "\0", "variant ", "__proto__", "\u00e9"):
        yield key, 1


def players_fields() -> Iterator[tuple[str, Any]]:
    """A field of a join, and a value that it must not have."""
    for value in (*NO_STRINGS, *NO_LINES):
        yield "name", value
    for value in NO_STRINGS:
        yield "join_code", value
    for key in ("seat", "token", "Name", "", "_schema", "\0"):
        yield key, 1


def moves_fields() -> Iterator[tuple[str, Any]]:
    """A field of a play, and a value that it must not have."""
    for value in (*NO_STRINGS, "", "Play", "play ", "resign", "play\0"):
        yield "action", value
    for value in NO_TILES:
        yield "tile", value
    for value in NO_STRINGS:
        yield "end", value
    for value in NO_BOOLEANS:
        yield "face_down", value
    for value in (*NO_INTEGERS, 0, -1, 10**30, -(10**30), 2**31):
        yield "version", value
    for value in NO_INTEGERS:
        yield "points", value
        yield "ends_sum", value
    for key in ("seat", "token", "Tile", "", "_schema", "\0", "moves"):
        yield key, 1


def presence_fields() -> Iterator[tuple[str, Any]]:
    """A field of a presence, and a value that it must not have."""
    for value in NO_BOOLEANS:
        yield "away", value
    for key in ("seat", "token", "Away", "", "_schema", "\0"):
        yield key, 1


def claims_fields() -> Iterator[tuple[str, Any]]:
    """A field of a claim, and a value that it must not have."""
    for value in (*NO_INTEGERS, -1, 2, 12, 13, 10**30, -(10**30)):
        yield "seat", value
    for key in ("by", "token", "Seat", "", "_schema", "\0"):
        yield key, 1


FIELDS = {
    "games": games_fields,
    "players": players_fields,
    "moves": moves_fields,
    "presence": presence_fields,
    "claims": claims_fields,
}


def changed(body: Any, path: str, value: Any) -> Any:
    """The body with this value at this path."""
    key, _, rest = path.partition(".")
    if isinstance(body, list):
        return [changed(each, rest, value) if rest else value for each in body[:1]] + body[1:]
    return body | {key: changed(body.get(key, {}), rest, value) if rest else value}


def test_every_wrong_value_of_every_field_is_invalid_and_named_by_its_field(
    api: Api, contents: StoreContents, endpoint: Endpoint
) -> None:
    before = contents.now(*endpoint.games)
    wrong = []
    for path, value in FIELDS[endpoint.path.rpartition("/")[2]]():
        answer = endpoint.ask(api, json=changed(endpoint.body, path, value), content_type=None)
        shown: dict[str, Any] = answer.json or {}
        named = {name.partition(".")[0] for name in shown.get("errors", ())}
        if (answer.status_code, shown.get("code")) != (422, "invalid") or not named & {path.partition(".")[0], ""}:
            wrong.append(f"{path} = {value!r:.80} gets {answer.status_code} {shown!s:.200}")
    assert not wrong
    assert contents.now(*endpoint.games) == before


def test_every_required_field_that_is_missing_is_invalid(api: Api, contents: StoreContents, endpoint: Endpoint) -> None:
    required = {
        "games": ("variant", "players"),
        "players": ("name", "join_code"),
        "moves": ("action", "tile"),
        "presence": ("away",),
        "claims": ("seat",),
    }
    before = contents.now(*endpoint.games)
    for name in required[endpoint.path.rpartition("/")[2]]:
        body = {key: value for key, value in endpoint.body.items() if key != name}
        answer = endpoint.ask(api, json=body, content_type=None)
        assert status_and_code(answer) == (422, "invalid")
        assert answer.json is not None
        assert name in answer.json["errors"]
    assert contents.now(*endpoint.games) == before


def test_a_list_of_many_wrong_things_is_refused_like_one_and_of_too_many_before_it_is_read(
    api: Api, contents: StoreContents
) -> None:
    before = contents.now()
    many: Any = {"variant": "domino", "players": [{"name": 1}] * 1000}
    assert status_and_code(api.post("/v1/games", many)) == (422, "invalid")
    many = {"variant": "domino", "players": [{"name": 1}] * 10_000}
    assert status_and_code(api.post("/v1/games", many)) == (400, "malformed")
    many = {f"field{number}": number for number in range(10_000)}
    assert status_and_code(api.post("/v1/games", many)) == (422, "invalid")
    deals = [{"hands": [["0-0"] * 100] * 10, "stock": []}] * 20
    assert status_and_code(api.post("/v1/games", {"variant": "domino", "players": ADA_BO, "deals": deals})) == (
        422,
        "invalid",
    )
    assert contents.now() == before


def test_a_move_that_is_no_play_takes_no_tile_end_or_points(api: Api, contents: StoreContents) -> None:
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    before = contents.now(table)
    extras: tuple[dict[str, Any], ...] = (
        {"tile": "0-0"},
        {"end": "left"},
        {"face_down": False},
        {"face_down": True},
        {"points": 1},
        {"ends_sum": 1},
    )
    for action in ("draw", "pass", "done", "flip", "deal"):
        for extra in extras:
            answer = api.move(table, seat, {"action": action} | extra)
            assert status_and_code(answer) == (422, "invalid")
            assert answer.json is not None
            assert list(answer.json["errors"]) == list(extra)
    assert contents.now(table) == before


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
        "a tile twice, spelled in two ways": {"hands": [["0-1", "1/0", *first[2:]], second], "stock": stock},
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
    before = contents.now()
    wrong = impossible_deals()[name]
    lists = [[wrong], [GOOD, wrong]]
    if name == "an empty hand":  # possible in a later round, in which the second player may be out
        lists = lists[:1]
    for place, deals in enumerate(lists):
        answer = api.try_create("domino", 2, deals=deals)
        assert status_and_code(answer) == (422, "invalid")
        assert answer.json is not None
        assert all(field.startswith(f"deals.{place}") for field in answer.json["errors"])
    assert contents.now() == before


@pytest.mark.parametrize(
    ("variant", "hands"),
    [
        ("fido", ["0-1 0-2 0-3 0-4 0-5 0-6 1-2", "1-3 1-4 1-5 1-6 2-3 2-4 2-5", "2-6 3-4 3-5 3-6 4-5 4-6 5-6"]),
        ("domino", ["0-1 0-2 0-3 0-4 0-5 0-6 1-2", "1-3 1-4 1-5 1-6 2-3 2-4 2-5"]),
    ],
)
def test_a_deal_that_the_rules_would_deal_again_is_refused(
    api: Api, contents: StoreContents, variant: str, hands: list[str]
) -> None:
    before = contents.now()
    used = " ".join(hands).split()
    tiles = [f"{low}-{high}" for high in range(7) for low in range(high + 1)]
    stock = [tile for tile in tiles if tile not in used]
    dealt = {"hands": [hand.split() for hand in hands], "stock": stock}
    answer = api.try_create(variant, len(hands), rules={"set": 6}, deals=[dealt])
    assert status_and_code(answer) == (422, "invalid")
    assert contents.now() == before


@pytest.mark.parametrize(
    ("game", "rules", "field"),
    [
        (("domino", 5), {}, "rules.set"),
        (("domino", 5), {"set": 6}, "rules.set"),
        (("domino", 10), {"set": 9, "hand": 7}, "rules.hand"),
        (("domino", 8), {"set": 9, "hand": 7}, "rules.hand"),
        (("domino", 10), {"set": 9, "hand": 6}, "rules.hand"),
        (("domino", 3), {"teams": 2}, "rules.teams"),
        (("domino", 2), {"teams": 2}, "rules.teams"),
        (("domino", 4), {"teams": 3}, "rules.teams"),
        (("domino", 4), {"teams": 4}, "rules.teams"),
        (("domino", 4), {"teams": 1}, "rules.teams"),
        (("domino", 5), {"teams": 5, "set": 9}, "rules.teams"),
        (("domino", 4), {"hand": 4}, "rules.hand"),
        (("domino", 4), {"hand": 8}, "rules.hand"),
        (("domino", 4), {"set": 15}, "rules.set"),
        (("fido", 2), {}, "players"),
        (("fido", 10), {"set": 18}, "players"),
        (("fido", 4), {"set": 7}, "rules.set"),
        (("fido", 4), {"rounds": 101}, "rules.rounds"),
        (("homo-homini-lupus", 3), {}, "players"),
        (("homo-homini-lupus", 4), {"set": 6}, "rules.set"),
        (("dominospiel", 8), {}, "players"),
        (("dominospiel", 4), {"settlement": "never"}, "rules.settlement"),
        (("menschenwolf", 14), {}, "players"),
        (("menschenwolf", 4), {"others_write_own": 1}, "rules.others_write_own"),
    ],
)
def test_options_and_players_that_cannot_go_together_are_refused_by_name(
    api: Api, contents: StoreContents, game: tuple[str, int], rules: dict[str, Any], field: str
) -> None:
    before = contents.now()
    answer = api.try_create(*game, rules=rules)
    assert status_and_code(answer) == (422, "invalid")
    assert answer.json is not None
    assert list(answer.json["errors"]) == [field]
    assert contents.now() == before


# Tokens and paths

NO_BEARERS = {
    "another scheme": "Basic QWRhOkJv",
    "no scheme": "{token}",
    "no token": "Bearer",
    "an empty token": "Bearer ",
    "two tokens": "Bearer {token} {token}",
    "a list": "Bearer {token}, Bearer {token}",
    "a token in quotes": 'Bearer "{token}"',
    "a token cut short": "Bearer {short}",
    "a token too long": "Bearer {token}A",
    "a token in other letters": "Bearer {swapped}",
    "the token of another game": "Bearer {foreign}",
    "the join code": "Bearer {code}",
    "bytes beyond ASCII": "Bearer \xff\xfe{token}",
    "letters beyond ASCII": "Bearer {token}\xe9",
    "a tab": "Bearer\t{token}",
    "a very long one": "Bearer " + "x" * 100_000,
    "nothing": "",
    "a comma": ",",
    "null": "null",
}


@pytest.mark.parametrize("name", NO_BEARERS)
def test_a_wrong_token_is_401_at_every_endpoint(
    api: Api, contents: StoreContents, saved_games: SavedGames, name: str
) -> None:
    table = api.create("domino", [{"name": "Ada"}, {"name": "Bo"}, {"open": True}])
    foreign = api.create("domino", 2)
    token = table.tokens[0]
    header = NO_BEARERS[name].format(
        token=token, short=token[:-1], swapped=token.swapcase(), foreign=foreign.tokens[0], code=table.join_code
    )
    before = contents.now(table, foreign)
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/moves", None),
        ("GET", "/score", None),
        ("POST", "/moves", {"action": "pass"}),
        ("POST", "/players", {"name": "Eve", "join_code": table.join_code}),
    ):
        answer = api.ask(method, table.path + path, json=body, headers={"Authorization": header})
        assert status_and_code(answer) == (401, "unauthorized"), (method, path)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        nowhere = api.ask(method, f"/v1/games/nowhere{path}", json=body, headers={"Authorization": header})
        assert status_and_code(nowhere) == (401, "unauthorized")
        assert nowhere.status_code == 401
    assert contents.now(table, foreign) == before


def test_a_token_counts_in_the_header_only(api: Api, contents: StoreContents) -> None:
    table = api.create("domino", 2)
    token = table.tokens[0]
    for query in (f"?token={token}", f"?access_token={token}", f"?authorization=Bearer%20{token}"):
        answer = api.get(table.path + query)
        assert status_and_code(answer) == (422, "invalid")
        answer = api.post(f"{table.path}/moves{query}", {"action": "pass"})
        assert status_and_code(answer) == (401, "unauthorized")
    answer = api.get(table.path, headers={"Cookie": f"token={token}"})
    assert answer.json is not None
    assert "you" not in answer.json


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer  "])
def test_the_scheme_may_be_written_in_any_letters(api: Api, scheme: str) -> None:
    table = api.create("domino", 2)
    answer = api.get(table.path, headers={"Authorization": scheme + table.tokens[1]})
    assert answer.json is not None
    assert answer.json["you"]["seat"] == 1


def test_a_move_without_a_token_is_401_whether_the_game_is_there_or_not(api: Api) -> None:
    table = api.create("domino", 2)
    for path in (table.path, "/v1/games/nowhere"):
        for body in (b"{", b'{"action": "pass"}', b"x" * 300_000):
            answer = api.ask("POST", f"{path}/moves", data=body, content_type="text/plain")
            assert status_and_code(answer) == (401, "unauthorized")


ODD_IDS = [
    "nowhere",
    "%00",
    "a%00b",
    "%ff",
    "%ed%a0%80",
    "%7B%7D",
    "%7Bx%7D:events",
    "*",
    "?",
    "..",
    "%2e%2e",
    "a%2fb",
    "a/b",
    "%0d%0aSet-Cookie:x",
    "%20",
    " ",
    "\u00e9",
    "%F0%9F%8E%B2",
    "x" * 5000,
    "-1",
    "null",
    "{game}x",
    "{game}%00",
    "%7B{game}%7D",
    "{game}%7D:events",
    "{lower}",
]


@pytest.mark.parametrize("game", ODD_IDS)
def test_an_unknown_game_is_not_found_whatever_its_id(api: Api, contents: StoreContents, game: str) -> None:
    table = api.create("domino", 2)
    before = contents.now(table)
    name = game.replace("{game}", table.id).replace("{lower}", table.id.swapcase())
    for path in ("", "/moves", "/score", "/players"):
        for method in ("GET", "HEAD") if path != "/players" else ("POST",):
            body = {"name": "Eve", "join_code": "x"} if method == "POST" else None
            answer = api.ask(method, f"/v1/games/{name}{path}", json=body)
            assert answer.status_code == 404 or (answer.status_code == 308 and game == "?")
    assert contents.now(table) == before


def test_errors_of_a_move_are_checked_in_the_documented_order(api: Api, contents: StoreContents) -> None:
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    token, waiting = table.tokens[seat], table.tokens[1 - seat]
    before = contents.now(table)
    huge = "{" * 300_000
    stale = {"If-Match": '"1"'}
    cases: list[tuple[int, dict[str, Any]]] = [
        (401, {"token": "wrong", "data": huge, "content_type": "text/plain", "headers": stale}),
        (415, {"token": token, "data": huge, "content_type": "text/plain", "headers": stale}),
        (413, {"token": token, "data": huge, "content_type": JSON, "headers": stale}),
        (400, {"token": token, "data": "{", "content_type": JSON, "headers": stale}),
        (422, {"token": token, "json": {"action": "knock", "version": 1}, "headers": stale}),
        (422, {"token": waiting, "json": {"action": "play", "tile": "x"}, "headers": stale}),
        (412, {"token": token, "json": {"action": "deal"}, "headers": stale}),
        (412, {"token": waiting, "json": {"action": "pass", "version": 1}}),
        (409, {"token": waiting, "json": {"action": "pass", "version": 2}}),
        (409, {"token": token, "json": {"action": "deal", "version": 2}}),
    ]
    for status, request in cases:
        assert api.ask("POST", f"{table.path}/moves", **request).status_code == status
    assert contents.now(table) == before


def test_errors_of_a_creation_are_checked_in_the_documented_order(api: Api, contents: StoreContents) -> None:
    before = contents.now()
    huge = "{" * 300_000
    cases: list[tuple[int, dict[str, Any]]] = [
        (415, {"data": huge, "content_type": "text/plain"}),
        (413, {"data": huge, "content_type": JSON}),
        (400, {"data": "{", "content_type": JSON}),
        (422, {"json": {}}),
    ]
    for status, request in cases:
        assert api.ask("POST", "/v1/games", **request).status_code == status
    assert contents.now() == before


# Finished games


@pytest.mark.parametrize("variant", ["domino", "dominospiel", "fido", "homo-homini-lupus", "menschenwolf"])
def test_after_the_end_nothing_can_be_done(
    api: Api, contents: StoreContents, saved_games: SavedGames, variant: str
) -> None:
    table = saved_games.at(variant, "finished").table
    before = contents.now(table)
    for seat in table.tokens:
        for move in ({"action": "deal"}, {"action": "pass"}, {"action": "draw"}, {"action": "play", "tile": "0-0"}):
            answer = api.move(table, seat, move)
            assert status_and_code(answer) == (409, "game_over")
            assert answer.json is not None
            assert answer.json["legal_moves"] == []
    assert api.post(f"{table.path}/players", {"name": "Eve", "join_code": "x"}).status_code == 403
    assert contents.now(table) == before
