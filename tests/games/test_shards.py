"""Ids of games and the shards that they belong to."""

from __future__ import annotations

import os
import re
import secrets
from functools import partial
from hashlib import sha256
from typing import get_args

import pytest
from redis.crc import key_slot

from service.games.model.tokens import new_game_id
from service.games.reminders import ReminderKind
from service.redis import keys
from service.redis.shards import SHARDS, TAGS, shard_of, with_shard

SLOTS_PER_SHARD = 64


def test_an_id_lies_in_the_slot_of_its_shard() -> None:
    for _ in range(1_000):
        game = new_game_id(os.urandom)
        assert re.fullmatch(r"[A-Za-z0-9_-]{24}", game)
        shard = shard_of(game)
        assert shard is not None
        assert key_slot(keys.state(game)) == SLOTS_PER_SHARD * shard


def test_an_id_does_not_start_with_a_hyphen() -> None:
    """A command line would take it for an option; 0xf8 to 0xfb as the first byte would give one."""
    starts = [
        new_game_id(partial(lambda first, size: bytes([first, *range(1, size)]), first))[0] for first in range(256)
    ]
    assert starts.count("-") == 0
    assert set(starts) >= {"A", "z", "0", "9", "_"}


def test_an_id_keeps_its_random_characters() -> None:
    text = secrets.token_urlsafe(16)
    assert with_shard(text).startswith(text)
    assert with_shard(text) == with_shard(text)


def test_every_text_can_have_a_shard() -> None:
    """The two characters depend on the CRC of the text only; these texts have every remainder of it."""
    remainders = {key_slot(str(number).encode()) % SLOTS_PER_SHARD for number in range(10_000)}
    assert len(remainders) == SLOTS_PER_SHARD
    assert all(key_slot(with_shard(str(number)).encode()) % SLOTS_PER_SHARD == 0 for number in range(10_000))


def test_the_games_are_spread_over_all_shards() -> None:
    """From fixed bytes, as a rare result of random ones would fail."""
    counts = [0] * SHARDS
    for number in range(100 * SHARDS):
        shard = shard_of(new_game_id(partial(lambda number, size: sha256(b"%d" % number).digest()[:size], number)))
        assert shard is not None
        counts[shard] += 1
    assert min(counts) > 50
    assert max(counts) < 200


@pytest.mark.parametrize(
    "game", ["", "}", "A" * 22, "A" * 24, "ü" * 24, "\ud800" * 24, "٣" * 24, with_shard("a" * 22) + "\n", "x}:events"]
)
def test_what_is_no_id_has_no_shard(game: str) -> None:
    assert shard_of(game) is None


def test_a_text_that_is_too_short_has_no_shard_even_in_its_slot() -> None:
    short = with_shard("a" * 20)
    assert key_slot(short.encode()) % SLOTS_PER_SHARD == 0
    assert shard_of(short) is None


def test_the_keys_of_a_shard_lie_in_its_slot() -> None:
    all_sets = [*map(keys.reminder_sets, get_args(ReminderKind)), keys.HEARTBEATS]
    for sets in all_sets:
        assert [key_slot(key) for key in sets] == [SLOTS_PER_SHARD * shard for shard in range(SHARDS)]
    names = [key for sets in all_sets for key in sets]
    assert len(set(names)) == len(names) == len(all_sets) * SHARDS


def test_the_tags_never_change() -> None:
    """Reminders are stored under them: other ones would be forgotten."""
    assert (TAGS[0], TAGS[255]) == ("472_n", "170_x")
    assert sha256(" ".join(TAGS).encode()).hexdigest()[:16] == "29598cb00307517a"
