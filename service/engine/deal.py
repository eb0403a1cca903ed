"""The only luck: from a seed to an order of tiles.

The shuffle can be repeated in any language:

* A *field* is a text's length in bytes as 4 bytes, big-endian, and then its UTF-8 bytes.
* The *stream* of a seed (32 bytes) is the concatenation of its blocks 0, 1, 2, …; block ``c`` is
  HMAC-SHA256 with the seed as the key, over the fields ``"domino-shuffle-1"``, round, attempt and
  ``c``, the three numbers written in decimal. Round counts from 1; attempt is 0, and one more for each
  deal of the round that the rules deal again.
* A *number below n* is the next 4 bytes of the stream as a big-endian integer r; r is skipped as long
  as it is not below the largest multiple of n up to 2³²; the number is r mod n.
* *Fisher–Yates*: the set in its order 0-0, 0-1, …, 0-n, 1-1, …, n-n; for i from the last index down to
  1, swap the tiles at i and at a number below i + 1.
* *Dealing*: in seat order each seat that is in takes its hand from the front, all its tiles at once; the
  rest is the stock, drawn from the front.

For a game arranged by a seed text, the seed is SHA-256 over the fields ``"domino-seed-1"`` and the text, in every
round. Vectors: ``tests/vectors/shuffle.json``.

Any other deal can be checked by anybody, afterwards (``SCHEME``; ``docs/fairness.md``):

* The *master* is 32 bytes from the operating system, never told. The *round's seed* is HMAC-SHA256 with the
  master as the key, over the fields ``"domino-round-seed-1"`` and round. It is told when the round is over.
* Its *commitment*, told before, is SHA-256 over the fields ``"domino-commitment-1"`` and the round's seed.
* The *shuffle's seed* is HMAC-SHA256 with the round's seed as the key, over the fields ``"domino-deal-1"``, the id of
  the game, round, the number of seats, and each seat's *client seed* in seat order (a seat without one: the empty
  text).

Must not know: who wins, or what a tile is worth.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain, count
from struct import Struct
from typing import Final, NamedTuple

from service.engine.events import DealProof
from service.engine.tiles import TILES, Tile

SCHEME: Final = "domino-deal-1"
MAX_CLIENT_SEED_CHARS: Final = 64
"""Characters of a client seed."""

_ROUND_LABEL = "domino-round-seed-1"
_COMMITMENT_LABEL = "domino-commitment-1"
_LABEL = "domino-shuffle-1"
_SEED_LABEL = "domino-seed-1"
_WORD = 1 << 32
_MULTIPLE = (0, *(_WORD - _WORD % n for n in range(1, len(TILES) + 1)))
"""By n: the largest multiple of n up to 2³²."""
_EIGHT_WORDS = Struct(">8I")

Hands = tuple[tuple[Tile, ...], ...]


class ArrangedDeal(NamedTuple):
    """A deal somebody has set: a hand a seat (empty for a seat that is out), the stock in the order of drawing."""

    hands: Hands
    stock: tuple[Tile, ...]


_SPENT = ArrangedDeal((), ())


class Deck(NamedTuple):
    """Where the tiles of a match come from: 32 secret bytes, and what else there is to it.

    Either somebody has fixed the chance: the bytes are the seed of every shuffle, and the first rounds may have deals
    ``arranged`` for them. Or the deals can be proven for the ``game`` of that id: the bytes are its master, and each
    seat may have given a client seed.
    """

    seed: bytes
    arranged: tuple[ArrangedDeal, ...] = ()
    game: str | None = None
    client_seeds: tuple[str, ...] = ()
    """In seat order; empty for a seat that has given none."""

    def discard_used(self, round_number: int) -> Deck:
        """The deck without the deals of the rounds up to this one; their places stay."""
        spent = min(round_number, len(self.arranged))
        if not spent or self.arranged[spent - 1] == _SPENT:
            return self
        return self._replace(arranged=(_SPENT,) * spent + self.arranged[spent:])

    def with_client_seed(self, seat: int, text: str) -> Deck:
        """The deck with what a seat adds to the luck of the deals to come."""
        return self._replace(client_seeds=(*self.client_seeds[:seat], text, *self.client_seeds[seat + 1 :]))

    def arranged_for(self, round_number: int) -> ArrangedDeal | None:
        """The deal set for this round, if there is one."""
        return self.arranged[round_number - 1] if round_number <= len(self.arranged) else None

    def shuffle_seed(self, round_number: int) -> bytes:
        """The seed of the shuffles of this round."""
        if self.game is None:
            return self.seed
        return shuffle_seed(round_seed(self.seed, round_number), self.game, round_number, self.client_seeds)

    def commitment(self, round_number: int) -> bytes | None:
        """What binds the seed of this round before it is told; ``None`` if the deals cannot be proven."""
        return None if self.game is None else commitment(round_seed(self.seed, round_number))

    def deal_proof(self, round_number: int, attempt: int) -> DealProof | None:
        """What the deal of this round was drawn from, if that can be proven."""
        following = self.commitment(round_number + 1)
        return None if following is None else DealProof(attempt, self.client_seeds, following)


def length_prefixed(value: str | bytes) -> bytes:
    """A text, or bytes, that cannot run into their neighbour: the length in bytes, then the bytes."""
    data = value.encode() if isinstance(value, str) else value
    return len(data).to_bytes(4, "big") + data


def seed_from_text(text: str) -> bytes:
    """The 32 bytes that a seed text stands for."""
    return sha256(length_prefixed(_SEED_LABEL) + length_prefixed(text)).digest()


@lru_cache(maxsize=1024)
def round_seed(master: bytes, round_number: int) -> bytes:
    """The seed of a round: 32 bytes that tell nothing of another round's."""
    return hmac.digest(master, length_prefixed(_ROUND_LABEL) + length_prefixed(str(round_number)), "sha256")


