"""Rules are built once for options and a number of seats; values that are equal, but not the same, are told apart."""

from __future__ import annotations

import pytest

from service.engine.errors import InvalidSetup
from service.games.model.game import rules_for


def test_rules_are_built_once() -> None:
    assert rules_for("fido", {"rounds": 2}, 3) is rules_for("fido", {"rounds": 2}, 3)
    assert rules_for("fido", {"rounds": 2}, 3) is not rules_for("fido", {"rounds": 2}, 4)


def test_true_is_refused_where_one_was_accepted() -> None:
    assert rules_for("fido", {"rounds": 1}, 3).settings["rounds"] == 1
    with pytest.raises(InvalidSetup) as refused:
        rules_for("fido", {"rounds": True}, 3)
    assert list(refused.value.errors) == ["options.rounds"]
