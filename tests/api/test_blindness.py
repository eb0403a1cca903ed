"""Blindness: what a viewer cannot see changes no byte of what it is told.

One walk asks every operation for games at several stages, as every kind of viewer: once of the game as it is stored and
once of a twin (``tests.api.twins``). An operation is asked because it exists; ``ASKED`` says what more than a request
without body and query it is asked.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

import pytest
import redis
from werkzeug.routing import Rule

from service.backends.facade import BackendsFacade
from service.backends.webhooks.messages import game_messages
from service.engine.deal import seed_from_text
from service.engine.tiles import TILES
from service.engine.variants import variants
from service.games.model.game import Game, Ownership
from service.games.model.schedule import Lifetimes
from service.games.model.seats import OPEN_SEAT, Seats
from service.games.store.codec import encode_game
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.topology import SingleNodeTopology
from service.web.operation import Operation
from tests.api.client import Api, Table, content_of, viewers
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.deals import deal
from tests.api.keyed_moves import play_with_keys
from tests.api.saved_games import (
    DRAWING,
    GAME_SECONDS,
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
    stages_of,
    stored,
    take_snapshot,
    variants_in_lane,
)
from tests.api.test_whole_app import method_of, operations
from tests.api.timed import TimedApi
from tests.api.twins import history_of, replayable_twin, twin
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.stores.redis_stores import redis_reminders
from tests.support.table import Json, match_finished, seat_to_move

pytestmark = pytest.mark.gate

Publish = Callable[[], None]
Answer = tuple[int, object, bytes]

LIFETIMES = Lifetimes.at_most(GAME_SECONDS * 1000)
STREAM = {"Accept": "application/x-ndjson", "Last-Event-ID": "0"}
_SHORT = ("dealt", "late", "second_round")
WALKED: Mapping[str, Sequence[str]] = {
    variant: in_lane(
        stages_of(variant),
        gate=stages_of(variant) if variant == "menschenwolf" else _SHORT if variant in GATE_VARIANTS else (),
    )
    for variant in variants()
}
"""The stages of the walk in this lane."""


DEALT_BY = ("fillSeat", "startGame")


class Asked(NamedTuple):
    """A request of one operation: what follows the path, the headers, and the body."""

    query: str = ""
    headers: Mapping[str, str] = {}
    body: Json | None = None


ASKED: Mapping[str, list[Asked]] = {
    "getGame": [Asked("?text=true"), Asked("?wait=25")],
    "getBoardAsJson": [Asked("?text=true")],
    "getRecord": [Asked(headers={"Accept": "text/plain"})],
    "getEvents": [
        Asked("?limit=1000&text=true"),
        Asked("?after={middle}&limit=3"),
        Asked("?after={last}&view=true&text=true"),
        Asked("?after={beyond}&wait=25&view=true"),
        Asked("?view=true&text=true", STREAM),
        Asked("?view=true", {**STREAM, "Accept": "text/event-stream"}),
    ],
    "getFeed": [Asked(headers={**STREAM, "Last-Event-ID": "0-0"})],
    "listGames": [Asked("?ref=the-match"), Asked("?player_ref=user-0"), Asked("?player_ref=user-0&to_act=true")],
    "changePlayer": [Asked(body={"name": "Eve"})],
    "joinGame": [Asked(body={"name": "Eve", "join_code": "ACDEFGHJ"})],
    "fillSeat": [Asked(body={"bot": "greedy"})],
    "setPresence": [Asked(body={"away": away}) for away in (True, False)],
}
"""What else is asked of operations, by their ids; moves and claims follow from the game."""
VOLATILE: Mapping[str, bytes] = {"getFeed": rb'"cursor":"[^"]*"', "getApplication": rb'"bytes":\d+'}
"""What differs from one answer to the next: the cursors of the feed are times, and the memory is what was allocated."""
NEVER_DONE = {"getHint", "getReview", "joinGame", "listDeliveries", "getWebhook"}
"""Operations that succeed at no stage: what bot workers compute is not there, and who joins is dealt another hand."""


class Viewer(NamedTuple):
    """Who asks, and the seat whose hand it sees."""

    token: str | None
    seat: int | None = None

    @property
    def is_owner(self) -> bool:
        """Whether it is the application that owns the game."""
        return self.token is not None and self.seat is None


class Walker:
    """Asks the operations for stored games.

    Its application makes the same ids and tokens in answer to the same requests, and its clock stands still.
    """

    def __init__(self, start: Callable[[], TimedApi], server: redis.Redis, key: str, publish: Publish) -> None:
        self._start = start
        self.api = start()
        self.server = server
        self.key = key
        self._publish = publish
        self.done: set[str] = set()
        """The operations that were not refused."""

    def assert_blind(self, saved_game: SavedGame, now: int | None = None) -> None:
        """Every operation tells every viewer the same of the game and of a twin, at this time."""
        self.api = self._start()  # which has not counted how often somebody was away
        self.api.clock.now = now or self.api.clock.now
        table, snapshot = saved_game.table, self._owned(saved_game)
        game = decoded(table.id, snapshot)
        for viewer in self._viewers(game, table):
            unlike = twin(table.id, snapshot, viewer.seat, Random(f"{saved_game.stage} {viewer.seat}"))
            assert unlike != snapshot
            asked = list(self._requests(game, viewer))
            assert self._messages(table, snapshot, viewer) == self._messages(table, unlike, viewer)
            first, other = (list(self._answers(table, each, viewer, asked)) for each in (snapshot, unlike))
            for (_, operation, request), *told in zip(asked, first, other, strict=True):
                who = "the owner" if viewer.is_owner else f"seat {viewer.seat}"
                assert told[0] == told[1], f"{operation.id} {request} tells {who} what is hidden ({saved_game.stage})"
        self.restore(table.id, saved_game.snapshot)

    def restore(self, game: str, snapshot: Snapshot) -> None:
        """Make the store hold this of the game, and the application forget it: its cache knows no twins."""
        restore(self.server, game, snapshot)
        self.server.delete(*keys.learning(game))
        self.api.client.application.services.drop_cached((game,))  # type: ignore[attr-defined]

    def _owned(self, saved_game: SavedGame) -> Snapshot:
        """The game as one of the application, which has a name for everybody."""
        game = decoded(saved_game.table.id, saved_game.snapshot)
        refs = [None if each.kind == OPEN_SEAT else f"user-{seat}" for seat, each in enumerate(game.seats)]
        seats = [each._replace(ref=ref) for each, ref in zip(game.seats, refs, strict=True)]
        code = saved_game.table.join_code if saved_game.stage == "waiting" else None
        ownership = Ownership(self.key[4:28], "the-match", code, "app" if code else None)
        owned = game._replace(seats=Seats(seats), ownership=ownership)
        return saved_game.snapshot._replace(state=b"%d %b" % (game.version, encode_game(owned)))

    def _viewers(self, game: Game, table: Table) -> Iterator[Viewer]:
        """A spectator, the owner, the seat whose turn it is, and another one."""
        yield Viewer(None)
        yield Viewer(self.key)
        turn = game.state.turn
        for seat in sorted(table.tokens, key=lambda seat: seat != turn)[:2]:
            yield Viewer(table.tokens[seat], seat)

    def _requests(self, game: Game, viewer: Viewer) -> Iterator[tuple[Rule, Operation, Asked]]:
        """Everything that is asked: first what changes nothing."""
        found = sorted(operations(self.api.client.application), key=lambda each: method_of(each[0]) != "GET")
        assert ASKED.keys() <= {operation.id for _, operation in found}
        for rule, operation in found:
            reads = method_of(rule) == "GET"
            if "<game>" not in rule.rule and not (reads and operation.access in ("app", "public_or_app")):
                continue
            if reads:
                yield rule, operation, Asked()
            asked = ASKED.get(operation.id, [])
            if operation.id == "makeMove":
                asked = list(_moves(game, viewer))
            elif operation.id == "claimSeat":
                asked = [Asked(body={"seat": seat}) for seat in range(len(game.seats))]
            tells = not reads and operation.query is not None and "text" in operation.query().fields
            for each in asked or ([] if reads else [Asked(body=None if operation.body is None else {})]):
                yield rule, operation, each._replace(query="?text=true") if tells else each

    def _answers(
        self, table: Table, snapshot: Snapshot, viewer: Viewer, asked: list[tuple[Rule, Operation, Asked]]
    ) -> Iterator[Answer]:
        self.restore(table.id, snapshot)
        if viewer.is_owner:
            self._publish_anew(table.id)
        for rule, operation, request in asked:
            seat = self._open_seat(table, snapshot) if operation.id == "fillSeat" else viewer.seat or 0
            codes = set(self.server.scan_iter("domino:code:*")) if operation.id == "changeJoinCode" else set()
            answer = self._answer(table, snapshot.version, viewer, (rule, operation, request), seat=seat)
            if answer[0] < 300:
                self.done.add(operation.id)
            if operation.id == "changeJoinCode":  # as no byte is random here, another game would be given the same code
                self.server.delete(*set(self.server.scan_iter("domino:code:*")) - codes, b"-")
            if method_of(rule) != "GET":
                for game in re.findall(rb'"id":"(\w+)"', answer[2]):  # a rematch is begun once
                    if game.decode() != table.id:
                        self.server.delete(*keys.of_game(game.decode()))
                self.restore(table.id, snapshot)
            if operation.id in DEALT_BY and answer[0] < 300:
                answer = answer[0], None, b""  # another seed deals other hands, and another seat begins
            yield _without_result_of_end(answer) if operation.id == "makeMove" else answer

    def _open_seat(self, table: Table, snapshot: Snapshot) -> int:
        return next((seat for seat, each in enumerate(decoded(table.id, snapshot).seats) if each.kind == OPEN_SEAT), 0)

    def _answer(
        self, table: Table, version: int, viewer: Viewer, asked: tuple[Rule, Operation, Asked], *, seat: int
    ) -> Answer:
        rule, operation, request = asked
        named = {"<game>": table.id, "<int:seat>": str(seat), "<ref:ref>": "user-0"}
        path = re.sub("<.*?>", lambda each: named.get(each[0], "none"), rule.rule)
        path += request.query.format(middle=version // 2, last=version, beyond=version + 1)
        body: Json = {} if request.body is None else {"json": request.body}
        if "Last-Event-ID" not in request.headers:
            answer = self.api.ask_unchecked(
                method_of(rule), path, token=viewer.token, headers=dict(request.headers), **body
            )
            status, headers, data = content_of(answer)
        else:
            status, headers, data = self._streamed(path, viewer, version, request.headers)
        if operation.id in VOLATILE:
            return status, [name for name, _ in headers], re.sub(VOLATILE[operation.id], b"", data)
        return status, headers, data

    def _streamed(
        self, path: str, viewer: Viewer, version: int, headers: Mapping[str, str]
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """What a stream sends up to this version, and with it the view, unless the match is over."""
        asked = self.api.ask_unchecked("GET", path, token=viewer.token, headers=dict(headers), buffered=False)
        with closing(asked) as answer:
            sent = b"" if answer.status_code != 200 else read_until(answer.iter_encoded(), version, path)
            return answer.status_code, sorted(answer.headers), sent

    def _messages(self, table: Table, snapshot: Snapshot, viewer: Viewer) -> object:
        """What is sent by itself to an endpoint of the owner."""
        if not viewer.is_owner:
            return None
        game = decoded(table.id, snapshot)
        events = history_of(game, snapshot)
        return [game_messages("endpoint", game, (), events[after:]) for after in range(game.version)]

    def _publish_anew(self, game: str) -> None:
        """Have a messenger tell the application of this game as if it knew nothing yet, and of no other one."""
        app = self.key[4:28]
        self._publish()
        known = [name for name in self.server.scan_iter(f"domino:{{{app}}}:*") if name != keys.part(b"app", app)]
        known += [*self.server.scan_iter("domino:{lobby}*"), *self.server.scan_iter("domino:outbox:*")]
        self.server.delete(*known, b"-")
        redis_reminders(SingleNodeTopology(self.server)).restore("outbox", game, app, 1)
        self._publish()


def read_until(chunks: Iterator[bytes], version: int, path: str) -> bytes:
    """What a stream sends up to the event of this version, and up to the view if the path asks for it."""
    sent = b""
    for chunk in chunks:
        sent += chunk
        if b'"type":"finished"' in sent or (
            b'"type":"view"' in chunk if "view" in path else b'"version":%d,' % version in chunk
        ):
            break
    return sent


def _moves(game: Game, viewer: Viewer) -> Iterator[Asked]:
    """Moves of every kind, with a tile from everywhere, but for those that are answered with a tile or a deal."""
    yield Asked(body={"action": "pass", "version": game.version + 1})
    if viewer.seat is None or viewer.seat != game.state.turn:
        yield Asked(body={"action": "draw"})
        return
    places = {place_of(game, tile): tile for tile in TILES}
    hand = game.state.hands[viewer.seat]
    tiles = dict.fromkeys([*places.values(), *hand[:3], *hand[-1:]])
    yield from [Asked(body={"action": "play", "tile": tile.name}) for tile in tiles]
    yield from [Asked(body={"action": action}) for action in ("pass", "done", "flip")]


def _without_result_of_end(answer: Answer) -> Answer:
    """Leave out what a move reveals that ends the round."""
    status, _, body = answer
    return answer if status != 201 or json.loads(body)["status"] == "playing" else (status, None, b"")


@pytest.fixture
def walker(
    store: RedisStore,
    feed: RedisEventFeed,
    server: redis.Redis,
    backends: BackendsFacade,
    app_key: str,
    publish: Publish,
) -> Walker:
    return Walker(lambda: TimedApi(store, feed, SECRET, TTL_SECONDS, bytes, backends), server, app_key, publish)


@pytest.mark.parametrize("variant", [variant for variant, stages in WALKED.items() if stages])
def test_no_operation_tells_a_viewer_what_is_hidden(walker: Walker, saved_games: SavedGames, variant: str) -> None:
    for stage in WALKED[variant]:
        walker.assert_blind(saved_games.at(variant, stage))
    if WALKED[variant] == stages_of(variant):
        of_games = {
            operation.id
            for rule, operation in operations(walker.api.client.application)
            if "<game>" in rule.rule or (method_of(rule) == "GET" and operation.access in ("app", "public_or_app"))
        }
        # With an open seat, a match cannot begin in which all seats are needed.
        all_needed = some_seats(variant) == variants()[variant].players.low
        never = NEVER_DONE | {"claimSeat"} | ({"startGame"} if all_needed else set())
        assert of_games - walker.done == never, "ASKED has no request that is answered"


@pytest.mark.parametrize("clock", [{"turn": 60}, {"bank": 60, "increment": 5}], ids=["turn", "bank"])
@pytest.mark.parametrize("variant", variants_in_lane())
def test_computer_players_clocks_and_absence_tell_nothing_of_what_is_hidden(
    timed_api: TimedApi, walker: Walker, variant: str, clock: dict[str, Any]
) -> None:
    seats = max(some_seats(variant), 3)
    players = [{"bot": "expert"}, *({"name": f"P{seat}"} for seat in range(1, seats))]
    table = timed_api.create(variant, players, clock=clock, absence={"then": "claim"}, pace=0, seed=SEED)
    for _ in range(seats):
        timed_api.to_turn_of_person(table)
        timed_api.make_legal_move(table)
    late = timed_api.to_turn_of_person(table)
    timed_api.set_presence(table, next(seat for seat in table.tokens if seat != late), away=True)
    for stage in ("away", "away and late"):
        saved_game = SavedGame(variant, stage, table, take_snapshot(walker.server, table.id))
        walker.assert_blind(saved_game, timed_api.clock.now)
        timed_api.clock.advance(3600)
    assert "claimSeat" in walker.done


@pytest.mark.parametrize("variant", [each for each in DRAWING if each in variants_in_lane()] or ["draw"])
def test_a_draw_shows_others_only_that_it_is_one(
    walker: Walker, api: Api, saved_games: SavedGames, variant: str
) -> None:
    table = saved_games.at(variant, "dealt").table
    drawer = seat_to_move(api.play_until_draw(table, Random(SEED)))
    before = take_snapshot(walker.server, table.id)
    game = decoded(table.id, before)
    stock = game.state.stock
    fits = bool(stock[0].mask & game.state.layout.open_mask)
    alike = [tile for tile in stock if bool(tile.mask & game.state.layout.open_mask) == fits][:3]
    told: dict[tuple[int | None, str], set[bytes]] = {}
    for top in alike:
        changed = game._replace(state=game.state._replace(stock=(top, *(tile for tile in stock if tile is not top))))
        walker.restore(table.id, before._replace(state=b"%d %b" % (game.version, encode_game(changed))))
        with ExitStack() as stack:
            streams = {}
            for viewer in viewers(table):
                token = None if viewer is None else table.tokens[viewer]
                for kind in ("text/event-stream", "application/x-ndjson"):
                    received = walker.api.ask_unchecked(
                        "GET",
                        f"{table.path}/events?view=true&text=true",
                        token=token,
                        headers={"Accept": kind, "Last-Event-ID": str(game.version)},
                        buffered=False,
                    )
                    chunks = stack.enter_context(closing(received)).iter_encoded()
                    assert b'"drew"' not in next(chunks)
                    streams[viewer, kind] = chunks
            assert walker.api.move(table, drawer, {"action": "draw"}).status_code == 201
            for who, chunks in streams.items():
                told.setdefault(who, set()).add(read_until(chunks, game.version + 1, "view"))
    for (viewer, kind), sent in told.items():
        assert all(b'"drew"' in each for each in sent)
        assert len(sent) == (len(alike) if viewer == drawer else 1), f"{kind} of {viewer}"


def half_a_round(api: Api, variant: str) -> tuple[Table, list[Any]]:
    """A first round played with keys until half of the tiles dealt are left in the hands, and the moves made."""
    for attempt in range(20):
        table = api.create(variant, some_seats(variant), seed=f"{SEED} {attempt}" if attempt else SEED)
        dealt = tiles_held(api.view(table))
        made = play_with_keys(
            api,
            table,
            Random(SEED),
            lambda view: view["status"] != "playing" or tiles_held(view) * 2 <= dealt,  # noqa: B023
        )
        if api.view(table)["status"] == "playing":
            return table, list(made)
    raise AssertionError("every round is over early")


def tiles_held(view: Json) -> int:
    return sum(player["tiles"] for player in view["players"])


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_what_is_replayed_shows_a_viewer_nothing_hidden_from_it(walker: Walker, api: Api, variant: str) -> None:
    """Views and tables at earlier versions, and the answer to a move that is sent again."""
    table, made = half_a_round(api, variant)
    snapshot = take_snapshot(walker.server, table.id)
    paths = [f"{table.path}/events?view=true&limit=1&after={after}" for after in range(1, snapshot.version, 3)]
    paths += [f"{table.path}/board.json?text=true&version={version}" for version in (2, snapshot.version // 2)]
    for seat in viewers(table):
        token = None if seat is None else table.tokens[seat]
        told = []
        for each in (snapshot, replayable_twin(table.id, snapshot, seat, Random(str(seat)))):
            walker.restore(table.id, each)
            told.append([content_of(walker.api.get(path, token=token)) for path in paths])
            for mover, move, headers, first in made:
                if mover == seat:
                    again = walker.api.move(table, mover, move, headers=headers)
                    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
                    assert again.data == first.data
        assert each != snapshot
        assert told[0] == told[1], f"earlier views tell {seat} what is hidden"


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


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=GATE_VARIANTS))
def test_no_answer_has_a_seed_a_hash_or_a_token_of_another_seat(api: Api, server: redis.Redis, variant: str) -> None:
    answers = api.keep_answers()
    table = api.create(variant, one_open_seat(variant), seed=SEED, options=shortest(variant))
    assert table.join_code is not None
    late = api.take_seat(table)
    created, joined = answers
    game = stored(server, table)
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
