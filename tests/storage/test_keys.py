"""All keys of a game lie in one slot of a Cluster, whatever id a client sends."""

from __future__ import annotations

import secrets

import pytest
from redis.crc import key_slot

from service.redis import keys

STRANGE = ["}", "}x", "a}b", "{", "{}", "a}{b", "x}:events", "\ud800", "\0", "ü" * 300]


@pytest.mark.parametrize("game", ["5m1Gd5tIvN3vYhYkS0oJGA", *STRANGE])
def test_all_keys_of_a_game_lie_in_one_slot(game: str) -> None:
    slots = {key_slot(key) for key in (keys.state(game), keys.part(b"events", game), keys.idempotency(game, "name"))}
    assert len(slots) == 1


def test_two_games_share_no_key() -> None:
    games = ["a", "b", "a}", "{a", "a}:events", "a}:events{", "}", "\ud800", "?"]
    names = [name for game in games for name in (keys.state(game), keys.part(b"events", game))]
    assert len(set(names)) == len(names)
    assert set(keys.CHECKS).isdisjoint(names)


def test_a_strange_name_is_no_other_game() -> None:
    game = secrets.token_urlsafe(16)
    strange = [*STRANGE, f"{game}}}", f"{{{game}}}", f"{game}}}:events", f"{game}:events"]
    assert keys.state(game) not in {keys.state(each) for each in strange}
    assert not {keys.state(each) for each in strange} & {keys.part(b"events", game), keys.idempotency(game, "name")}
