"""What follows from a game is found out once for each of its versions, and is that of the version."""

from __future__ import annotations

import pytest

from service.engine.presence import Presence
from service.games.model.clock import ClockSettings, RunningClock, start_clock
from service.games.model.seats import Seat, Seats
from tests.laws.facts import assert_kept_facts
from tests.laws.hosting import hosted
from tests.laws.matches import Match, law

pytestmark = pytest.mark.gate


@law()
def test_what_is_kept_of_a_game_follows_it(match: Match) -> None:
    rng, count = match.rng, len(match.seats)
    game = hosted(match, match.steps[0].before)
    assert_kept_facts(game)
    for number, state in enumerate(match.some_states(8)):
        settings = rng.choice([None, ClockSettings(turn=60_000), ClockSettings(bank=300_000, increment=5_000)])
        clock = start_clock(settings, count)
        game = game._replace(
            state=state,
            seats=Seats([Seat(rng.choice(["human", "human", "bot"])) for _ in match.seats]),
            clock=settings,
            running_clock=RunningClock(1_000 * number, clock.banks),
            presence=Presence(frozenset(seat for seat in match.seats if rng.random() < 0.2)),
        )
        assert_kept_facts(game)
        assert_kept_facts(game.with_seat(rng.randrange(count), Seat("open")))
