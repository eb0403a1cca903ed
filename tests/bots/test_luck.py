"""The luck of a deal: it belongs to the hands, and follows from the deal alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.events import Dealt
from service.engine.referee import apply, deal
from service.engine.variants import variants
from service.learning.analysis import luck_of, results
from tests.engine.table import tiles
from tests.support.lanes import GATE_VARIANTS, in_lane

pytestmark = pytest.mark.gate

OPTIONS: dict[str, dict[str, str]] = {"fives-and-threes": {"opening": "highest_double"}}
"""Options with which the hands say who opens, and not the seat; in the other games they do by default."""


@pytest.mark.parametrize("game", in_lane(sorted(variants()), gate=(*GATE_VARIANTS, *OPTIONS)))
def test_who_exchanges_seats_exchanges_the_luck(game: str) -> None:
    """Each seat gets the hand of the next one, and with it that seat's luck: all that differs is who is called what."""
    rules = variants()[game].rules(OPTIONS.get(game, {}), variants()[game].players[0])
    made, state = deal(rules, Deck(seed_from_text("luck")), rules.start())
    turned = replace(made, hands=(*made.hands[1:], made.hands[0]))
    here, there = luck_of(rules, made, state), luck_of(rules, turned, apply(rules, rules.start(), turned))
    assert there.points == pytest.approx((*here.points[1:], here.points[0]))
    assert there.spreads == pytest.approx((*here.spreads[1:], here.spreads[0]))
    assert any(here.points)


def test_luck_follows_from_the_deal_and_not_from_what_it_was_made_of() -> None:
    rules, state = variants()["block"].rules({}, 2), variants()["block"].rules({}, 2).start()
    proven, opened = deal(rules, Deck(bytes(32), game="a game", client_seeds=("", "")), state)
    bare = replace(proven, proof=None, arranged=True)
    assert proven.proof is not None
    assert luck_of(rules, proven, opened) == luck_of(rules, bare, apply(rules, state, bare))


def test_a_result_that_the_deal_decides_is_all_luck() -> None:
    """Who leads the only tile of a hand is out."""
    rules = variants()["block"].rules({}, 2)
    made = Dealt(1, (tuple(tiles("6-6")), tuple(tiles("0-1 2-3"))), (), arranged=True)
    luck = luck_of(rules, made, apply(rules, rules.start(), made))
    assert (luck.points, luck.spreads) == ((6, -6), (0, 0))


def test_who_is_out_of_the_match_has_no_luck() -> None:
    rules = variants()["menschenwolf"].rules({}, 3)
    assert results(rules, (0, 2), (30, 0, 0)) == (-30, 0, 30)
