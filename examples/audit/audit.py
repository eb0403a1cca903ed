"""An audit of many records: whether chance alone explains who got which tiles, who led, and who won.

Every question compares a sum over the rounds or matches with what chance expects of it, and with how far chance lets
it stray. If the tiles are shuffled honestly, each way of giving the hands of a round to its seats is as likely as any
other, whatever the rules of the game are and whichever deals they deal again. So what a seat got is compared with the
mean of the hands of the same round, and its spread is that of these hands. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import erfc, sqrt
from pathlib import Path
from typing import Final, Literal

from service.library import GAMES, Dealt, InvalidRecord, InvalidSetup, Record, Rules, read_record

Question = Literal["doubles", "pips", "leads", "wins", "people"]

QUESTIONS: Final[dict[Question, str]] = {
    "doubles": "doubles in a hand",
    "pips": "pips in a hand",
    "leads": "leads the first round",
    "wins": "wins the match",
    "people": "people who win, beside computer players",
}
JUDGED: Final = ("doubles", "pips", "leads")
"""Questions that only the shuffle answers; who wins depends on how well people play, and who leads."""
MIN_COUNT: Final = 30
"""Rounds or matches below which nothing is said of what chance allows."""
UNUSUAL: Final = 0.01
"""How often an honest pile has a question answered as unusual: all of them together, by Bonferroni's correction."""
SUFFIXES: Final = (".domino", ".txt")
"""Of the files in a folder that are read."""
ROW: Final = "{:40} {:>4} {:>8} {:>8} {:>8} {:>18}  {}"


@dataclass
class Tally:
    """A sum, what chance expects of it, its variance, and over how many rounds or matches it goes."""

    count: int = 0
    observed: float = 0.0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, observed: float, equally_likely: Sequence[float]) -> None:
        """Add what one round or match has, with all that it could have had."""
        mean = sum(equally_likely) / len(equally_likely)
        self.count += 1
        self.observed += observed
        self.expected += mean
        self.variance += sum([(each - mean) ** 2 for each in equally_likely]) / len(equally_likely)

    @property
    def chance(self) -> float:
        """How likely a sum at least as far from what is expected is."""
        return erfc(abs(self.observed - self.expected) / sqrt(2 * self.variance)) if self.variance else 1.0


@dataclass(frozen=True)
class Answer:
    """The answer to a question about a seat, per round or match; ``people`` is about all of them, without a seat.

    ``low`` and ``high`` are the bounds that chance keeps to in 95 of 100 piles; ``unusual`` is ``None`` where the
    shuffle alone does not answer the question, or too little was played.
    """

    question: Question
    seat: int | None
    count: int
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
    _seen: set[tuple[str, str | bytes]] = field(default_factory=set)
    """The matches, results and rounds that were counted."""

    def add(self, record: Record) -> bool:
        """Add a record, and return whether it is one of a game that is known, by rules that it has.

        What another record of the same match had is not counted again. A match that has neither the id of a hosted game
        nor a commitment cannot be told from others.
        """
        rules = _rules_of(record)
        if rules is None:
            return False
        match = record.game or next((each.commitment for each in record.rounds if each.commitment), b"")
        if self._is_new("match", match):
            self.matches += 1
            self.arranged += record.fairness == "arranged"
        else:
            self.repeated += 1
        if record.fairness != "arranged":
            for each in record.rounds:
                dealt = each.lines[0].event if each.lines else None
                if not isinstance(dealt, Dealt) or len({len(hand) for hand in dealt.hands}) > 1:
                    continue
                if self._is_new("round", each.commitment or b""):
                    self._add_deal(rules, dealt, is_first=each.number == 1)
        if record.result and self._is_new("result", match):
            self._add_winners(record, set(record.result))
        return True

    def _is_new(self, kind: str, identity: str | bytes) -> bool:
        """Note this kind and identity, and return whether it is new, as it always is without an identity."""
        if identity and (kind, identity) in self._seen:
            return False
        self._seen.add((kind, identity))
        return True

    def _tally(self, question: Question, seat: int | None) -> Tally:
        return self.tallies.setdefault((question, seat), Tally())

    def _add_deal(self, rules: Rules, dealt: Dealt, *, is_first: bool) -> None:
        self.rounds += 1
        self._add_shares("doubles", [sum(tile.double for tile in hand) for hand in dealt.hands])
        self._add_shares("pips", [sum(tile.low + tile.high for tile in hand) for hand in dealt.hands])
        leader = _leader(rules, dealt) if is_first else None
        if leader is not None:
            self._add_shares("leads", [int(seat == leader) for seat in range(rules.seats)])

    def _add_winners(self, record: Record, winners: set[int]) -> None:
        seats = range(len(record.players))
        self._add_shares("wins", [int(seat in winners) for seat in seats])
        people = [seat for seat in seats if record.bot_at(seat) is None]
        if 0 < len(people) < len(seats):
            # Chance turns the winners around the table, so that partners stay partners.
            turned = [len({(seat + turn) % len(seats) for seat in winners}.intersection(people)) for turn in seats]
            self._tally("people", None).add(turned[0], turned)

    def _add_shares(self, question: Question, shares: Sequence[int]) -> None:
        """Add what each seat got of something in a round or match: any order of these is equally likely."""
        for seat, share in enumerate(shares):
            self._tally(question, seat).add(share, shares)

    def answers(self) -> Iterator[Answer]:
        """Yield the answers, by question and seat."""
        judged = sum([each.count >= MIN_COUNT for (question, _), each in self.tallies.items() if question in JUDGED])
        order = list(QUESTIONS)
        for (question, seat), each in sorted(
            self.tallies.items(), key=lambda it: (order.index(it[0][0]), it[0][1] or 0)
        ):
            is_judged = question in JUDGED and each.count >= MIN_COUNT
            reach = 1.96 * sqrt(each.variance) / each.count
            expected = each.expected / each.count
            high = expected + reach
            yield Answer(
                question,
                seat,
                each.count,
                each.observed / each.count,
                expected,
                low=max(expected - reach, 0.0),
                high=min(high, 1.0) if question in ("leads", "wins") else high,
                chance=each.chance,
                unusual=each.chance < UNUSUAL / judged if is_judged else None,
            )


