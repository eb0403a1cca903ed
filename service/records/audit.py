"""An audit of many records: whether chance alone explains who got which tiles, who led, and who won.

Every question compares a sum over the rounds or matches with what chance expects of it, and with how far chance lets
it stray. If the tiles are shuffled honestly, each way of giving the hands of a round to its seats is as likely as any
other, whatever the rules of the game are and whichever deals they deal again. So what a seat got is compared with the
mean of the hands of the same round, and its spread is that of these hands: nothing is assumed but that seats are alike.
Where the leader follows from the hands the engine finds out: the hands move on by a seat, and the leader with them.

A match that several records have, as both players kept one, counts once. Whether a deal follows from its seed is not
asked (``verification``): a rigged shuffle has proofs, too, if it tries seeds until one suits it.

Owns the questions and what is unusual. Does not depend on where the records come from. Keeps sums, and of each match
and round only a digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import erfc, sqrt
from typing import Final, Literal, NamedTuple

from service.engine.events import Dealt
from service.engine.referee import apply
from service.engine.variant import Rules
from service.records.record import PROVABLE, Record
from service.records.verification import rules_of

Question = Literal["doubles", "pips", "leads", "wins", "people"]

FEWEST: Final = 30
"""Rounds or matches below which nothing is said of what chance allows."""
UNUSUAL: Final = 0.01
"""How often an honest pile has a question answered as unusual: all of them together, by Bonferroni's correction."""
_DIGEST_BYTES: Final = 16
"""Enough to tell all ids and commitments apart."""
_AT_MOST_ONE: Final = ("leads", "wins")
"""Questions whose shares are between 0 and 1; no share is below 0."""
_JUDGED: Final = ("doubles", "pips", "leads")
"""Questions that only the shuffle answers; who wins depends on how well people play, and who leads."""


@dataclass
class Tally:
    """A sum, what chance expects of it, its variance, and over how many rounds or matches it goes."""

    many: int = 0
    observed: float = 0.0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, observed: float, expected: float, variance: float) -> None:
        """Add one round or match."""
        self.many += 1
        self.observed += observed
        self.expected += expected
        self.variance += variance

    @property
    def deviation(self) -> float:
        """How many standard deviations the sum is from what is expected."""
        return 0.0 if not self.variance else (self.observed - self.expected) / sqrt(self.variance)

    @property
    def chance(self) -> float:
        """How likely a sum at least as far from what is expected is."""
        return erfc(abs(self.deviation) / sqrt(2))


class Answer(NamedTuple):
    """The answer to a question about a seat, per round or match; ``people`` is about all of them, without a seat.

    ``low`` and ``high`` are the bounds that chance keeps to in 95 of 100 piles; ``unusual`` is ``None`` where the
    shuffle alone does not answer it, or too little was played.
    """

    question: Question
    seat: int | None
    many: int
    observed: float
    expected: float
    low: float
    high: float
    chance: float
    unusual: bool | None


