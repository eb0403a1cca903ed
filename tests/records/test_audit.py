"""``examples/audit`` says of honest piles that nothing is unusual, and of rigged ones what is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from math import isclose
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from service.library import GAMES, Dealt, Match, Record, Tile, read_record
from service.records.record import RecordedBot
from service.records.writer import format_record
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "audit"
Hands = tuple[tuple[Tile, ...], ...]


def program() -> ModuleType:
    """The example as a module."""
    spec = spec_from_file_location("audit_example", FOLDER / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look
    spec.loader.exec_module(module)
    return module


EXAMPLE = program()


@cache
def pile(game: str, count: int, seats: int | None = None, **options: int) -> tuple[Record, ...]:
    """Matches of random players, whose deals follow from their numbers."""
    seats, records = seats or GAMES[game].players[0], []
    for number in range(count):
        secret = sha256(f"{game} {number}".encode()).digest()
        match = Match(game, [f"P{seat}" for seat in range(seats)], options=options, bots={0: "random"}, secret=secret)
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


def answers(records: Sequence[Record], question: str) -> dict[int | None, Any]:
    """The answers to a question, by seat."""
    return {each.seat: each for each in EXAMPLE.audit(records).answers() if each.question == question}


def unusual(records: Sequence[Record]) -> list[tuple[str, int | None]]:
    return [(each.question, each.seat) for each in EXAMPLE.audit(records).answers() if each.unusual]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.gate
def test_of_an_honest_pile_it_prints_what_its_page_says_and_of_a_rigged_one_who_is_favoured(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```console\n(.*?)```", (FOLDER / "README.md").read_text("utf-8"), re.DOTALL)
    command, *lines = shown.splitlines()
    done = run(*command.split()[2:])
    assert (done.returncode, done.stderr) == (0, "")
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert len(lines) > 5
    assert [line for line in lines if line not in [*printed, "…"]] == []

    for number, record in enumerate(redealt(pile("block", 12, seats=4), most_doubles_first)):
        (tmp_path / f"{number}.domino").write_text(format_record(record), "utf-8")
    (tmp_path / "note.txt").write_text("not a record\n", "utf-8")
    done = run(str(FOLDER / "audit.py"), str(tmp_path), str(tmp_path / "absent"))
    assert done.returncode == 1
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
        f"{tmp_path}/note.txt:1:1",
        f"{tmp_path}/absent",
    ]
    assert "12 matches; " in done.stdout
    assert "left out: 2 files.\n" in done.stdout
    named = [line.split()[:5] for line in done.stdout.splitlines() if "UNUSUAL" in line]
    assert ["doubles", "in", "a", "hand", "0"] in named


@pytest.mark.nightly
@pytest.mark.parametrize("game", sorted(GAMES))
def test_nothing_is_unusual_in_an_honest_pile(game: str) -> None:
    found = EXAMPLE.audit(pile(game, 40))
    assert found.rounds >= EXAMPLE.MIN_COUNT
    assert not [each for each in found.answers() if each.unusual]


@pytest.mark.nightly
def test_a_shuffle_that_favours_a_seat_is_named() -> None:
    records = pile("block", 20, seats=4)
    assert unusual(records) == []
    assert ("doubles", 0) in unusual(redealt(records, most_doubles_first))
    assert ("pips", 3) in unusual(redealt(records, light_hands_last))


@pytest.mark.nightly
def test_who_leads_is_asked_where_it_follows_from_the_hands_alone() -> None:
    assert [each.count for each in answers(pile("block", 3), "leads").values()] == [3, 3]
    assert answers(pile("latin", 3, first_lead="any"), "leads") == {}
    assert sum(each.observed for each in answers(pile("latin", 3), "leads").values()) == 1


@pytest.mark.nightly
def test_sums_are_those_of_the_hands() -> None:
    records = pile("domino", 2)
    deals = [each.lines[0].event for record in records for each in record.rounds if each.lines]
    pips = [
        [sum(tile.low + tile.high for tile in hand) for hand in deal.hands] for deal in deals if isinstance(deal, Dealt)
    ]
    for seat, answer in answers(records, "pips").items():
        assert seat is not None
        assert answer.count == len(pips) > 2
        assert isclose(answer.observed, sum(each[seat] for each in pips) / len(pips))
        assert isclose(answer.expected, sum(sum(each) / 2 for each in pips) / len(pips))
        assert answer.low < answer.expected < answer.high
    assert answers(records, "people")[None].count == 2
    assert sum(each.observed for each in answers(records, "wins").values()) == 1


@pytest.mark.nightly
def test_little_is_not_judged_and_arranged_deals_are_left_out() -> None:
    found = EXAMPLE.audit(pile("dominospiel", 1))
    assert {each.unusual for each in found.answers()} == {None}
    arranged = read_record(Match("block", ["Ada", "Bo"], seed="a").record())
    result = EXAMPLE.Audit()
    assert result.add(arranged)
    assert (result.matches, result.arranged, result.rounds) == (1, 1, 0)
    said = "\n".join(EXAMPLE.report(result, 0))
    assert "an arranged deal, which says nothing of a shuffle: 1 match.\n" in said
    assert "too few deals to say" in said
    assert "Nothing is unusual" not in said
    for unknown in ({"variant": "mah-jongg"}, {"edition": 99}, {"players": ("Ada",)}):
        assert not result.add(replace(arranged, **unknown))


@pytest.mark.nightly
def test_a_match_of_several_records_counts_once() -> None:
    """Whichever comes first: all of it, only its first round, or its head."""
    whole = pile("block", 1)[0]
    first_round = replace(whole, rounds=whole.rounds[:1], result=None)
    head = replace(whole, rounds=(), result=None)
    once = EXAMPLE.audit([whole])
    assert once.rounds > 1
    for records in ([whole] * 3, [first_round, whole, head], [head, whole, first_round]):
        found = EXAMPLE.audit(records)
        assert (found.matches, found.repeated, found.rounds) == (1, 2, once.rounds)
        assert list(found.answers()) == list(once.answers())
    alike = [replace(whole, game=f"spring tournament, match {number}", rounds=()) for number in range(3)]
    assert (EXAMPLE.audit(alike).matches, EXAMPLE.audit(alike).repeated) == (3, 0)
    others = EXAMPLE.audit([whole, *pile("block", 2)])
    assert (others.matches, others.repeated) == (2, 1)


@pytest.mark.nightly
def test_partners_win_together_and_opponents_do_not() -> None:
    """Two people of four: as partners both win or neither does, as opponents exactly one of them wins."""
    record = pile("latin", 1)[0]
    winner, partner = record.result or ()
    for people, spread in (({0, 2}, 1), ({0, 1}, 0)):
        bots = tuple([RecordedBot(seat, "greedy", 1) for seat in range(4) if seat not in people])
        answer = answers([replace(record, bots=bots, game=f"match {number}") for number in range(4)], "people")[None]
        assert answer.observed == len({winner, partner} & people)
        assert answer.expected == 1
        assert answer.high - answer.expected == pytest.approx(1.96 * spread / 2)


@pytest.mark.nightly
def test_without_a_record_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert EXAMPLE.main([str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""
