"""Shuffling and dealing: an order of tiles from a seed. The engine has no other randomness.

Owns the shuffle, which programs in any language can reproduce:

* A *field* is the length of a text in bytes, as 4 bytes, big-endian, followed by its UTF-8 bytes.
* The *stream* of a seed (32 bytes) is the concatenation of its blocks 0, 1, 2, …; block ``c`` is
  HMAC-SHA256 with the seed as the key, over the fields ``"domino-shuffle-1"``, round, attempt and
  ``c``, the three numbers written in decimal. Round counts from 1. Attempt counts from 0; it is the
  number of deals of this round that the rules have rejected.
* A *number below n*: take the next 4 bytes of the stream as a big-endian integer r. If r is not below
  the largest multiple of n up to 2³², skip it and take the next 4 bytes. The number is r mod n.
* *Fisher–Yates*: the set in its order 0-0, 0-1, …, 0-n, 1-1, …, n-n; for i from the last index down to
  1, swap the tiles at i and at a number below i + 1.
* *Dealing*: in seat order, each seat still in the match gets its whole hand from the front; the rest is
  the stock, drawn from the front.

In a game created with a seed text, the seed is SHA-256 over the fields ``"domino-seed-1"`` and the text, in every
round. Vectors: ``tests/vectors/shuffle.json``.

Deals that are neither seeded nor arranged can be verified after the round (``SCHEME``; ``docs/fairness.md``):

* The *master* is 32 bytes from the operating system, never published. The *round's seed* is HMAC-SHA256 with the
  master as the key, over the fields ``"domino-round-seed-1"`` and round. It is published when the round is over.
* Its *commitment*, published before the deal, is SHA-256 over the fields ``"domino-commitment-1"`` and the round's
  seed.
* The *shuffle's seed* is HMAC-SHA256 with the round's seed as the key, over the fields ``"domino-deal-1"``, the id of
  the game, round, the number of seats, and each seat's *client seed* in seat order (the empty text for a seat without
  one).

The *decision seed* of a computer player is HMAC-SHA256 with the round's seed (in an arranged or seeded game, the
shuffle's seed) as the key, over the fields ``"domino-bot-1"``, seat, and the version of the game before the decision.
Anybody with the published seed can repeat every decision.

Does not depend on the rules of any game.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import count
from struct import Struct
from typing import Final, NamedTuple

from service.engine.tiles import TILES, Tile

SCHEME: Final = "domino-deal-1"
MAX_CLIENT_SEED_CHARS: Final = 64

_WORD = 1 << 32
_MULTIPLE = (0, *(_WORD - _WORD % n for n in range(1, len(TILES) + 1)))
"""For each n: the largest multiple of n up to 2³²."""
_EIGHT_WORDS = Struct(">8I")

Hands = tuple[tuple[Tile, ...], ...]


class ArrangedDeal(NamedTuple):
    """A deal that was fixed before the match, not shuffled."""

    hands: Hands
    """In seat order; empty for an eliminated seat."""
    stock: tuple[Tile, ...]
    """The next tile to draw is the first."""


_USED = ArrangedDeal((), ())
"""Replaces the arranged deal of a round that has been dealt."""


class Deck(NamedTuple):
    """The source of the deals of a match, of one of two kinds.

    * Fixed, without a ``game``: ``seed`` is the seed of every shuffle; the first rounds can have ``arranged`` deals.
    * Verifiable, with the id of a ``game``: ``seed`` is the master, and each seat can have a client seed.
    """

    seed: bytes
    arranged: tuple[ArrangedDeal, ...] = ()
    game: str | None = None
    client_seeds: tuple[str, ...] = ()
    """In seat order; an empty text for a seat without one."""

    def discard_used(self, round_number: int) -> Deck:
        """Return the deck without the arranged deals of the rounds up to this one."""
        used = min(round_number, len(self.arranged))
        if not used or self.arranged[used - 1] == _USED:
            return self
        return self._replace(arranged=(_USED,) * used + self.arranged[used:])

    def with_client_seed(self, seat: int, text: str) -> Deck:
        """Return the deck with this client seed of a seat, for all later deals."""
        return self._replace(client_seeds=(*self.client_seeds[:seat], text, *self.client_seeds[seat + 1 :]))

    def shuffle_seed(self, round_number: int) -> bytes:
        """Return the seed of the shuffles of this round: 32 bytes."""
        if self.game is None:
            return self.seed
        return shuffle_seed(round_seed(self.seed, round_number), self.game, round_number, self.client_seeds)

    def commitment(self, round_number: int) -> bytes | None:
        """Return the commitment to the seed of this round: 32 bytes, or ``None`` if the deals cannot be verified."""
        return None if self.game is None else commitment(round_seed(self.seed, round_number))


NO_DECK: Final = Deck(b"")
"""A placeholder for ``advance`` where no round is dealt."""


def length_prefixed(*values: str | bytes | int) -> bytes:
    """Return a field for each value; numbers are written in decimal.

    Different lists of written values never give the same bytes.
    """
    data = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    return b"".join([len(part).to_bytes(4, "big") + part for part in data])


def seed_from_text(text: str) -> bytes:
    """Return the seed of a game with this seed text: 32 bytes."""
    return sha256(length_prefixed("domino-seed-1", text)).digest()


@lru_cache(maxsize=1024)
def round_seed(master: bytes, round_number: int) -> bytes:
    """Return the seed of a round: 32 bytes, from which no other round's seed can be computed."""
    return hmac.digest(master, length_prefixed("domino-round-seed-1", round_number), "sha256")