def audit(records: Iterable[Record]) -> Audit:
    """Return the audit of these records; those of games that are not known are left out."""
    result = Audit()
    for record in records:
        result.add(record)
    return result


def _rules_of(record: Record) -> Rules | None:
    """Return the rules that a record was played by, if they are known."""
    game = GAMES.get(record.variant)
    if game is None or game.edition != record.edition:
        return None
    try:
        return game.rules(dict(record.options), len(record.players))
    except InvalidSetup:
        return None


def _leader(rules: Rules, dealt: Dealt) -> int | None:
    """Return who leads the first round, if that follows from the hands alone: if it moves on with them."""
    leaders = set()
    for turn in range(rules.seats):
        hands = dealt.hands[-turn:] + dealt.hands[:-turn]
        opening = rules.opening(rules.start()._replace(round=1, hands=hands))
        leaders.add(None if opening is None else (opening.seat - turn) % rules.seats)
    return leaders.pop() if len(leaders) == 1 else None


def report(result: Audit, faulty: int) -> Iterator[str]:
    """Yield the answers for people."""
    matches, rounds = _number(result.matches, "match", "matches"), _number(result.rounds, "round", "rounds")
    yield f"{matches}; {rounds} of shuffled deals, whose proofs the command verify checks."
    if result.arranged:
        yield f"Of an arranged deal, which says nothing of a shuffle: {_number(result.arranged, 'match', 'matches')}."
    if result.repeated:
        yield f"Of a match that was counted already, and left out: {_number(result.repeated, 'record', 'records')}."
    if faulty:
        yield f"No record of a game that is known, and left out: {_number(faulty, 'file', 'files')}."
    yield ""
    yield ROW.format("what", "seat", "times", "observed", "expected", "chance allows", "")
    answers = list(result.answers())
    for each in answers:
        yield ROW.format(
            QUESTIONS[each.question],
            "" if each.seat is None else each.seat,
            f"{each.count:,}",
            f"{each.observed:.3f}",
            f"{each.expected:.3f}",
            f"{each.low:.3f} to {each.high:.3f}",
            _judgement(each),
        ).rstrip()
    yield ""
    if any([each.unusual for each in answers]):
        yield "Unusual: an honest shuffle gives a pile with any such answer once in a hundred times."
    elif any([each.unusual is not None for each in answers]):
        yield "Nothing is unusual: the deals are as an honest shuffle gives them."
    else:
        yield "There are too few deals to say whether the shuffle is honest."
    yield "One answer of twenty is outside of what chance allows by chance alone; that means nothing."
    yield "Who wins depends on who plays well and who leads, too, so that is told and not judged."


def _number(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _judgement(answer: Answer) -> str:
    if answer.question not in JUDGED:
        return ""
    if answer.unusual is None:
        return "too few to say"
    return f"UNUSUAL: chance {answer.chance:.1g}" if answer.unusual else "as chance has it"


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted([each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file()])
        else:
            yield path


def main(argv: Sequence[str] | None = None) -> int:
    """Audit files and folders: 0 if nothing is unusual, 1 if something is, 2 if no record could be read."""
    parser = argparse.ArgumentParser(description="Say whether chance alone explains who got which tiles.")
    parser.add_argument("files", nargs="+", type=Path, help="records, or folders with records (.domino, .txt)")
    result, faulty = Audit(), 0
    for path in _files(parser.parse_args(argv).files):
        try:
            faulty += not result.add(read_record(path.read_bytes()))
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            faulty += 1
        except InvalidRecord as error:
            print(f"{path}:{error.line}:{error.column}: {error.sentence}", file=sys.stderr)
            faulty += 1
    if not result.matches:
        print("There is no record in these files.", file=sys.stderr)
        return 2
    print("\n".join(report(result, faulty)))
    return 1 if any([each.unusual for each in result.answers()]) else 0


if __name__ == "__main__":
    sys.exit(main())
