"""A sampled world is one that a seat cannot tell from the true one, and any such world is as likely as another."""

from __future__ import annotations

from service.bots.knowledge import infer
from service.bots.worlds import Sampler
from service.engine.state import PLAYING
from tests.bots.histories import agrees
from tests.bots.seen import moments
from tests.laws.matches import Match, law


@law(matches=12)
def test_a_world_agrees_with_all_that_was_seen(match: Match) -> None:
    for number, moment in enumerate(moments(match)):
        if moment.state.phase != PLAYING or number % 3:
            continue
        seat = match.rng.choice([each for each in match.seats if not moment.state.eliminated_round[each]])
        observation = moment.seen_by(match, seat)
        sampler = Sampler(match.rules, observation, infer(match.rules, observation))
        for world in (moment.state, sampler.sample(match.rng)):
            assert agrees(match.rules, observation, moment.before_deal, world), (number, seat, world is moment.state)