@lru_cache(maxsize=1024)
def commitment(seed: bytes) -> bytes:
    """What can be told of a round's seed beforehand: 32 bytes that fit no other seed and do not betray this one."""
    return sha256(length_prefixed(_COMMITMENT_LABEL) + length_prefixed(seed)).digest()


def shuffle_seed(seed: bytes, game: str, round_number: int, client_seeds: Sequence[str]) -> bytes:
    """The seed of the shuffles of a round: from the round's own, and from what every seat has added to it."""
    texts = (SCHEME, game, str(round_number), str(len(client_seeds)), *client_seeds)
    return hmac.digest(seed, b"".join(map(length_prefixed, texts)), "sha256")


def shuffle(tiles: Sequence[Tile], seed: bytes, round_number: int, attempt: int) -> tuple[Tile, ...]:
    """The tiles in the order that this seed gives to this attempt at dealing this round."""
    order = list(tiles)
    n = len(order)
    for word in chain.from_iterable(_blocks(seed, round_number, attempt)):
        if n < 2:
            break
        if word < _MULTIPLE[n]:
            j = word % n
            n -= 1
            order[n], order[j] = order[j], order[n]
    return tuple(order)


def split(order: Sequence[Tile], sizes: Sequence[int]) -> ArrangedDeal:
    """The hands taken from the front of ``order``, a size a seat, and the stock that is left."""
    hands = []
    start = 0
    for size in sizes:
        hands.append(tuple(order[start : start + size]))
        start += size
    return ArrangedDeal(tuple(hands), tuple(order[start:]))


def _blocks(seed: bytes, round_number: int, attempt: int) -> Iterator[tuple[int, ...]]:
    """The stream, a block at a time, as numbers of 4 bytes."""
    context = _length_prefixed_once(_LABEL) + _length_prefixed_once(round_number) + _length_prefixed_once(attempt)
    keyed = hmac.new(seed, context, "sha256")
    for counter in count():
        block = keyed.copy()
        block.update(_length_prefixed_once(counter))
        yield _EIGHT_WORDS.unpack(block.digest())


@lru_cache
def _length_prefixed_once(value: str | int) -> bytes:
    """The field of a value that comes again and again."""
    return length_prefixed(str(value))