@dataclass
class Audit:
    """The sums over the records that were added."""

    matches: int = 0
    rounds: int = 0
    arranged: int = 0
    """Matches whose deals were given, which say nothing of a shuffle."""
    repeated: int = 0
    """Records of a match that an earlier record was of, too."""
    tallies: dict[tuple[Question, int | None], Tally] = field(default_factory=dict)
    _seen: set[tuple[str, bytes]] = field(default_factory=set)
    """Of the matches, results and rounds that were counted."""

    def add(self, record: Record) -> bool:
        """Add a record; whether it is one of a game that is known, by rules that it has.

        What another record of the same match had is not counted again. A match that has neither the id of a hosted game
        nor a commitment cannot be told from others.
        """
        rules, _ = rules_of(record)
        if rules is None:
            return False
        match = record.game.encode() or next((each.commitment for each in record.rounds if each.commitment), b"")
        if self._is_new("match", match):
            self.matches += 1
            self.arranged += record.fairness != PROVABLE
        else:
            self.repeated += 1
        if record.fairness == PROVABLE:
            for each in record.rounds:
                dealt = each.lines[0].event if each.lines else None
                if not isinstance(dealt, Dealt) or len({len(hand) for hand in dealt.hands}) > 1:
                    continue
                if self._is_new("round", each.commitment or b""):
                    self._add_deal(rules, replace(dealt, round=each.number))
        if record.result and self._is_new("result", match):
            self._add_winners(record, set(record.result))
        return True

    def _is_new(self, kind: str, identity: bytes) -> bool:
        """Count this kind and identity, and return whether it is new, as it always is without an identity."""
        key = (kind, sha256(identity).digest()[:_DIGEST_BYTES])
        if identity and key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _tally(self, question: Question, seat: int | None) -> Tally:
        return self.tallies.setdefault((question, seat), Tally())

    def _add_deal(self, rules: Rules, dealt: Dealt) -> None:
        self.rounds += 1
        self._add_shares("doubles", [sum(tile.double for tile in hand) for hand in dealt.hands])
        self._add_shares("pips", [sum(tile.low + tile.high for tile in hand) for hand in dealt.hands])
        leader = _leader(rules, dealt) if dealt.round == 1 else None
        if leader is not None:
            self._add_shares("leads", [int(seat == leader) for seat in range(rules.seats)])

    def _add_winners(self, record: Record, winners: set[int]) -> None:
        seats = range(len(record.players))
        self._add_shares("wins", [int(seat in winners) for seat in seats])
        people = [seat for seat in seats if record.bot_at(seat) is None]
        if 0 < len(people) < len(seats):
            # Chance turns the winners around the table, so that partners stay partners.
            turned = [len({(seat + turn) % len(seats) for seat in winners}.intersection(people)) for turn in seats]
            mean, variance = _spread(turned)
            self._tally("people", None).add(turned[0], mean, variance)

    def _add_shares(self, question: Question, shares: Sequence[int]) -> None:
        """Add what each seat got of something in a round or match: any order of these is equally likely."""
        mean, variance = _spread(shares)
        for seat, share in enumerate(shares):
            self._tally(question, seat).add(share, mean, variance)

    def answers(self) -> Iterator[Answer]:
        """Yield the answers, by question and seat."""
        judged = sum([each.many >= FEWEST for (question, _), each in self.tallies.items() if question in _JUDGED])
        order = ("doubles", "pips", "leads", "wins", "people")
        for (question, seat), each in sorted(
            self.tallies.items(), key=lambda it: (order.index(it[0][0]), it[0][1] or 0)
        ):
            unusual = None
            if question in _JUDGED and each.many >= FEWEST:
                unusual = each.chance < UNUSUAL / judged
            reach = 1.96 * sqrt(each.variance) / each.many
            expected = each.expected / each.many
            yield Answer(
                question,
                seat,
                each.many,
                each.observed / each.many,
                expected,
                max(expected - reach, 0.0),
                min(expected + reach, 1.0) if question in _AT_MOST_ONE else expected + reach,
                each.chance,
                unusual,
            )


def audit(records: Iterable[Record]) -> Audit:
    """Return the audit of these records; those of games that are not known are left out."""
    result = Audit()
    for record in records:
        result.add(record)
    return result


def _spread(shares: Sequence[int]) -> tuple[float, float]:
    """Return the mean and the variance of these, each as likely as any other."""
    mean = sum(shares) / len(shares)
    return mean, sum([(share - mean) ** 2 for share in shares]) / len(shares)


def _leader(rules: Rules, dealt: Dealt) -> int | None:
    """Return who leads the first round, if that follows from the hands alone: if it moves on with them."""
    hands, leaders = dealt.hands, []
    for moved in range(rules.seats):
        around = replace(dealt, proof=None, hands=(*hands[-moved:], *hands[:-moved]) if moved else hands)
        leader = apply(rules, rules.start(), around).turn
        leaders.append(None if leader is None else (leader - moved) % rules.seats)
    return leaders[0] if len(set(leaders)) == 1 else None
