"""The stored format 1, byte for byte, and what is not of it: after a release, a change needs a new number (ADR 10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.engine.deal import ArrangedDeal, Deck
from service.engine.events import (
    DealProof,
    Dealt,
    Drew,
    Finished,
    Manche,
    Passed,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
    ScoreLine,
)
from service.engine.presence import Claimed, Presence
from service.engine.state import PlacementScore
from service.engine.tiles import TILES, parse_tile
from service.games.model.clock import ClockSettings, RunningClock
from service.games.model.game import Game, Ownership, rules_for
from service.games.model.game_events import Created, EventEnvelope, GameEvent, Joined, Renamed
from service.games.model.seats import Seats
from service.games.ports import Damaged, WrittenByNewer
from service.games.store.checksums import with_sum
from service.games.store.codec import decode_event, decode_game, encode_event, encode_game, encode_tombstone
from tests.games.tables import Hosted

PLAIN = (
    b'["AAAAAAAJ",1,"domino",[{},[["human","Ada 0","apKyAYd+scIeD0R7tdT4PCND6Wm2GWR5x+t1iTQ4uF0=",null,null],'
    b'["human","Ada 1","R+fcBTFwHwzeAKOVTTD6fjPDm986bDjA9Vjdanm+N6A=",null,null]],null,true,'
    b'["MooTdfe/WP/uOspIASc4jocoZMOD4aGvW1AQMRg3rGw=",[],null,[]],1767728000000,1767728000000,[],1,7,"AAAAAAAJ",'
    b"[],false,null,null,null,false,true,null,[[],[],null],null,[0,[],[],0,0],"
    b'"354b8b81986fe38bd1",2],[[[1,15,7,9,26],[21,11,16,13,18,24]],[4,20,27,0,6,2,12,23,14,25,22,8,19],0,0,false,null,[],"playing",1,0,[0,0],[0,0],0,null,null,[]],[[5,17,3,'
    b"10],[-1,0,0,2],[0,1,1,0],[0,1,0,1],[]],[[-1,5,1,0,0],[-2,4,3,0,0]],0]"
)
FULL = (
    b'["AAAAAAAJ",1,"domino",[{"limit":60},[["human","Ada 0","apKyAYd+scIeD0R7tdT4PCND6Wm2GWR5x+t1iTQ4uF0=",null,'
    b'"player 0"],["human","Ada 1","R+fcBTFwHwzeAKOVTTD6fjPDm986bDjA9Vjdanm+N6A=",null,"player 1"],'
    b'["bot","Rosa",null,"greedy","player 2"]],"YSBqb2luIGNvZGU=",true,'
    b'["YSBzZWVk",[[[[0],[1]],[2,3]]],"AAAAAAAAAAAAAAAAAAAAAQ_N",["a client seed","",""]],1767728000000,'
    b'1767728001000,[1,2],1,5,"AAAAAAAA",["b2YgdGhpcyByb3VuZA==","b2YgdGhlIG5leHQ="],true,["an application",'
    b'"table 7","a join code","all"],"a later game","an earlier game",false,false,300,[[1],[2],0],[null,60000,'
    b'3000,"forfeit",20000],[1767728000000,[60000,60000,57000],[1],1767728001000,1767728002000],"a network",3,true],'
    b"[[[3,15,7,5,9,26],"
    b'[21,11,16,13,18,24],[6,4,17,20,27]],[12,23,14,25,22,8,19],1,8,true,0,[[2,15,3]],"playing",6,2,[25,10,0],[0,0,3],7,3,4,[0,'
    b"1]],[[0,1,10,2],[-1,0,0,1],[0,1,1,0],[2,0,1,2],[]],[[-1,1,3,1,0],[-2,4,2,0,0]],0]"
)


def four_tiles_laid(game: Game) -> bool:
    return len(game.state.layout.placements) == 4


def plain() -> Game:
    """A game of people, with nothing that a game may lack."""
    hosted = Hosted("hh")
    hosted.play_on(four_tiles_laid)
    return hosted.game


def full() -> Game:
    """A game with all that a game may have.

    Any two fields that could be exchanged have different values, here or in ``plain``.
    """
    hosted = Hosted("hhb", ClockSettings(bank=60_000, increment=3_000, absence="forfeit"), pace=300)
    hosted.play_on(four_tiles_laid)
    hosted.now += 1_000
    hosted.leave(1)
    game = hosted.game
    seats = [seat._replace(ref=f"player {number}") for number, seat in enumerate(game.seats)]
    return game._replace(
        options={"limit": 60},
        rules=rules_for("domino", {"limit": 60}, 3),
        seats=Seats(seats),
        join_hash=b"a join code",
        deck=Deck(
            seed=b"a seed",
            arranged=(ArrangedDeal(hands=(TILES[:1], TILES[1:2]), stock=TILES[2:4]),),
            game=game.id,
            client_seeds=("a client seed", "", ""),
        ),
        round_ends=(1, 2),
        match_version=5,
        match_write_id="AAAAAAAA",
        commitments=(b"of this round", b"of the next"),
        ownership=Ownership(app="an application", ref="table 7", join_code="a join code", lobby="all"),
        rematch="a later game",
        rematch_of="an earlier game",
        spectators=False,
        presence=Presence(away=frozenset([1]), forfeited=frozenset([2]), substituted=0),
        running_clock=RunningClock(
            started=1_767_728_000_000,
            banks=(60_000, 60_000, 57_000),
            granted=frozenset([1]),
            acted=1_767_728_001_000,
            reminded=1_767_728_002_000,
        ),
        clock=ClockSettings(bank=60_000, increment=3_000, absence="forfeit", remind=20_000),
        network="a network",
        first_move=3,
        auto=True,
        state=game.state._replace(
            turn=1,
            tiles_laid=8,
            drew=True,
            went_out_first=0,
            placements_scored=(PlacementScore(seat=2, ends_sum=15, points=3),),
            round=6,
            opener=2,
            totals=(25, 10, 0),
            eliminated_round=(0, 0, 3),
            carry=7,
            next_leader=3,
            dealer=4,
            winners=(0, 1),
        ),
    )


@pytest.mark.parametrize(("make", "data"), [(plain, PLAIN), (full, FULL)])
def test_a_game_is_stored_as_these_bytes(make: Callable[[], Game], data: bytes) -> None:
    game = make()
    assert encode_game(game) == with_sum(data)
    assert decode_game(game.id, game.version, with_sum(data)) == game


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (Played(1, parse_tile("0-5"), "left", False), b"[3,65000,[0],1,15,-1,false]"),
        (
            Played(1, parse_tile("2-5"), "e7", face_down=True, points=4, ends_sum=20, outer=2),
            b"[3,65000,[0],1,17,7,true,4,20,2]",
        ),
        (
            Dealt(
                round=3,
                hands=((TILES[0],), (TILES[2], TILES[1])),
                stock=(TILES[4],),
                arranged=False,
                proof=DealProof(attempt=5, client_seeds=("", "a seed"), next_commitment=b"six"),
            ),
            b'[2,65000,[0],3,[[0],[2,1]],[4],false,[5,["","a seed"],"c2l4"]]',
        ),
        (
            RoundEnded(
                RoundResult(
                    number=6,
                    ended_by="out",
                    hands=(RemainingHand(seat=1, tiles=(TILES[4],), value=3),),
                    scores=(3, 0),
                    lines=(ScoreLine(seat=0, points=3, rule="5.7", text="3"),),
                    winner=0,
                    loser=1,
                    carried=2,
                    manche=Manche(2, (3, 0), "won"),
                )
            ),
            b'[8,65000,[0],[6,"out",[[1,[4],3]],[3,0],[[0,3,"5.7","3"]],0,1,2,[2,[3,0],"won"]]]',
        ),
        (Drew(1, TILES[4]), b"[4,65000,[0],1,4]"),
        (Drew(1, TILES[4], auto=True), b"[4,65000,[0],1,4,true]"),
        (Passed(1, auto=True), b"[5,65000,[0],1,true]"),
        (Finished((1,)), b"[10,65000,[0],[1]]"),
        (Finished((0, 1), "forfeit"), b'[10,65000,[0],[0,1],"forfeit"]'),
        (Claimed(seat=1, by=0), b"[15,65000,[0],1,0]"),
        (Created(), b"[0,65000,[0]]"),
        (Created(b"six"), b'[0,65000,[0],"c2l4"]'),
    ],
)
def test_an_event_is_stored_as_these_bytes(event: GameEvent, data: bytes) -> None:
    assert encode_event(event, 65_000, (0,)) == data
    assert decode_event(7, 1_000, data) == EventEnvelope(7, 66_000, event, (0,))


@pytest.mark.parametrize(
    ("event", "data", "read"),
    [
        (Joined(1, "Ada"), b'[1,65000,[0],1,""]', Joined(1, "")),
        (Renamed(1, "Ada"), b'[17,65000,[0],1,""]', Renamed(1, "")),
        (Renamed(1), b"[17,65000,[0],1]", Renamed(1)),
    ],
)
def test_no_event_is_stored_with_the_name_of_a_player(event: GameEvent, data: bytes, read: GameEvent) -> None:
    assert encode_event(event, 65_000, (0,)) == data
    assert decode_event(7, 1_000, data).event == read


def test_a_tombstone_is_stored_as_these_bytes() -> None:
    """Format 0, which no game has: services of every format know it."""
    assert encode_tombstone("an application") == b'[0,"an application"]4539cfae'


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PLAIN.replace(b'",1,', b'",2,', 1), id="the fields of format 1"),
        pytest.param(PLAIN[:-1].replace(b'",1,', b'",2,', 1) + b",null]", id="one more field"),
        pytest.param(b'["AAAAAAAJ",2,{"write":"AAAAAAAJ"}]', id="other fields"),
        pytest.param(b'["AAAAAAAJ",3]', id="none"),
        pytest.param(b"[2]", id="another head"),
    ],
)
def test_a_game_of_another_format_is_of_a_newer_service(data: bytes) -> None:
    with pytest.raises(WrittenByNewer):
        decode_game("a game", 7, with_sum(data))


@pytest.mark.parametrize("stored", [with_sum(PLAIN), encode_tombstone("an application")])
def test_a_game_of_which_one_bit_was_changed_is_none(stored: bytes) -> None:
    for place in range(8 * len(stored)):
        damaged = bytearray(stored)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(Damaged):
            decode_game("a game", 7, bytes(damaged))
    for length in range(len(stored)):
        with pytest.raises(Damaged):
            decode_game("a game", 7, stored[:length])


@pytest.mark.parametrize("data", [b"[99,65000,[0],1]", b"[99,65000]", b"[99]"])
def test_an_event_of_an_unknown_type_is_of_a_newer_service(data: bytes) -> None:
    with pytest.raises(WrittenByNewer):
        decode_event(7, 1_000, data)
