"""The stored format 1, byte for byte, and what is not of it: after a release, a change needs a new number (ADR 10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.engine.events import Played
from service.engine.tiles import parse_tile
from service.games.model.clock import ClockSettings
from service.games.model.game import EventEnvelope, Game, GameEvent, Joined, Ownership, Renamed
from service.games.model.seats import Remote, Seats
from service.games.store.codec import (
    NewerFormat,
    decode_event,
    decode_game,
    encode_event,
    encode_game,
    encode_tombstone,
)
from tests.games.tables import Hosted

PLAIN = (
    b'[1,"AAAAAAAJ","domino",1,{},1767728000000,1767728000000,'
    b'[["human","Ada 0","apKyAYd+scIeD0R7tdT4PCND6Wm2GWR5x+t1iTQ4uF0="],'
    b'["human","Ada 1","R+fcBTFwHwzeAKOVTTD6fjPDm986bDjA9Vjdanm+N6A="]],'
    b'null,true,"MooTdfe/WP/uOspIASc4jocoZMOD4aGvW1AQMRg3rGw=",[],null,[],[],'
    b"[1,1,[[1,15,7,9,26],[21,11,16,13,18,24]],[4,20,27,0,6,2,12,23,14,25,22,8,19],"
    b"[[5,17,3,10],[-1,0,0,2],[0,1,1,0],[0,1,0,1],[]],[[-1,5,1,0,0],[-2,4,3,0,0]],"
    b'0,0,0,0,0,null,[],[0,0],[0,0],0,null,null,[]],0,"",false,null,null,null,true,null]'
)
FULL = (
    b'[1,"AAAAAAAJ","domino",1,{},1767728000000,1767728000000,'
    b'[["human","Ada 0","apKyAYd+scIeD0R7tdT4PCND6Wm2GWR5x+t1iTQ4uF0="],'
    b'["human","Ada 1","R+fcBTFwHwzeAKOVTTD6fjPDm986bDjA9Vjdanm+N6A="],["remote","Greedy",null]],'
    b'null,true,"MooTdfe/WP/uOspIASc4jocoZMOD4aGvW1AQMRg3rGw=",[],null,[],[],'
    b"[1,1,[[3,15,7,5,9,26],[21,11,16,13,18,24],[6,4,17,20,27]],[12,23,14,25,22,8,19],"
    b"[[0,1,10,2],[-1,0,0,1],[0,1,1,0],[2,0,1,2],[]],[[-1,1,3,1,0],[-2,4,2,0,0]],"
    b'0,0,0,0,2,null,[],[0,0,0],[0,0,0],0,null,null,[]],1,"AAAAAAAI",true,'
    b'[[null,null,null],300,[null,60000,3000,"forfeit"],[1],[],null,'
    b"[1767728000000,[60000,60000,60000],[],1767728000000]],"
    b'["an application","table 7","a join code","all",["player 0","player 1","player 2"],'
    b'[null,null,["https://club.example/bot","c2VjcmV0"]]],"a game",false,"an earlier game"]'
)


def four_tiles_laid(game: Game) -> bool:
    return len(game.state.layout.placements) == 4


def plain() -> Game:
    """A game of people, with nothing that a game may lack."""
    hosted = Hosted("hh")
    hosted.play_on(four_tiles_laid)
    return hosted.game


def full() -> Game:
    """A game with a clock, a pace, a player who is away, a remote one, an application, a rematch, and no spectators."""
    hosted = Hosted("hhb", ClockSettings(bank=60_000, increment=3_000, absence="forfeit"), pace=300)
    hosted.play_on(four_tiles_laid)
    hosted.leave(1)
    game = hosted.game
    seats = [seat._replace(ref=f"player {number}") for number, seat in enumerate(game.seats)]
    seats[2] = seats[2]._replace(kind="remote", level=None, remote=Remote("https://club.example/bot", b"secret"))
    ownership = Ownership("an application", "table 7", "a join code", "all")
    return game._replace(
        seats=Seats(seats),
        ownership=ownership,
        rematch="a game",
        unique_names=True,
        spectators=False,
        rematch_of="an earlier game",
    )


@pytest.mark.parametrize(("make", "data"), [(plain, PLAIN), (full, FULL)])
def test_a_game_is_stored_as_these_bytes(make: Callable[[], Game], data: bytes) -> None:
    game = make()
    assert encode_game(game) == data
    assert decode_game(game.id, game.version, data) == game


def test_an_event_is_stored_as_these_bytes() -> None:
    event, data = Played(1, parse_tile("0-5"), "left", False), b"[3,65000,[0],1,15,-1,0]"
    assert encode_event(event, 65_000, (0,)) == data
    assert decode_event(7, 1_000, data) == EventEnvelope(7, 66_000, event, (0,))


@pytest.mark.parametrize(
    ("event", "data", "read"),
    [
        (Joined(1, "Ada"), b"[1,65000,[0],1,1]", Joined(1, "")),
        (Renamed(1, "Ada"), b"[17,65000,[0],1,1]", Renamed(1, "")),
        (Renamed(1), b"[17,65000,[0],1]", Renamed(1)),
    ],
)
def test_no_event_is_stored_with_the_name_of_a_player(event: GameEvent, data: bytes, read: GameEvent) -> None:
    assert encode_event(event, 65_000, (0,)) == data
    assert decode_event(7, 1_000, data).event == read


def test_a_tombstone_is_stored_as_these_bytes() -> None:
    """Format 0, which no game has: services of every format know it."""
    assert encode_tombstone("an application") == b'[0,"an application"]'


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[2" + PLAIN[2:], id="the fields of format 1"),
        pytest.param(b"[2" + PLAIN[2:-1] + b",null]", id="one more field"),
        pytest.param(b'[2,{"write":"AAAAAAAJ"}]', id="other fields"),
        pytest.param(b"[3]", id="none"),
    ],
)
def test_a_game_of_another_format_is_of_a_newer_service(data: bytes) -> None:
    with pytest.raises(NewerFormat):
        decode_game("a game", 7, data)


@pytest.mark.parametrize("data", [b"[99,65000,[0],1]", b"[99,65000]", b"[99]"])
def test_an_event_of_an_unknown_type_is_of_a_newer_service(data: bytes) -> None:
    with pytest.raises(NewerFormat):
        decode_event(7, 1_000, data)
