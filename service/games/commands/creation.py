"""A new game: its seats with their tokens, its deck, and its first deal once no seat is open.

Owns the initial state of a game.
"""

from __future__ import annotations

from typing import NamedTuple

from service.engine.deal import Deck, seed_from_text
from service.engine.presence import Left
from service.engine.referee import deal
from service.engine.state import State
from service.engine.variants import variants
from service.games.commands.validation import GameRequest, free_name, is_taken
from service.games.model.clock import start_clock
from service.games.model.game import Game, Ownership, rules_for
from service.games.model.game_events import GameEvent
from service.games.model.results import SeatToken
from service.games.model.seats import BOT_NAMES, HUMAN, OPEN_SEAT, Seat, Seats
from service.games.model.tokens import hash_secret, new_join_code, new_token
from service.games.ports import RandomBytes


class NewGame(NamedTuple):
    """A game without events, the tokens of its seats, and the join code if a seat is open."""

    game: Game
    tokens: tuple[SeatToken, ...]
    join_code: str | None


class Secrets(NamedTuple):
    """What the secrets of a new game are made from.

    Tokens and the join code are made from ``token_bytes``, the seed of the deals from ``seed_bytes``.
    """

    token_bytes: RandomBytes
    seed_bytes: RandomBytes


def new_game(request: GameRequest, state: State, secrets: Secrets, *, game_id: str, now: int) -> NewGame:
    """Return the requested game, beginning from ``state``, with the network as it is stored.

    ``now`` in ms since 1970.
    """
    variant, token_bytes = variants()[request.variant], secrets.token_bytes
    tokens = tuple(
        [
            SeatToken(seat, each.name, new_token(token_bytes))
            for seat, each in enumerate(request.seats)
            if each.kind == HUMAN and each.name is not None
        ]
    )
    hashes = {each.seat: hash_secret(each.token) for each in tokens}
    has_open = any(each.kind == OPEN_SEAT for each in request.seats)
    join_code = new_join_code(token_bytes) if has_open else None
    game = Game(
        id=game_id,
        variant=variant,
        options=request.options,
        rules=rules_for(variant.key, request.options, len(request.seats)),
        seats=Seats(
            [
                Seat(each.kind, name, hashes.get(seat), each.level, each.ref)
                for seat, (each, name) in enumerate(zip(request.seats, _names(request), strict=True))
            ]
        ),
        join_hash=None if join_code is None else hash_secret(join_code),
        arranged=request.arranged,
        deck=_deck(request, game_id, secrets.seed_bytes),
        version=0,
        created_at=now,
        updated_at=now,
        round_ends=(),
        state=state,
        edition=variant.edition,
        unique_names=request.unique_names,
        spectators=request.spectators,
        auto=request.auto,
        pace=request.pace,
        clock=request.clock,
        running_clock=start_clock(request.clock, len(request.seats)),
        ownership=None if request.app is None else Ownership(request.app, request.ref, join_code, request.lobby),
        network=request.network,
    )
    return NewGame(game._replace(is_automatic=game.is_set_up_automatic), tokens, join_code)


def _names(request: GameRequest) -> list[str | None]:
    """Return the names in seat order.

    A computer player gets the first name of the list that nobody else at the table has.
    """
    names: list[str | None] = [each.name for each in request.seats]
    for seat, each in enumerate(request.seats):
        if each.level is not None:
            free = next((name for name in BOT_NAMES if not is_taken(name, names)), None)
            names[seat] = free or free_name(BOT_NAMES[0], names)
    return names


def deal_if_full(game: Game, events: list[GameEvent]) -> tuple[Game, list[GameEvent]]:
    """Return the game with its first round dealt, unless it continues a record, and the events with this deal.

    A person who was erased before is away from then on. Both unchanged if a seat is open.
    """
    if game.seats.are_open:
        return game, events
    if not game.state.round:
        dealt, state = deal(game.rules, game.deck, game.state)
        game, events = game._replace(state=state, deck=game.deck.discard_used(state.round)), [*events, dealt]
    erased = [seat for seat in sorted(game.seats.erased()) if not game.state.eliminated_round[seat]]
    return game._replace(is_automatic=game.is_automatic or bool(erased)), [*events, *map(Left, erased)]


def _deck(request: GameRequest, game_id: str, random_bytes: RandomBytes) -> Deck:
    """Return the deck of the requested game, with the given seed or a random one."""
    seed = random_bytes(32) if request.seed is None else seed_from_text(request.seed)
    if request.arranged:
        return Deck(seed, request.deals)
    return Deck(seed, game=game_id, client_seeds=tuple([each.client_seed or "" for each in request.seats]))
