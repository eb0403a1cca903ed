"""What is written can be read: events as text, games and events as bytes."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.deal import ArrangedDeal
from service.engine.errors import InvalidNotation
from service.engine.events import (
    Dealt,
    Done,
    Drew,
    Eliminated,
    EndReason,
    Finished,
    Flipped,
    Manche,
    Passed,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
    ScoreLine,
)
from service.engine.referee import legal_moves
from service.engine.tiles import TILES, parse_tile
from service.engine.variants import variants
from service.engine.view import DrewView, RecordedDeal, RecordedEvent, view_for_record
from service.games.model.game import Game, rules_for
from service.games.model.game_events import Created, EventEnvelope, GameEvent, Joined
from service.games.model.seats import Seat, Seats
from service.games.store.codec import decode_event, decode_game, encode_event, encode_game
from service.records.notation.events import format_event, scan_event
from service.records.notation.scanner import Scanner
from tests.laws.matches import Match, law, steady

pytestmark = pytest.mark.quick

# The store's bytes


def hosted(match: Match) -> Game:
    """The match as a game somebody hosts, with a bit of everything that a game can have."""
    deals = [event for event in match.events if isinstance(event, Dealt)]
    humans = [Seat("human", f"Ádám {seat} \u0000 🁡", bytes([seat] * 32)) for seat in match.seats]
    return Game(
        id="an id",
        variant=variants()[match.case.key],
        options=dict(match.case.options),
        rules=rules_for(match.case.key, dict(match.case.options), len(match.seats)),
        seats=Seats((*humans[:-1], match.rng.choice([Seat("open"), Seat("bot", "greedy"), humans[-1]]))),
        join_hash=match.rng.choice([None, b"\xff" * 32]),
        arranged=match.rng.choice([True, False]),
        deck=match.deck._replace(arranged=tuple([ArrangedDeal(deal.hands, deal.stock) for deal in deals])),
        version=len(match.events),
        created_at=1_764_000_000_000,
        updated_at=1_764_000_000_001,
        round_ends=tuple([at for at, event in enumerate(match.events, 1) if isinstance(event, RoundEnded)]),
        state=match.steps[0].before,
    )


@law()
def test_the_bytes_of_a_game_give_the_game(match: Match) -> None:
    game = hosted(match)
    for state in match.some_states(8):
        kept = game._replace(state=state)
        assert decode_game(kept.id, kept.version, encode_game(kept)) == kept


@law()
def test_the_bytes_of_an_event_give_the_event(match: Match) -> None:
    joined: list[GameEvent] = [Created(), Joined(len(match.seats) - 1, "")]
    for version, event in enumerate(joined + list(match.events), 1):
        to_act = match.rng.choice([(), (version % 13,), tuple(match.seats)])
        data = encode_event(event, 90_061_001 * version, to_act)
        assert decode_event(version, 1_764_000_000_000, data) == EventEnvelope(
            version, 1_764_000_000_000 + 90_061_001 * version, event, to_act
        )


@law(matches=10)
def test_a_game_read_from_its_bytes_goes_on_as_it_would_have(match: Match) -> None:
    for step in match.some_steps(10):
        game = hosted(match)._replace(state=step.before)
        read = decode_game(game.id, game.version, encode_game(game))
        for seat in match.seats:
            assert legal_moves(read.rules, read.state, seat) == legal_moves(match.rules, step.before, seat)


# The notation


def parsed(line: str, round_number: int) -> RecordedEvent:
    """The event that a whole line of that round tells."""
    scanner = Scanner(line)
    event = scan_event(scanner, round_number)
    scanner.end()
    return event


@law()
def test_the_text_of_an_event_gives_the_event(match: Match) -> None:
    for viewer in (None, *match.seats):
        number = 0
        for event in match.events:
            number += isinstance(event, Dealt)
            for over in (True, False):
                seen = view_for_record(event, viewer, over=over)
                assert parsed(format_event(seen), number) == seen


ROUND = st.just(3)
"""No line names its round."""
seats = st.integers(0, 12)
numbers = st.integers(-(10**15) + 1, 10**15 - 1)
tiles = st.sampled_from(TILES)
hands = st.lists(tiles, max_size=4).map(tuple)
seen_hands = hands | st.integers(1, 10**15 - 1)
ends = st.sampled_from(["left", "right", "e1", "e10", "e123"])
maybe_numbers = st.none() | numbers
maybe_seats = st.none() | seats
anything = st.text(st.characters(exclude_categories=()))
marks = st.sampled_from([None, True])
hands_left = st.builds(RemainingHand, seats, hands, numbers)
rounds = st.builds(
    RoundResult,
    number=ROUND,
    ended_by=st.sampled_from(get_args(EndReason)),
    hands=st.lists(hands_left, min_size=1, max_size=4).map(tuple),
    scores=st.lists(numbers, min_size=1, max_size=4).map(tuple),
    lines=st.lists(
        st.builds(ScoreLine, seats, numbers, st.from_regex(r"[0-9A-Za-z.]+", fullmatch=True), anything), max_size=3
    ).map(tuple),
    winner=maybe_seats,
    loser=maybe_seats,
    carried=numbers,
    manche=st.none()
    | st.builds(
        Manche, st.integers(1, 9), st.lists(seats, min_size=1).map(tuple), st.sampled_from([None, "won", "chiree"])
    ),
)
any_event = st.one_of(
    st.builds(Dealt, ROUND, st.lists(hands, min_size=1, max_size=5).map(tuple), hands, st.booleans()),
    st.builds(Played, seats, tiles, st.none() | ends, st.booleans(), maybe_numbers, maybe_numbers, st.none()),
    st.builds(Played, seats, tiles, ends, st.booleans(), maybe_numbers, maybe_numbers, st.integers(0, 18)),
    st.builds(Drew, seats, tiles, marks),
    st.builds(DrewView, seats, st.none(), marks),
    st.builds(
        RecordedDeal, ROUND, st.booleans(), st.lists(seen_hands, max_size=4).map(lambda seen: (*seen, 7)), seen_hands
    ),
    st.builds(Passed, seats, marks),
    *[st.builds(kind, seats) for kind in (Done, Flipped, Eliminated)],
    st.builds(RoundEnded, rounds),
    st.builds(Finished, st.lists(seats, min_size=1, max_size=4).map(tuple)),
)


@steady
@given(any_event)
def test_every_event_can_be_written_on_one_line_and_read(event: RecordedEvent) -> None:
    line = format_event(event)
    assert line.splitlines() == [line]
    assert parsed(line, 3) == event
    assert line[0] not in "[#{(; "


def test_every_character_can_stand_on_a_line() -> None:
    for code in [*range(0x3000), 0xD800, 0xDFFF, 0xFEFF, 0x1F030, 0x10FFFF]:
        text = f"a{chr(code)}b"
        counted = RoundResult(
            number=1,
            ended_by="out",
            hands=(RemainingHand(0, (), 0),),
            scores=(0,),
            lines=(ScoreLine(0, 5, "1.8", text),),
        )
        line = format_event(RoundEnded(counted))
        assert line.splitlines() == [line]
        assert parsed(line, 1) == RoundEnded(counted)


LINES = [
    "dealt: 0-3 6-6 / - | 0-1",
    "dealt arranged: 0-3 / 1-1 | -",
    "dealt: 0-3 6-6 / ?7 / - | ?14",
    "2: 5-12>e7",
    "2: 6-6",
    "2: 0-18",
    "2: 0-1>right",
    "2: 6-6 down",
    "2: 5-12>e7 = 28 +4",
    "0: 6-6>left down",
    "2: draw 0-1",
    "2: draw ?",
    "2: draw 0-1 auto",
    "2: draw ? auto",
    "2: pass",
    "2: pass auto",
    "2: done",
    "2: flip",
    "2: eliminated",
    "finished: 0 2",
    'ended out; winner 0; loser 2; scores 0 0 64; hands 0: - = 0, 1: 0-0 1-3 = 14; lines 2: +64 2.11 "0 + 14 + 50"',
    "ended flip; carried 45; scores 0 0; hands 0: 1-2 = 3, 1: 1-2 = 3; lines -",
]


@pytest.mark.parametrize("line", LINES)
def test_events_are_written_like_this(line: str) -> None:
    assert format_event(parsed(line, 1)) == line


def test_what_the_texts_mean() -> None:
    assert parsed("0: 6-6>left down", 1) == Played(0, parse_tile("6-6"), "left", True)
    assert parsed("2: 1-6>left:6", 1) == Played(2, parse_tile("1-6"), "left", False, outer=6)
    assert parsed("2: 5-12>e7 = 28 +4", 1) == Played(2, parse_tile("5-12"), "e7", False, 4, 28)
    assert parsed("dealt arranged: 0-3 6-6 / - | 0-1", 4) == Dealt(
        4, ((parse_tile("0-3"), parse_tile("6-6")), ()), (parse_tile("0-1"),), True
    )
    assert parsed("dealt: 0-3 / ?2 | ?7", 4) == RecordedDeal(4, False, ((parse_tile("0-3"),), 2), 7)
    assert parsed("2: draw ?", 1) == DrewView(2, None)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "draw ", " draw", "Draw", "draw\n", "play", "knock", "6-5", "6/6", "06-6", "6-06", "6-6>", "6-6>e0",
        "6-6>e01", "6-6>e", "6-6>up", "6-6>LEFT", "6-6> left", "6-6 >left", "6-6>left  down", "6-6>left up", "6-6down",
        "6-6>left\n", "19-19", "6-", "-6", "6", "6-6-6", "5-12>e7 =28", "５-６", "²-3", "6-6>e१", "6-6>left>right",
        "None", "6-6 6-6", "6-6:6", "1-6>left:", "1-6>left:06", "1-6>left: 6", "1-6>left:-1", "1-6>left down:6",
    ],
)  # fmt: skip
def test_what_is_no_move_of_a_seat_is_refused(text: str) -> None:
    with pytest.raises(InvalidNotation):
        parsed(f"2: {text}", 1)


REFUSED = [  # and the place, from 0, of the first character that cannot be right
    ("", 0), ("draw", 0), ("2: drew", 3), ("2:  pass", 3), ("02: pass", 1), ("+2: pass", 0), ("2: pass ", 7),
    ("2: pass\n", 7), ("-0: pass", 0), ("２: pass", 0), ("pass", 0), ("2: 6-5", 3), ("2: 5-6 +4 = 28", 9),
    ("2: 5-6 = 28 4", 12), ("2: 5-6 = +28", 9), ("2: 5-6 = 028", 10), ("2: draw", 7), ("2: draw 1-0", 8),
    ("2: draw 0-1 0-2", 11), ("2: draw ?1", 9), ("2: 5-6>e0", 7), ("2: 5-6>e1 up", 10), ("dealt: 0-1 / 0-2", 16),
    ("dealt: 0-1 /  | 0-2", 13), ("dealt: | 0-2", 7), ("dealt - | -", 5), ("dealt Arranged: - | -", 5),
    ("dealt:  0-1 | -", 7), ("dealt: 0-19 | -", 7), ("dealt: ?0 | -", 8), ("dealt: ?07 | -", 8), ("dealt 1: - | -", 5),
    ("finished", 8), ("finished:", 9), ("finished: 0,2", 11), ("finished: ", 10), ("finished: -", 10),
    ("ended", 5), ("ended out", 9), ("ended quit; scores 0; hands 0: - = 0; lines -", 6),
    ("ended out; scores 0; hands -; lines -", 27), ("ended out; scores 0; hands 0: - = 0; lines ", 43),
    ("ended out; carried 0; scores 0; hands 0: - = 0; lines -", 19),
    ("ended out; loser 0; winner 0; scores 0; hands 0: - = 0; lines -", 20),
    ('ended out; scores 0; hands 0: - = 0; lines 0: 5 1.8 "5"', 46),
    ("ended out; scores 0; hands 0: - = 0; lines 0: +5 1.8 5", 53),
    ('ended out; scores 0; hands 0: - = 0; lines 0: +5 1.8 "5",', 56),
    ('ended out; scores 0; hands 0: - = 0; lines 0: +5 1.8 "5" x', 56),
    ('ended out; scores 0; hands 0: - = 0; lines 0: +5 1.8 "\\000041"', 54),
    ('ended out; scores 0; hands 0: - = 0; lines 0: +5 1.8 "5', 55),
    ('ended out; scores 0; hands 0: - = 0; lines 0: +5 1,8 "5"', 50),
    ("ended out; scores 0; hands 0: - = 0, ; lines -", 37), ("9" * 5000 + ": pass", 15), ("[tag]", 0),
    ("# 2: pass", 0),
]  # fmt: skip


@pytest.mark.parametrize(("line", "at"), REFUSED)
def test_what_is_no_line_is_refused_with_the_place(line: str, at: int) -> None:
    with pytest.raises(InvalidNotation) as refused:
        parsed(line, 1)
    assert refused.value.at == at


def mutilated(texts: list[str]) -> st.SearchStrategy[str]:
    """Some of these texts with a piece cut out, put in, or changed."""
    pieces = st.sampled_from([*' -+/|:;,=>"\\0123456789e\n', "  ", "down", "0-0", "\\000022", ""]) | st.text(max_size=2)
    return st.tuples(st.sampled_from(texts), st.integers(0, 200), st.integers(0, 4), pieces).map(
        lambda drawn: drawn[0][: drawn[1]] + drawn[3] + drawn[0][drawn[1] + drawn[2] :]
    )


@steady
@given(mutilated(LINES) | st.text())
def test_a_text_is_refused_or_is_the_one_spelling_of_what_it_means(text: str) -> None:
    try:
        meant = parsed(text, 1)
    except InvalidNotation:
        return
    assert format_event(meant) == text