@lru_cache(maxsize=1024)
def commitment(seed: bytes) -> bytes:
    """Return the commitment to a round's seed: 32 bytes that match no other seed and do not reveal this one."""
    return sha256(length_prefixed("domino-commitment-1", seed)).digest()


def shuffle_seed(seed: bytes, game: str, round_number: int, client_seeds: Sequence[str]) -> bytes:
    """Return the seed of the shuffles of a round: 32 bytes, from the round's own seed and every seat's client seed."""
    return hmac.digest(seed, length_prefixed(SCHEME, game, round_number, len(client_seeds), *client_seeds), "sha256")


def seed_of_decision(seed: bytes, seat: int, version: int) -> bytes:
    """Return the decision seed of the computer player at this seat at this version of the game: 32 bytes."""
    return hmac.digest(seed, length_prefixed("domino-bot-1", seat, version), "sha256")


def shuffle(tiles: Sequence[Tile], seed: bytes, round_number: int, attempt: int) -> tuple[Tile, ...]:
    """Return the tiles in the order that the seed gives for this attempt to deal this round."""
    order = list(tiles)
    n = len(order)
    label = b"".join(map(_cached_field, ("domino-shuffle-1", round_number, attempt)))
    keyed = hmac.new(seed, label, "sha256")
    for counter in count():
        if n < 2:
            break
        block = keyed.copy()
        block.update(_cached_field(counter))
        for word in _EIGHT_WORDS.unpack(block.digest()):
            if word < _MULTIPLE[n]:  # never for 0: the words after the last swap are unused
                j = word % n
                n -= 1
                order[n], order[j] = order[j], order[n]
    return tuple(order)


def split(order: Sequence[Tile], sizes: Sequence[int]) -> ArrangedDeal:
    """Return the deal of these tiles: a hand of each size in seat order, and the rest as the stock."""
    hands = []
    start = 0
    for size in sizes:
        hands.append(tuple(order[start : start + size]))
        start += size
    return ArrangedDeal(tuple(hands), tuple(order[start:]))


@lru_cache
def _cached_field(value: str | int) -> bytes:
    """Return the field of a value, cached because every shuffle needs the same fields."""
    return length_prefixed(value)
