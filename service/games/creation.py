"""A new game: its seats with their tokens, its deck, and its first deal once nobody is still to come.

Owns what a game begins as. Must not know the store, nor whether what is asked can be played
(``service.games.validation``).
"""

from __future__ import annotations

from typing import NamedTuple

from service.engine.deal import Deck, seed_from_text
from service.engine.referee import apply, deal
from service.engine.state import State
from service.engine.variant import Variant
from service.games.game import HUMAN, OPEN_SEAT, Game, GameEvent, Seat
from service.games.ports import RandomBytes
from service.games.results import SeatToken
from service.games.tokens import hash_secret, new_join_code, new_token
from service.games.validation import GameRequest


class NewGame(NamedTuple):
    """A game in which nothing has happened yet, and the secrets that open it."""

    game: Game
    tokens: tuple[SeatToken, ...]
    join_code: str | None


def create_game(
    request: GameRequest,
    variant: Variant,
    state: State,
    *,
    game_id: str,
    now: int,
    draw: RandomBytes,
    secrets: RandomBytes,
) -> NewGame:
    """The game that is asked for, to begin from ``state``; ``now`` in milliseconds since 1970.

    Tokens and code come from ``draw``, the seed of the deals from ``secrets``.
    """
    tokens = tuple(
        [
            SeatToken(seat, each.name, new_token(draw))
            for seat, each in enumerate(request.seats)
            if each.kind == HUMAN and each.name is not None
        ]
    )
    hashes = {each.seat: hash_secret(each.token) for each in tokens}
    has_open = any(each.kind == OPEN_SEAT for each in request.seats)
    join_code = new_join_code(draw) if has_open else None
    game = Game(
        id=game_id,
        variant_key=variant.key,
        options=request.options,
        seats=tuple([Seat(each.kind, each.name, hashes.get(seat)) for seat, each in enumerate(request.seats)]),
        join_hash=None if join_code is None else hash_secret(join_code),
        arranged=request.arranged,
        deck=_deck(request, game_id, secrets),
        version=0,
        created_at=now,
        updated_at=now,
        round_ends=(),
        state=state,
        edition=variant.edition,
    )
    return NewGame(game, tokens, join_code)


def deal_if_full(game: Game, events: list[GameEvent]) -> tuple[Game, list[GameEvent]]:
    """The game with its first round dealt, unless somebody is still to come, or it goes on from a record."""
    if game.has_open_seats or game.state.round:
        return game, events
    dealt = deal(game.rules, game.deck, game.state)
    state = apply(game.rules, game.state, dealt)
    return game._replace(state=state, deck=game.deck.discard_used(state.round)), [*events, dealt]


def _deck(request: GameRequest, game_id: str, secrets: RandomBytes) -> Deck:
    """Where the tiles of a game come from that is asked for."""
    seed = secrets(32) if request.seed is None else seed_from_text(request.seed)
    if request.arranged:
        return Deck(seed, request.deals)
    return Deck(seed, game=game_id, client_seeds=tuple([each.client_seed or "" for each in request.seats]))
