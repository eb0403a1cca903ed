"""The saved games are all there are, and a test that walks them reports every one at which it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.engine.variants import variants
from tests.api.saved_games import SavedGame, SavedGames, Walk, stages_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("variant", variants())
def test_a_match_of_each_variant_is_saved_at_every_stage_it_comes_to(saved_games: SavedGames, variant: str) -> None:
    assert saved_games.of(variant).keys() == set(stages_of(variant))


def test_a_walk_calls_a_test_at_every_stage_and_reports_each_at_which_it_fails(saved_games: SavedGames) -> None:
    called, reported = [], []

    @contextmanager
    def report(stage: str) -> Iterator[None]:
        with pytest.raises((AssertionError, pytest.fail.Exception), match=f"not {stage}"):
            yield
        reported.append(stage)

    def fail_at_two(saved_game: SavedGame) -> None:
        called.append(saved_game.stage)
        assert saved_game.stage != "early", "not early"
        if saved_game.stage == "finished":
            pytest.fail("not finished")

    Walk(saved_games.of("domino").values(), report).call(fail_at_two)
    assert set(called) == set(stages_of("domino"))
    assert reported == ["early", "finished"]
