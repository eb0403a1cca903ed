"""Blindness: what a seat cannot see changes no byte of its answers.

For every variant and at every stage of a match: the stored game is changed where a viewer cannot see it (the other
hands, the stock and its order, the deck that later rounds come from), and every resource is requested by every method.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from random import Random
from typing import Any

import pytest
import redis

from service.engine.deal import Deck, seed_from_text
from service.engine.events import Dealt, Drew
from service.engine.state import PLAYING, State
from service.engine.tiles import TILES, sort_tiles
from service.engine.variants import variants
from service.games.model.game import Game
from service.games.model.game_events import GameEvent
from service.games.queries.catalogue import deal_table
from service.games.store.codec import decode_event, encode_event, encode_game
from service.storage.games import RedisStore
from service.storage.pubsub import RedisEventFeed
from tests.api.client import Api, Table, content_of, viewers, without_tile
from tests.api.conftest import api_with_fixed_clock
from tests.api.deals import deal
from tests.api.saved_games import (
    DRAWING,
    SEED,
    SavedGame,
    SavedGames,
    Snapshot,
    decoded,
    one_open_seat,
    place_of,
    restore,
    shortest,
    some_seats,
    take_snapshot,
    variants_in_lane,
)
from tests.api.timed import TimedApi
from tests.support.table import match_finished, round_over, seat_to_move

pytestmark = pytest.mark.quick_and_gate

Request = tuple[str, str, dict[str, Any]]
Content = tuple[int, list[tuple[str, str]], bytes]

_ALIKE = 3
"""How many games are compared that differ only in what the viewer cannot see."""


@pytest.fixture(scope="module")
def fixed_api(store: RedisStore, feed: RedisEventFeed) -> Api:
    """The application with a fixed clock, so that two answers to the same move can be equal."""
    return api_with_fixed_clock(store, feed, bytes)


def with_hidden_changed(seat: int | None, game: Game, rng: Random) -> Game:
    """The game with all that the seat (or a spectator) cannot see changed, and nothing else.

    Who opens a round is public, so on an empty table hands are swapped only if the same seat still opens.
    """
    while True:
        changed = game._replace(state=_swapped(seat, game.state, rng), deck=Deck(rng.randbytes(32)))
        opening = None if game.state.turn is None else game.rules.opening(changed.state)
        if game.state.layout.placements or opening is None or opening.seat == game.state.turn:
            return changed


def _swapped(seat: int | None, state: State, rng: Random) -> State:
    hands, stock = list(state.hands), list(state.stock)
    if state.phase != PLAYING:
        rng.shuffle(stock)  # the hands of a counted round are public
        return state._replace(stock=tuple(stock))
    others = [other for other in range(len(hands)) if other != seat]
    pool = [tile for other in others for tile in hands[other]] + stock
    rng.shuffle(pool)
    for other in others:
        size = len(hands[other])
        hands[other] = sort_tiles(pool[:size])
        del pool[:size]
    return state._replace(hands=tuple(hands), stock=tuple(pool))


def versions_of(saved_game: SavedGame, seat: int | None) -> Iterator[Snapshot]:
    """The saved game as it is, and then versions that differ from it only in what the seat cannot see."""
    yield saved_game.snapshot
    game = decoded(saved_game.table.id, saved_game.snapshot)
    for number in range(_ALIKE - 1):
        changed = with_hidden_changed(seat, game, Random(number))
        if game.state.phase == PLAYING and len(game.state.stock) > 1:
            assert changed.state != game.state
        yield Snapshot(b"%d %b" % (saved_game.snapshot.version, encode_game(changed)), saved_game.snapshot.events)


def assert_blind(
    api: Api, server: redis.Redis, saved_game: SavedGame, seat: int | None, requests: list[Request]
) -> None:
    """Each request gets the same bytes and headers in each version of the saved game."""
    token = None if seat is None else saved_game.table.tokens[seat]
    answers: list[list[Content]] = []
    for snapshot in versions_of(saved_game, seat):
        restore(server, saved_game.table.id, snapshot)
        ask = api.ask_unchecked if answers else api.ask  # the same bytes need no second check
        asked = [ask(method, saved_game.table.path + path, token=token, **more) for method, path, more in requests]
        answers.append([content_of(answer) for answer in asked])
    for request, *same in zip(requests, *answers, strict=True):
        assert all(each == same[0] for each in same), f"{request} tells seat {seat} what it cannot see"


def test_every_resource_shows_a_seat_the_same_whatever_is_hidden(
    api: Api, server: redis.Redis, saved_game: SavedGame
) -> None:
    for seat in viewers(saved_game.table):
        etags = {"If-None-Match": f'"{decoded(saved_game.table.id, saved_game.snapshot).etag(seat)}"'}
        requests = [
            (method, path, {"headers": headers})
            for method in ("GET", "HEAD")
            for path in ("", "?text=true", "/moves", "/score", "/fairness")
            for headers in ({}, etags)
        ]
        requests += [("GET", path, {}) for path in ("/board?text=true", "/board.svg", "/board.txt?style=drawing")]
        assert_blind(api, server, saved_game, seat, requests)


def test_every_refusal_shows_a_seat_the_same_whatever_is_hidden(
    fixed_api: Api, server: redis.Redis, saved_game: SavedGame
) -> None:
    for seat in viewers(saved_game.table):
        restore(server, saved_game.table.id, saved_game.snapshot)
        bodies = refused_moves(fixed_api, saved_game, seat)
        bodies += [{"action": "draw", "version": saved_game.snapshot.version + 1}, {"action": "draw", "colour": 1}]
        requests: list[Request] = [("POST", "/moves", {"json": body}) for body in bodies]
        requests.append(("POST", "/moves", {"json": {"action": "draw"}, "headers": {"If-Match": '"0"'}}))
        requests.append(("POST", "/players", {"json": {"name": "Eve", "join_code": "A"}}))
        assert_blind(fixed_api, server, saved_game, seat, requests)


@pytest.mark.parametrize("clock", [{"turn": 60}, {"bank": 60, "increment": 5}], ids=["turn", "bank"])
@pytest.mark.parametrize("variant", variants_in_lane())
def test_computer_players_clocks_and_absence_tell_nothing_of_what_is_hidden(
    timed_api: TimedApi, server: redis.Redis, variant: str, clock: dict[str, Any]
) -> None:
    seats = max(some_seats(variant), 3)
    players = [{"bot": "expert"}, *({"name": f"P{seat}"} for seat in range(1, seats))]
    table = timed_api.create(variant, players, clock=clock, absence={"then": "claim"}, pace=0, seed=SEED)
    for _ in range(seats):
        timed_api.to_turn_of_person(table)
        timed_api.make_legal_move(table)
    late = timed_api.to_turn_of_person(table)
    other = next(seat for seat in table.tokens if seat != late)
    timed_api.set_presence(table, other, away=True)
    early = _ask_about_presence(timed_api, server, variant, table)
    timed_api.clock.advance(3600)
    assert early < _ask_about_presence(timed_api, server, variant, table) <= {409, 401, 403, 422, 200, 201}


def _ask_about_presence(api: TimedApi, server: redis.Redis, variant: str, table: Table) -> set[int]:
    """Ask everything of this game, as everybody, whatever is hidden; the statuses of the answers to claims and leaving.

    Each request is made on the game as it was before.
    """
    saved_game = SavedGame(variant, "timed", table, take_snapshot(server, table.id))
    seats = range(len(decoded(table.id, saved_game.snapshot).seats))
    writes: list[Request] = [("POST", "/claims", {"json": {"seat": seat}}) for seat in seats]
    writes += [
        ("PUT", f"/players/{seat}/presence", {"json": {"away": away}}) for seat in seats for away in (True, False)
    ]
    reads: list[Request] = [("GET", path, {}) for path in ("", "?text=true", "/moves", "/score", "/board?text=true")]
    statuses = set()
    for seat in viewers(table):
        assert_blind(api, server, saved_game, seat, reads)
        for write in writes:
            answers = []
            for snapshot in versions_of(saved_game, seat):
                restore(server, table.id, snapshot)
                method, path, more = write
                token = None if seat is None else table.tokens[seat]
                answer = api.ask(method, table.path + path, token=token, **more)
                answers.append(_without_write_id(content_of(answer)))
                statuses.add(answer.status_code)
            assert all(each == answers[0] for each in answers), f"{write} tells seat {seat} what it cannot see"
    restore(server, table.id, saved_game.snapshot)
    return statuses


def _without_write_id(content: Content) -> Content:
    """All but the ETag, which has the random id of a write."""
    status, headers, body = content
    return status, [each for each in headers if each[0] != "ETag"], body


def refused_moves(api: Api, saved_game: SavedGame, seat: int | None) -> list[dict[str, Any]]:
    """Moves of every kind that this seat may not make now, with tiles of all owners."""
    listed = [] if seat is None else api.moves(saved_game.table, seat)
    actions = {move["action"] for move in listed}
    moves = [{"action": action} for action in ("draw", "pass", "done", "flip", "deal") if action not in actions]
    playable = {move["tile"] for move in listed if "tile" in move}
    tiles = [tile.name for tile in TILES[::17] if tile.name not in playable]
    return [*moves, *({"action": "play", "tile": tile} for tile in tiles)]


@pytest.mark.parametrize("variant", variants())
def test_a_tile_not_in_hand_is_refused_alike_wherever_it_is(
    api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    for stage in ("dealt", "early", "late", "second_round"):
        saved_game = saved_games.at(variant, stage)
        game = decoded(saved_game.table.id, saved_game.snapshot)
        seat = game.state.turn
        assert seat is not None
        elsewhere = [tile for tile in TILES if tile not in game.state.hands[seat]]
        assert {place_of(game, tile) for tile in elsewhere} >= {"a hand", "no set"}
        path, token = f"{saved_game.table.path}/moves", saved_game.table.tokens[seat]
        api.post(path, {"action": "play", "tile": elsewhere[0].name}, token=token)
        for in_set in (True, False):  # which all know
            tiles = [tile.name for tile in elsewhere if (tile in game.rules.tiles) == in_set]
            asked = [{"action": "play", "tile": tile} for tile in tiles]
            given = [api.ask_unchecked("POST", path, token=token, json=body) for body in asked]
            answers = {without_tile(answer, tile) for answer, tile in zip(given, tiles, strict=True)}
            assert len(answers) == 1, answers


@pytest.mark.parametrize("stage", ["dealt", "early", "late", "second_round"])
@pytest.mark.parametrize("variant", variants())
def test_a_move_that_ends_nothing_shows_its_player_the_same_whatever_is_hidden(
    fixed_api: Api, server: redis.Redis, saved_games: SavedGames, variant: str, stage: str
) -> None:
    saved_game = saved_games.at(variant, stage)
    game = decoded(saved_game.table.id, saved_game.snapshot)
    seat = game.state.turn
    assert seat is not None
    moves = [move for move in fixed_api.moves(saved_game.table, seat) if move["action"] != "draw"]
    for move in moves:
        shown = []
        for snapshot in versions_of(saved_game, seat):
            restore(server, saved_game.table.id, snapshot)
            answer = fixed_api.move(saved_game.table, seat, move)
            assert answer.json is not None
            if answer.json["status"] == "playing":
                shown.append(content_of(answer))
        assert all(each == shown[0] for each in shown), f"{move} tells seat {seat} what it cannot see"


@pytest.mark.parametrize("variant", DRAWING)
def test_a_draw_shows_the_others_only_that_one_tile_was_drawn(
    fixed_api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "dealt")
    view = fixed_api.play_until_draw(saved_game.table, Random(SEED))
    seat = seat_to_move(view)
    before = saved_game._replace(snapshot=take_snapshot(server, saved_game.table.id))
    watching = [viewer for viewer in viewers(saved_game.table) if viewer != seat]
    shown: dict[int | None, list[Content]] = {viewer: [] for viewer in watching}
    state = decoded(saved_game.table.id, before.snapshot).state
    fitting = [bool(tile.mask & state.layout.open_mask) for tile in state.stock]
    same = [tile for tile, fits in zip(state.stock, fitting, strict=True) if fits == fitting[0]]
    for top in same[:_ALIKE]:
        game = decoded(saved_game.table.id, before.snapshot)
        stock = (top, *(tile for tile in state.stock if tile is not top))
        changed = game._replace(state=state._replace(stock=stock))
        restore(
            server,
            saved_game.table.id,
            Snapshot(b"%d %b" % (game.version, encode_game(changed)), before.snapshot.events),
        )
        fixed_api.make_legal_move(saved_game.table)
        for viewer in watching:
            token = None if viewer is None else saved_game.table.tokens[viewer]
            shown[viewer].append(content_of(fixed_api.get(saved_game.table.path, token=token)))
    for viewer, answers in shown.items():
        assert all(each == answers[0] for each in answers), f"the draw tells {viewer} the tile"


def test_deals_arranged_for_later_rounds_are_shown_to_nobody(api: Api) -> None:
    first = deal("domino", "0-0 …", "1-1 …", "2-2 …")
    second = deal("domino", "6-6 3-4 …", "5-5 …", "4-4 …")
    seen = []
    for deals in ([first], [first, second]):
        people: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}, {"open": True}]
        table = api.create("domino", people, deals=deals)
        shown = json.loads(api.get(table.path).data)
        volatile = {"id", "created_at", "updated_at", "expires_at"}
        seen.append({name: value for name, value in shown.items() if name not in volatile})
    assert seen[0] == seen[1]


@pytest.mark.parametrize("variant", variants())
def test_no_answer_contains_a_seed_a_hash_or_a_token_of_another_seat(
    api: Api, server: redis.Redis, variant: str
) -> None:
    answers = api.keep_answers()
    table = api.create(variant, one_open_seat(variant), seed=SEED, rules=shortest(variant))
    assert table.join_code is not None
    late = api.take_seat(table)
    created, joined = answers
    game = decoded(table.id, take_snapshot(server, table.id))
    seed = game.deck.seed
    assert seed == seed_from_text(SEED)
    assert game.join_hash is not None
    api.play_until(table, match_finished, Random(SEED))
    for seat in viewers(table):
        for show in (api.view, api.moves, api.score):
            show(table, seat)
        api.post(f"{table.path}/moves", {"action": "draw"}, token=None if seat is None else table.tokens[seat])
    for seat in table.tokens:
        api.get(table.path, token=table.tokens[seat] + "x")

    hashes = [game.join_hash, *(each.token_hash or b"" for each in game.seats), seed, sha256(seed).digest()]
    secrets = [SEED, table.join_code, *table.tokens.values()]
    secrets += [spelled for each in hashes for spelled in (each.hex(), b64encode(each).decode()[:40])]
    for answer in answers:
        text = answer.get_data(as_text=True) + str(answer.headers)
        received = [secret for secret in secrets if secret and secret in text]
        if answer is created:
            assert set(received) == {table.join_code, *table.tokens.values()} - {late["token"]}
        elif answer is joined:
            assert received == [late["token"]]
        else:
            assert not received


@pytest.mark.parametrize("variant", variants())
def test_a_count_never_names_the_stock_in_the_order_in_which_it_lies(
    api: Api, server: redis.Redis, variant: str
) -> None:
    recipe = variants()[variant]
    words = [{option.key: value} for option in recipe.options for value in option.values if isinstance(value, str)]
    for rules in words or [{}]:
        seats = max((row.stock, row.players) for row in deal_table(variant) if row.highest == 6)[1]
        for attempt in range(3):
            table = api.create(variant, seats, seed=f"{attempt}", rules=rules)
            api.play_until(table, round_over, Random(attempt))
            stock = [tile.name for tile in decoded(table.id, take_snapshot(server, table.id)).state.stock]
            if stock != sorted(stock):
                shown = api.get(f"{table.path}/score").get_data(as_text=True)
                assert not [between for between in (", ", ",", '","', " ", " + ") if between.join(stock) in shown]


# Events


def hidden_from(seat: int | None, snapshot: Snapshot, rng: Random) -> Snapshot:
    """The same game with other tiles wherever its events hide them from the seat (or a spectator)."""
    events = []
    for entry in snapshot.unpacked_events:
        write, _, data = entry.partition(b" ")
        at = int(json.loads(data)[1])
        _, _, event, to_act = decode_event(0, at, data)
        if isinstance(event, Dealt):
            others = [other for other in range(len(event.hands)) if other != seat]
            pool = [*event.stock, *(tile for other in others for tile in event.hands[other])]
            rng.shuffle(pool)
            hands = list(event.hands)
            for other in others:
                size = len(hands[other])
                hands[other] = sort_tiles(pool[:size])
                del pool[:size]
            changed: GameEvent = Dealt(event.round, tuple(hands), tuple(pool), event.arranged)
        elif isinstance(event, Drew) and event.seat != seat:
            changed = Drew(event.seat, rng.choice(TILES))
        else:
            changed = event
        events.append(b"%b %b" % (write, encode_event(changed, at, to_act)))
    return snapshot._replace(events=events)


def streamed(api: Api, saved_game: SavedGame, seat: int | None, kind: str, after: int, *, query: str = "") -> bytes:
    """The bytes that a stream of events has sent by now."""
    table, until = saved_game.table, saved_game.snapshot.version
    token = None if seat is None else table.tokens[seat]
    headers = {"Accept": kind, "Last-Event-ID": str(after)}
    path = f"{table.path}/events{query}"
    with closing(api.ask_unchecked("GET", path, token=token, headers=headers, buffered=False)) as it:
        return read_until(it.iter_encoded(), until, WITH_VIEW if query else b"")


WITH_VIEW = b'"type":"view",'


def read_until(chunks: Iterator[bytes], version: int, start: bytes = b"") -> bytes:
    """What a stream sends up to the event of this version, or up to the item that starts so and has this version."""
    sent = b""
    for chunk in chunks:
        sent += chunk
        if b'{%b"version":%d,' % (start, version) in sent:
            break
    return sent


def test_events_show_a_seat_the_same_whatever_is_hidden(api: Api, server: redis.Redis, saved_game: SavedGame) -> None:
    version = saved_game.snapshot.version
    queries = ("?limit=1000", f"?after={version // 2}&limit=3", "?limit=1&wait=25", f"?after={version + 1}")
    with_text = ("?limit=1000&text=true", f"?after={version // 2}&text=true", f"?after={version}&view=true&text=true")
    with_view = ("?limit=1000&view=true", f"?after={version}&view=true", f"?after={version + 1}&wait=25&view=true")
    for seat in viewers(saved_game.table):
        token = None if seat is None else saved_game.table.tokens[seat]
        answers: list[list[object]] = []
        for number, snapshot in enumerate(versions_of(saved_game, seat)):
            restore(server, saved_game.table.id, hidden_from(seat, snapshot, Random(number)) if number else snapshot)
            ask = api.ask_unchecked if answers else api.ask
            received: list[object] = [
                content_of(ask(method, f"{saved_game.table.path}/events{query}", token=token))
                for method in ("GET", "HEAD")
                for query in queries + with_text + with_view
            ]
            received.append(content_of(ask("GET", f"{saved_game.table.path}?after=0&wait=25", token=token)))
            received += [
                streamed(api, saved_game, seat, kind, after)
                for kind in ("text/event-stream", "application/x-ndjson")
                for after in (0, version // 2)
            ]
            if saved_game.stage != "finished":  # which a stream that is resumed at the end answers with 204
                received.append(streamed(api, saved_game, seat, "text/event-stream", version, query="?view=true"))
            for query in ("?view=true", "?view=true&text=true"):
                received.append(streamed(api, saved_game, seat, "application/x-ndjson", version // 2, query=query))
            answers.append(received)
        assert all(each == answers[0] for each in answers), f"the events tell {seat} what it cannot see"


@pytest.mark.parametrize("variant", DRAWING)
def test_a_draw_is_streamed_to_the_others_alike_whatever_was_drawn(
    fixed_api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "dealt")
    view = fixed_api.play_until_draw(saved_game.table, Random(SEED))
    seat = seat_to_move(view)
    before = take_snapshot(server, saved_game.table.id)
    state = decoded(saved_game.table.id, before).state
    fitting = [bool(tile.mask & state.layout.open_mask) for tile in state.stock]
    same = [tile for tile, fits in zip(state.stock, fitting, strict=True) if fits == fitting[0]]
    watching = [viewer for viewer in viewers(saved_game.table) if viewer != seat]
    shown: dict[tuple[int | None, str], list[bytes]] = {}
    for top in same[:_ALIKE]:
        game = decoded(saved_game.table.id, before)
        stock = (top, *(tile for tile in state.stock if tile is not top))
        changed = game._replace(state=state._replace(stock=stock))
        restore(server, saved_game.table.id, before._replace(state=b"%d %b" % (game.version, encode_game(changed))))
        with ExitStack() as stack:
            streams = {}
            for viewer in watching:
                for kind in ("text/event-stream", "application/x-ndjson"):
                    headers = {"Accept": kind, "Last-Event-ID": str(game.version)}
                    token = None if viewer is None else saved_game.table.tokens[viewer]
                    path = f"{saved_game.table.path}/events?view=true"
                    received = fixed_api.ask_unchecked("GET", path, token=token, headers=headers, buffered=False)
                    streams[viewer, kind] = stack.enter_context(closing(received)).iter_encoded()
            fixed_api.make_legal_move(saved_game.table)
            for who, chunks in streams.items():
                shown.setdefault(who, []).append(read_until(chunks, game.version + 1, WITH_VIEW))
    for (viewer, kind), sent in shown.items():
        assert b'"drew"' in sent[0]
        assert all(each == sent[0] for each in sent), f"{kind} tells {viewer} the tile that was drawn"


@pytest.mark.parametrize("variant", variants())
def test_a_replayed_answer_shows_its_mover_the_same_whatever_it_cannot_see(
    fixed_api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "dealt")
    game = decoded(saved_game.table.id, saved_game.snapshot)
    seat = game.state.turn
    assert seat is not None
    (move, *_) = [move for move in fixed_api.moves(saved_game.table, seat) if move["action"] != "draw"]
    shown = []
    for attempt in range(_ALIKE):
        changed = with_hidden_changed(seat, game, Random(attempt))
        dealt = Dealt(1, changed.state.hands, changed.state.stock, game.arranged)
        *first, last = saved_game.snapshot.events
        write, _, data = last.partition(b" ")
        at = int(json.loads(data)[1])
        events = [*first, b"%b %b" % (write, encode_event(dealt, at, game.to_act))]
        restore(
            server,
            saved_game.table.id,
            Snapshot(b"%d %b" % (saved_game.snapshot.version, encode_game(changed)), events),
        )
        key = {"Idempotency-Key": f"{variant} {attempt}".replace(" ", "-")}
        made = fixed_api.move(saved_game.table, seat, move, headers=key)
        again = fixed_api.move(saved_game.table, seat, move, headers=key)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert again.data == made.data
        shown.append(content_of(again))
    assert all(each == shown[0] for each in shown), f"a replay tells seat {seat} what it cannot see"
