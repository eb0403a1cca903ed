"""The saved games that other tests of this folder are parametrised by are all there are."""

from __future__ import annotations

import pytest

from service.engine.variants import variants
from tests.api.saved_games import SavedGames, stages_of


@pytest.mark.parametrize("variant", variants())
def test_a_match_of_each_variant_is_saved_at_every_stage_it_comes_to(saved_games: SavedGames, variant: str) -> None:
    assert saved_games.of(variant).keys() == set(stages_of(variant))
