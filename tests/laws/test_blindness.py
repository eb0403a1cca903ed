"""What a seat cannot see changes nothing of what it gets.

Two states are *twins* for a viewer when they differ only in tiles hidden from it: those of the other
hands and of the stock, as many in each as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import orjson
import pytest

from service.engine.deal import split
from service.engine.errors import Reason, Refusal
from service.engine.events import Dealt, Drew
from service.engine.moves import DRAW, Move
from service.engine.referee import advance, legal_moves
from service.engine.state import PLAYING, State
from service.engine.tiles import Tile, sort_tiles
from service.engine.view import DealtView, DrewView, event_view, view
from service.games.model.game import OWNER, Game, Ownership, Viewer
from service.games.model.seats import Seats
from service.games.model.views import view_game, view_table
from service.games.store.repository import DEFAULT_POLICY
from service.render.geometry import geometry
from service.render.layout_text import render_layout
from service.render.sentences.board import board_description
from service.render.svg import Caption, render_svg
from service.web.board.serializers import board_json
from service.web.view.serializers import game_view_json
from tests.laws.hosting import hosted
from tests.laws.matches import Match, law
from tests.support.table import Json

pytestmark = pytest.mark.gate


def twins(match: Match, state: State, viewer: int | None, many: int = 2) -> Iterator[State]:
    """Some twins of a state. Before the lead, who opens tells who holds the tile to lead with: that stays true."""
    others = [seat for seat in match.seats if seat != viewer]
    hidden = [*state.stock, *[tile for seat in others for tile in state.hands[seat]]]
    for _ in range(many):
        dealt, stock = split(
            match.rng.sample(hidden, len(hidden)),
            [0 if seat == viewer else len(state.hands[seat]) for seat in match.seats],
        )
        hands = [state.hands[seat] if seat == viewer else sort_tiles(dealt[seat]) for seat in match.seats]
        twin = state._replace(hands=tuple(hands), stock=stock)
        if state.phase == PLAYING and not state.layout.placements:
            opening = match.rules.opening(twin)
            if opening is None or opening.seat != state.turn:
                continue
        yield twin


def viewers(match: Match) -> list[int | None]:
    return [None, *match.seats]


@law()
def test_a_view_does_not_depend_on_hidden_tiles(match: Match) -> None:
    for state in match.some_states(12):
        for viewer in viewers(match):
            for twin in twins(match, state, viewer):
                assert view(match.rules, twin, viewer) == view(match.rules, state, viewer)


@law()
def test_the_owner_of_a_game_knows_what_a_spectator_knows_and_what_it_calls_the_players(match: Match) -> None:
    for state in match.some_states(4):
        game = owned(hosted(match, state))
        seen, refs = shown(game, OWNER)
        public, none = shown(game, None)
        assert seen == public
        assert (refs, none) == (["game", "a join code", *[f"ref-{seat}" for seat in match.seats]], [])
        for twin in twins(match, state, None):
            assert shown(game._replace(state=twin), OWNER) == (seen, refs)


@law()
def test_a_seat_knows_no_ref_but_its_own(match: Match) -> None:
    state = match.some_states(1)[0]
    for seat in match.seats:
        assert shown(owned(hosted(match, state)), seat)[1] == [f"ref-{seat}"]


def owned(game: Game) -> Game:
    """The same game of an application."""
    seats = tuple([each._replace(ref=f"ref-{seat}") for seat, each in enumerate(game.seats)])
    return game._replace(seats=Seats(seats), ownership=Ownership("an application", "game", "a join code"))


def shown(game: Game, viewer: Viewer) -> tuple[Json, list[str]]:
    """The view of a game without its refs and its join code, and these."""
    shown: Json = json.loads(orjson.dumps(game_view_json(view_game(game, viewer, DEFAULT_POLICY.lifetimes))))
    refs = [each.pop(name) for each in (shown, *shown["players"]) for name in ("ref", "join_code") if name in each]
    return shown, refs


@law()
def test_a_view_holds_no_tile_but_the_viewers_own_and_those_on_the_table(match: Match) -> None:
    for state in match.some_states(12):
        table = {placement.tile for placement in state.layout.placements}
        for viewer in viewers(match):
            own = set() if viewer is None else set(state.hands[viewer])
            assert set(tiles_in(view(match.rules, state, viewer))) <= own | table


def tiles_in(thing: object) -> Iterator[Tile]:
    if isinstance(thing, Tile):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from tiles_in(part)


@law()
def test_a_view_tells_all_that_its_viewer_may_know(match: Match) -> None:
    for state in match.some_states(8):
        for viewer in viewers(match):
            seen = view(match.rules, state, viewer)
            assert (seen.phase, seen.round, seen.turn) == (state.phase, state.round, state.turn)
            assert (seen.layout, seen.carry, seen.dealer) == (state.layout, state.carry, state.dealer)
            assert (seen.winners, seen.stock) == (state.winners, len(state.stock))
            assert (seen.eliminated_round, seen.next_leader) == (state.eliminated_round, state.next_leader)
            assert seen.drawable == max(0, len(state.stock) - match.rules.reserve)
            assert [player.seat for player in seen.players] == list(match.seats)
            assert [player.tiles for player in seen.players] == [len(hand) for hand in state.hands]
            assert [player.total for player in seen.players] == list(state.running_totals())
            assert [player.in_match for player in seen.players] == [not gone for gone in state.eliminated_round]
            assert [player.team for player in seen.players] == [match.rules.team(seat) for seat in match.seats]
            if viewer is None:
                assert (seen.you, seen.legal_moves) == (None, ())
                continue
            assert seen.you is not None
            rows = match.rules.rows and tuple([match.rules.rows[tile] for tile in state.hands[viewer]])
            assert seen.you == (viewer, state.hands[viewer], rows)
            assert seen.legal_moves == legal_moves(match.rules, state, viewer)


class Answer(NamedTuple):
    """What a refusal tells whoever is refused."""

    kind: type[Refusal]
    reason: Reason


def answer(match: Match, state: State, seat: int, move: Move) -> Answer | None:
    try:
        advance(match.rules, match.deck, state, seat, move=move)
    except Refusal as refusal:
        return Answer(type(refusal), refusal.reason)
    return None


def pictures(match: Match, state: State) -> tuple[str, ...]:
    """The table in all the forms in which it is shown."""
    table = view_table(hosted(match, state), 1, state.round, view(match.rules, state, None).layout)
    placed = geometry(table.layout, table.tiles_in_set, table.spread, 16)
    words = board_description(table.layout, "en")
    return (
        json.dumps(board_json(placed, version=table.version, round_number=table.round, aspect=16)),
        render_svg(placed, table.highest, Caption("The table", words, "en")),
        "\n".join(render_layout(table.layout, 80)),
    )


@law(matches=4, drawn=2)
def test_no_picture_of_the_table_depends_on_hidden_tiles(match: Match) -> None:
    for state in match.some_states(3):
        for twin in twins(match, state, None, 1):
            assert pictures(match, twin) == pictures(match, state)


@law(matches=4, drawn=2)
def test_no_picture_of_the_table_names_a_tile_that_is_not_on_it(match: Match) -> None:
    for state in match.some_states(3):
        as_json, as_svg, _ = pictures(match, state)
        named = {*re.findall(r'"(\d+-\d+)"', as_json), *re.findall(r'"(\d+-\d+)"', as_svg)}
        assert named == {placement.tile.name for placement in state.layout.placements}


@law(matches=12)
def test_no_refusal_depends_on_hidden_tiles(match: Match) -> None:
    for state in match.some_states(5):
        for seat in match.seats:
            asked = list(match.conceivable(state, seat))
            moves = [*asked[:5], *match.rng.sample(asked, 15)]
            for twin in twins(match, state, seat, 1):
                assert [answer(match, twin, seat, move) for move in moves] == [
                    answer(match, state, seat, move) for move in moves
                ]


@law()
def test_a_deal_tells_each_seat_its_own_hand_alone(match: Match) -> None:
    for step in match.steps:
        dealt = step.events[0]
        if isinstance(dealt, Dealt):
            for viewer in viewers(match):
                hand = None if viewer is None else dealt.hands[viewer]
                assert event_view(dealt, viewer) == DealtView(dealt.round, dealt.arranged, hand)


@law()
def test_a_draw_tells_its_tile_to_who_drew_it_alone(match: Match) -> None:
    for event in match.events:
        if isinstance(event, Drew):
            for viewer in viewers(match):
                tile = event.tile if viewer == event.seat else None
                assert event_view(event, viewer) == DrewView(event.seat, tile)


@law()
def test_every_other_event_is_public(match: Match) -> None:
    for event in match.events:
        if not isinstance(event, (Dealt, Drew)):
            assert all(event_view(event, viewer) == event for viewer in viewers(match))


@law()
def test_a_draw_shows_the_others_nothing_but_that_it_happened(match: Match) -> None:
    """Unless it ends the round: then all hands are shown, and what the tile was matters to the count."""
    for step in match.steps:
        first, *others = step.events
        if isinstance(first, Drew) and not others:
            again = len(step.before.stock) > 1 + match.rules.reserve
            for viewer in match.seats:
                if viewer != first.seat and again:
                    drawn = match.rng.randrange(len(step.before.stock) - match.rules.reserve)
                    stock = list(step.before.stock)
                    stock[0], stock[drawn] = stock[drawn], stock[0]
                    twin = step.before._replace(stock=tuple(stock))
                    events, after = advance(match.rules, match.deck, twin, step.seat, move=DRAW)
                    if after.turn == step.after.turn:
                        assert [event_view(event, viewer) for event in events] == [event_view(first, viewer)]
                        assert view(match.rules, after, viewer) == view(match.rules, step.after, viewer)


@law(matches=40)
def test_the_order_of_the_stock_shows_in_nothing_but_the_draws_to_come(match: Match) -> None:
    ends = [step for step in match.steps if len(step.events) > 1]
    for step in [*ends, *match.some_steps(12)]:
        if isinstance(step.events[0], Dealt):
            continue
        drawn = 1 if isinstance(step.events[0], Drew) else 0
        behind = step.before.stock[drawn:]
        stock = step.before.stock[:drawn] + tuple(match.rng.sample(behind, len(behind)))
        events, after = advance(match.rules, match.deck, step.before._replace(stock=stock), step.seat, move=step.move)
        assert events == step.events
        for viewer in viewers(match):
            assert view(match.rules, after, viewer) == view(match.rules, step.after, viewer)
