"""The waiting room of a game: free seats, fill seats, begin the match, deal the first round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.engine.errors import InvalidSetup, Reason
from service.engine.presence import Left
from service.engine.referee import deal
from service.games.model.clock import start_clock
from service.games.model.errors import SeatsTaken
from service.games.model.game import Game, rules_for
from service.games.model.game_events import Filled, Freed, GameEvent, Started
from service.games.model.seats import BOT, OPEN_SEAT, Room, Seat, Seats, bot_name

Change = tuple[Game, list[GameEvent]]
"""The changed game, and the events that led to it."""


def deal_if_full(game: Game, events: Sequence[GameEvent]) -> Change:
    """Deal the first round if no seat is open; return the game, and the events followed by the deal.

    A game that continues a record is already dealt. Erased players are away from the beginning.
    """
    events = list(events)
    if game.seats.are_open:
        return game, events
    if game.ownership is not None and game.ownership.join_code is not None:
        game = game._replace(ownership=game.ownership._replace(join_code=None))  # nobody needs it any more
    if not game.state.round:
        dealt, state = deal(game.rules, game.deck, game.state)
        game, events = game._replace(state=state, deck=game.deck.discard_used(state.round)), [*events, dealt]
    erased = [seat for seat in sorted(game.seats.erased()) if not game.state.eliminated_round[seat]]
    return game._replace(is_automatic=game.is_automatic or bool(erased)), [*events, *map(Left, erased)]


def check_waiting(game: Game) -> None:
    """Raise ``SeatsTaken`` unless a seat is open."""
    if not game.seats.are_open:
        raise SeatsTaken("seats_taken")


def free_seats(game: Game, seats: Iterable[int]) -> Change:
    """Return the waiting game with these seats open again, without any data of their players."""
    events: list[GameEvent] = []
    room = game.room or Room()
    for seat in seats:
        events.append(Freed(seat))
        others = tuple([entry for entry in room.freed if entry[0] != seat])
        sought = tuple([entry for entry in room.sought if entry[0] != seat])
        room = room._replace(freed=(*others, (seat, game.version + len(events))), sought=sought)
        game = game.with_seat(seat, Seat(OPEN_SEAT))
        if game.deck.client_seeds:
            game = game._replace(deck=game.deck.with_client_seed(seat, ""))
    return game._replace(room=room), events


def fill_seats(game: Game, seats: Iterable[int], level: str) -> Change:
    """Give these open seats to computer players of this level; deal the first round if no seat is open then."""
    events: list[GameEvent] = []
    for seat in seats:
        name = bot_name([player.name for player in game.seats])
        game = game.with_seat(seat, Seat(BOT, name, level=level))
        events.append(Filled(seat, name, level))
    return deal_if_full(game._replace(is_automatic=True), events)


def begin_match(game: Game) -> Change:
    """Return the game without its open seats, with the first round dealt.

    The other seats move up, which can change the teams. Raises ``InvalidSetup`` if the game cannot be played by this
    number of players, or if its deals are arranged for all seats.
    """
    occupied = tuple([seat for seat, player in enumerate(game.seats) if player.kind != OPEN_SEAT])
    if game.deck.arranged or game.state.round:
        raise InvalidSetup({"players": [Reason("deals_for_seats", {"players": len(game.seats)})]})
    rules = rules_for(game.variant.key, game.options, len(occupied))
    deck = game.deck
    if deck.client_seeds:
        deck = deck._replace(client_seeds=tuple([deck.client_seeds[seat] for seat in occupied]))
    room = (game.room or Room())._replace(began=occupied, began_at=game.version + 1, places=len(game.seats))
    game = game._replace(
        seats=Seats([game.seats[seat] for seat in occupied]),
        rules=rules,
        state=rules.start(),
        deck=deck,
        running_clock=start_clock(game.clock, len(occupied)),
        room=room,
    )
    return deal_if_full(game, [Started(occupied)])
