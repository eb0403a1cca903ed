"""What is kept of a game beside its facts, against what they say when they are looked at anew."""

from __future__ import annotations

from service.games.model.clock import deadline_of
from service.games.model.game import Game
from service.games.model.seats import Seats


def assert_kept_facts(game: Game) -> None:
    kinds = [seat.kind for seat in game.seats]
    seats = range(len(kinds))
    assert game.seats.people == {seat for seat in seats if kinds[seat] == "human"}
    assert game.seats.are_open == ("open" in kinds)

    state, clock = game.state, game.clock
    waits = "open" in kinds or state.round == 0
    assert game.status == ("waiting" if waits else state.phase)
    if waits:
        assert game.to_act == ()
    elif state.phase == "playing":
        assert game.to_act == (state.turn,)
    else:
        in_match = [seat for seat in seats if not state.eliminated_round[seat]]
        assert list(game.to_act) == (in_match if state.phase == "round_over" else [])
    if waits or clock is None:
        assert game.deadline is None
    else:
        anew = Seats(game.seats)
        assert game.deadline == deadline_of(game.running_clock, clock, state, game.presence, seats=anew)
