"""An audit says of honest piles that nothing is unusual, and of rigged ones what is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from math import isclose
from pathlib import Path
from random import Random

import pytest

from service.engine.events import Dealt
from service.engine.tiles import Tile
from service.library import GAMES, Match, read_record
from service.records.audit import FEWEST, Answer, Audit, audit
from service.records.record import Record, RecordedBot
from service.records.writer import format_record
from tests.support import lanes
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.quick_and_gate

ROOT = Path(__file__).parents[2]
Hands = tuple[tuple[Tile, ...], ...]


@cache
def pile(game: str, many: int, seats: int | None = None, **options: int) -> tuple[Record, ...]:
    """Matches of random players, whose deals follow from their numbers."""
    records = []
    count = seats or GAMES[game].players[0]
    for number in range(many):
        secret = sha256(f"{game} {seats} {number}".encode()).digest()
        match = Match(game, [f"P{seat}" for seat in range(count)], options=options, bots={0: "random"}, secret=secret)
        while not match.is_over:
            match.play(match.to_act[0], match.choose(match.to_act[0], "random"))
        records.append(read_record(match.record()))
    return tuple(records)


def redealt(records: Sequence[Record], rig: Callable[[Hands, Random], Hands]) -> list[Record]:
    """The same records with other hands; their moves fit no longer, which an audit does not look at."""
    random, changed = Random(1), []
    for record in records:
        rounds = []
        for each in record.rounds:
            first = each.lines[0] if each.lines else None
            if first is not None and isinstance(first.event, Dealt):
                event = replace(first.event, hands=rig(first.event.hands, random))
                each = each._replace(lines=(first._replace(event=event), *each.lines[1:]))  # noqa: PLW2901
            rounds.append(each)
        changed.append(replace(record, rounds=tuple(rounds)))
    return changed


def unusual(records: Sequence[Record]) -> list[tuple[str, int | None]]:
    return [(each.question, each.seat) for each in audit(records).answers() if each.unusual]


def most_doubles_first(hands: Hands, random: Random) -> Hands:
    """A dealer who gives seat 0 the hand with the most doubles, every other time."""
    if random.random() < 0.5:
        return hands
    best = max(hands, key=lambda hand: sum(tile.double for tile in hand))
    return (best, *[hand for hand in hands if hand is not best])


def light_hands_last(hands: Hands, random: Random) -> Hands:
    """A dealer who gives the last seat the lightest hand, every other time."""
    if random.random() < 0.5:
        return hands
    light = min(hands, key=lambda hand: sum(tile.low + tile.high for tile in hand))
    return (*[hand for hand in hands if hand is not light], light)


@pytest.mark.parametrize("game", lanes.in_lane(sorted(GAMES), quick=["block", "latin", "fido"]))
def test_nothing_is_unusual_in_an_honest_pile(game: str) -> None:
    found = audit(pile(game, 40 if lanes.current() == "nightly" else 12))
    assert found.rounds >= FEWEST or GAMES[game].key == "fido"
    assert not [each for each in found.answers() if each.unusual]


def test_a_shuffle_that_favours_a_seat_is_named() -> None:
    records = pile("block", 20, seats=4)
    assert unusual(records) == []
    assert ("doubles", 0) in unusual(redealt(records, most_doubles_first))
    rigged = unusual(redealt(records, light_hands_last))
    assert ("pips", 3) in rigged


def test_who_leads_is_asked_where_it_follows_from_the_hands_alone() -> None:
    def leads(game: str, **options: object) -> list[Answer]:
        records = pile(game, 3, **options)
        return [each for each in audit(records).answers() if each.question == "leads"]

    assert [each.many for each in leads("block")] == [3, 3]
    assert leads("latin", first_lead="any") == []
    assert sum(each.observed for each in leads("latin")) == 1


def test_sums_are_those_of_the_hands() -> None:
    records = pile("domino", 2)
    answers = {(each.question, each.seat): each for each in audit(records).answers()}
    deals = [
        each.lines[0].event
        for record in records
        for each in record.rounds
        if each.lines and isinstance(each.lines[0].event, Dealt)
    ]
    pips = [[sum(tile.low + tile.high for tile in hand) for hand in deal.hands] for deal in deals]
    for seat in (0, 1):
        answer = answers["pips", seat]
        assert answer.many == len(deals)
        assert isclose(answer.observed, sum(each[seat] for each in pips) / len(deals))
        assert isclose(answer.expected, sum(sum(each) / 2 for each in pips) / len(deals))
        assert answer.low < answer.expected < answer.high
    assert answers["people", None].many == 2
    assert sum(answers["wins", seat].observed for seat in (0, 1)) == 1


def test_little_is_not_judged_and_arranged_deals_are_left_out() -> None:
    found = audit(pile("dominospiel", 1))
    assert {each.unusual for each in found.answers()} == {None}
    arranged = Match("block", ["Ada", "Bo"], seed="a")
    result = Audit()
    assert result.add(read_record(arranged.record()))
    assert (result.matches, result.arranged, result.rounds) == (1, 1, 0)
    assert not result.add(replace(read_record(arranged.record()), variant="mah-jongg"))


def test_a_match_of_several_records_counts_once() -> None:
    """Whichever comes first: all of it, only its first round, or what one player has seen."""
    whole = pile("block", 1)[0]
    first_round = replace(whole, rounds=whole.rounds[:1], result=None)
    partial = read_record(format_record(replace(whole, rounds=(), result=None)))
    once = audit([whole])
    assert once.rounds > 1
    for records in ([whole] * 3, [first_round, whole, partial], [partial, whole, first_round]):
        found = audit(records)
        assert (found.matches, found.repeated, found.rounds) == (1, 2, once.rounds)
        assert list(found.answers()) == list(once.answers())
    alike = [replace(whole, game=f"spring tournament, match {number}", rounds=()) for number in range(3)]
    assert (audit(alike).matches, audit(alike).repeated) == (3, 0)
    others = audit([whole, *pile("block", 2)])
    assert (others.matches, others.repeated) == (2, 1)


@pytest.mark.gate
def test_a_reader_that_has_seen_enough_ends_the_command() -> None:
    """As ``head`` does: nothing is said of the closed pipe."""
    command = [sys.executable, "-m", "service", "audit", "docs/records"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_partners_win_together_and_opponents_do_not() -> None:
    """Two people of four: as partners both win or neither does, as opponents exactly one of them wins."""
    record = pile("latin", 1)[0]
    winner, partner = record.result or ()
    for people, spread in (({0, 2}, 1), ({0, 1}, 0)):
        bots = tuple([RecordedBot(seat, "greedy", 1) for seat in range(4) if seat not in people])
        records = [replace(record, bots=bots, game=f"match {number}") for number in range(4)]
        (answer,) = [each for each in audit(records).answers() if each.question == "people"]
        assert answer.observed == len({winner, partner} & people)
        assert answer.expected == 1
        assert answer.high - answer.expected == pytest.approx(1.96 * spread / 2)


def run(*arguments: str, stdin: Path = Path(os.devnull)) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service", "audit", *arguments]
    with stdin.open("rb") as file:
        return subprocess.run(
            command, cwd=ROOT, stdin=file, capture_output=True, text=True, timeout=PATIENCE, check=False
        )


def test_the_command_reads_folders_and_names_what_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    for number, record in enumerate(redealt(pile("block", 20, seats=4), most_doubles_first)):
        (tmp_path / "inside" / f"{number}.domino").write_text(format_record(record), "utf-8")
    (tmp_path / "note.txt").write_text("not a record\n", "utf-8")
    done = run(str(tmp_path))
    assert done.returncode == 1
    assert "note.txt:1:1: " in done.stderr
    assert "20 matches" in done.stdout
    assert "left out: 1 file.\n" in done.stdout
    assert "UNUSUAL" in done.stdout
    told = json.loads(run(str(tmp_path / "inside"), "--json").stdout)
    assert (told["matches"], told["faulty"]) == (20, 0)
    assert {"question": "doubles", "seat": 0}.items() <= told["answers"][0].items()


@pytest.mark.gate
def test_the_command_says_that_the_samples_are_honest_and_that_nothing_is_no_pile(tmp_path: Path) -> None:
    done = run("docs/records")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing is unusual" in done.stdout
    empty = run(str(tmp_path))
    assert (empty.returncode, empty.stdout) == (2, "")
    assert run(str(tmp_path / "absent")).returncode == 2


@pytest.mark.gate
def test_of_too_few_deals_the_command_says_nothing(tmp_path: Path) -> None:
    record = tmp_path / "one.domino"
    record.write_text(Match("block", ["Ada", "Bo"], seed="a").record(), "utf-8")
    done = run(str(record))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 match; 0 rounds ")
    assert "an arranged deal, which says nothing of a shuffle: 1 match.\n" in done.stdout
    assert "too few deals to say" in done.stdout
    assert "Nothing is unusual" not in done.stdout


@pytest.mark.gate
def test_the_command_reads_standard_input_and_counts_copies_once() -> None:
    sample = ROOT / "docs" / "records" / "block.domino"
    done = run("-", str(sample), stdin=sample)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 match; ")
    assert "counted already, and left out: 1 record.\n" in done.stdout
