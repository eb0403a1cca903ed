"""Twins of a stored game for a viewer: games that differ from it only in what the viewer cannot see.

What is hidden of a running round are the other hands, the stock and its order, the tiles that others drew, and the
seeds of later rounds; of a round that has been counted only the order of the tiles that are left, as its record is
complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from service.engine.events import Dealt, Drew
from service.engine.state import PLAYING
from service.engine.tiles import TILES, Tile, sort_tiles
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope, GameEvent
from service.games.store.checksums import with_sum
from service.games.store.codec import decode_event, encode_event, encode_game
from service.games.store.history import rebuild_game
from service.games.store.redis_store import events_of
from tests.api.saved_games import Snapshot, decoded

Swap = Callable[[Iterable[Tile]], tuple[Tile, ...]]
"""Puts other tiles in the places of some."""


def history_of(game: Game, snapshot: Snapshot) -> list[EventEnvelope]:
    """Return all events of a game."""
    events = enumerate(events_of(snapshot.events), start=1)
    return [decode_event(version, game.created_at, event) for version, event in events]


def twin(game_id: str, snapshot: Snapshot, seat: int | None, rng: Random) -> Snapshot:
    """Return a twin of a game for a seat, or for a spectator, in whose events every hidden tile is another one.

    Each event is changed for itself, so they lead to no state: it is for requests that replay none of them.
    """
    game = decoded(game_id, snapshot)
    history = history_of(game, snapshot)
    swap = next(_swaps(game, _hidden(game, seat), rng))
    began = _began(history) if game.state.phase == PLAYING else len(history)
    events = [each._replace(event=_redealt(each.event, seat, rng)) for each in history[began:]]
    return _packed(_with_tiles(game, swap, rng), [*history[:began], *events], snapshot)


def replayable_twin(game_id: str, snapshot: Snapshot, seat: int | None, rng: Random) -> Snapshot:
    """Return a twin of a game whose running round can be replayed, and gives everybody the turns that it gave them.

    The tiles that were drawn stay the same.
    """
    game = decoded(game_id, snapshot)
    history = history_of(game, snapshot)
    began = _began(history)
    drawn = {each.event.tile for each in history[began:] if isinstance(each.event, Drew)}
    versions = range(began + 1, game.version + 1)
    turns = [rebuild_game(game, history, version).state.turn for version in versions]
    for swap in _swaps(game, [tile for tile in _hidden(game, seat) if tile not in drawn], rng):
        changed = _with_tiles(game, swap, rng)
        past = list(history)
        deal = past[began].event
        assert isinstance(deal, Dealt)
        past[began] = past[began]._replace(event=_dealt(deal, [swap(hand) for hand in deal.hands], swap(deal.stock)))
        if [rebuild_game(changed, past, version).state.turn for version in versions] == turns:
            return _packed(changed, past, snapshot)
    raise AssertionError("swaps never end")


def _began(history: Sequence[EventEnvelope]) -> int:
    """Return the place of the deal of the last round."""
    return max(place for place, each in enumerate(history) if isinstance(each.event, Dealt))


def _hidden(game: Game, seat: int | None) -> list[Tile]:
    """Return the tiles of which the seat does not know where they are."""
    others = [hand for other, hand in enumerate(game.state.hands) if other != seat]
    hands = others if game.state.phase == PLAYING else []
    return [*[tile for hand in hands for tile in hand], *game.state.stock]


def _swaps(game: Game, pool: Sequence[Tile], rng: Random) -> Iterator[Swap]:
    """Shuffle these tiles, again and again. Who opens a round is public, so the same seat still does."""
    state = game.state
    while True:
        swapped = dict(zip(pool, rng.sample(pool, len(pool)), strict=True))

        def swap(tiles: Iterable[Tile], swapped: dict[Tile, Tile] = swapped) -> tuple[Tile, ...]:
            return tuple([swapped.get(tile, tile) for tile in tiles])

        hands = tuple([sort_tiles(swap(hand)) for hand in state.hands])
        opening = None if state.turn is None else game.rules.opening(state._replace(hands=hands))
        if state.layout.placements or opening is None or opening.seat == state.turn:
            yield swap


def _with_tiles(game: Game, swap: Swap, rng: Random) -> Game:
    """Return the game with other tiles, and with another seed unless that of a counted round follows from it."""
    state = game.state
    hands = tuple([sort_tiles(swap(hand)) for hand in state.hands])
    is_revealed = game.deck.game is not None and (state.round > 1 or state.phase != PLAYING)
    deck = game.deck if is_revealed else game.deck._replace(seed=rng.randbytes(32))
    return game._replace(state=state._replace(hands=hands, stock=swap(state.stock)), deck=deck)


def _redealt(event: GameEvent, seat: int | None, rng: Random) -> GameEvent:
    """Return the event with another tile wherever it hides one from the seat."""
    if isinstance(event, Drew) and event.seat != seat:
        return replace(event, tile=rng.choice(TILES))
    if not isinstance(event, Dealt):
        return event
    others = [other for other in range(len(event.hands)) if other != seat]
    pool = [*event.stock, *[tile for other in others for tile in event.hands[other]]]
    rng.shuffle(pool)
    hands = list(event.hands)
    for other in others:
        hands[other] = tuple(pool[: len(hands[other])])
        del pool[: len(hands[other])]
    return _dealt(event, hands, tuple(pool))


def _dealt(event: Dealt, hands: Sequence[tuple[Tile, ...]], stock: tuple[Tile, ...]) -> Dealt:
    """Return the deal with these tiles, and by another attempt to shuffle, which is as secret as they are."""
    proof = event.proof and event.proof._replace(attempt=7)
    return Dealt(event.round, tuple([sort_tiles(hand) for hand in hands]), stock, event.arranged, proof)


def _packed(game: Game, events: Sequence[EventEnvelope], snapshot: Snapshot) -> Snapshot:
    """Return what the store holds of a game with these events."""
    frames = [entry.partition(b" ")[0] for entry in snapshot.unpacked_events]
    entries = [
        with_sum(b"%b %b" % (frame, encode_event(each.event, each.at - game.created_at, each.to_act)))
        for frame, each in zip(frames, events, strict=True)
    ]
    return Snapshot(b"%d %b" % (game.version, encode_game(game)), entries)
