"""A table to test rules at: deals in one line, moves by name, and every move checked three ways.

A *deal* is a text a hand, ``"0-0 0-1 …"``; the ``…`` fills the hand up with tiles that nobody named, in
the order of the set. What is left of them is the stock, behind the tiles that the stock names.

A *move* is ``draw``, ``pass``, ``done``, ``flip`` or ``deal``, or a tile and where it goes:

===============  ===========================================================
``3-5``          its one legal place (or the lead)
``3-5@left``     the end of that name
``3-5@1-3``      the end whose host is 1-3
``3-5@3-3.long`` a long side of 3-3, the first of them that accepts it
``3-3@1-3!``     face down
``1-6@left:6``   with the 6 outside, where a tile may lie either way
===============  ===========================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest

from service.engine.deal import ArrangedDeal, Deck, seed_from_text, shuffle, split
from service.engine.errors import IllegalMove, InvalidSetup, NotYourTurn, Refusal
from service.engine.events import Event, Played, RoundEnded, RoundResult
from service.engine.layout import Gate, Layout, empty_layout
from service.engine.moves import ACTIONS, Move
from service.engine.referee import advance, apply, deal, legal_moves
from service.engine.state import PLAYING, State
from service.engine.tiles import Tile, parse_tile, sort_tiles
from service.engine.variant import Rules, Variant
from service.engine.variants import variants

COUNTING_ENDS: Final = ("all-fives", "fido", "fives-and-threes")
"""The games in which ends are counted."""
SCORING_PLAYS: Final = (*COUNTING_ENDS, "bergen")
"""The games in which plays score."""

AnEvent = TypeVar("AnEvent", bound=Event)


def tiles(text: str) -> tuple[Tile, ...]:
    return tuple([parse_tile(name) for name in text.split()])


def names(held: Iterable[Tile]) -> str:
    return " ".join([tile.name for tile in held])


def variant(key: str) -> Variant:
    return variants()[key]


def assert_players(key: str, low: int, high: int, **options: object) -> None:
    """The game is for so many players, and for no others, with these options."""
    assert variant(key).players[0] <= low <= high <= variant(key).players[1]
    for players in range(30):
        if low <= players <= high:
            assert variant(key).rules(options, players).seats == players
        else:
            assert complaints(key, players, **options)


def complaints(key: str, players: int, **options: object) -> set[str]:
    """Return the fields that are named when such a game is refused."""
    with pytest.raises(InvalidSetup) as refusal:
        variant(key).rules(options, players)
    return set(refusal.value.errors)


def assert_teams(key: str) -> None:
    """Four play alone, or in two teams; two and three only alone."""
    assert [variant(key).rules({}, 4).team(seat) for seat in range(4)] == [None] * 4
    assert [variant(key).rules({"teams": 2}, 4).team(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert complaints(key, 2, teams=2) == complaints(key, 3, teams=2) == {"options.teams"}


def assert_hands(key: str, sizes: range) -> None:
    """The option ``hand`` is of these sizes, as far as the tiles last."""
    for players in range(2, 5):
        for hand in range(sizes.stop + 1):
            if hand in sizes and players * hand <= 28:
                table = EngineTable(key, seats=players, hand=hand)
                assert table.held == [hand] * players
                assert (len(table.state.stock), table.rules.settings["hand"]) == (28 - players * hand, hand)
            else:
                assert complaints(key, players, hand=hand) == {"options.hand"}


def position(
    key: str, *hands: str, line: str, totals: tuple[int, ...] = (), stock: str = "", **options: Any
) -> EngineTable:
    """A table with these hands at this layout, seat 0 to move, and with these totals."""
    table = EngineTable(key, seats=len(hands), **options)
    table.lay(line)
    table.put(*hands, stock=stock)
    table.state = table.state._replace(totals=totals or (0,) * len(hands))
    return table


def assert_dealt_again(rules: Rules, seed_text: str) -> None:
    """The first deal of this seed has no double in any hand; so the second one is dealt, which has."""
    seed, size = seed_from_text(seed_text), rules.hand_size(rules.seats)
    first, second = [split(shuffle(rules.tiles, seed, 1, attempt), [size] * rules.seats) for attempt in (0, 1)]
    assert not any(tile.double for hand in first.hands for tile in hand)
    assert any(tile.double for hand in second.hands for tile in hand)
    dealt, _ = deal(rules, Deck(seed), rules.start())
    assert ([set(hand) for hand in dealt.hands], dealt.stock) == ([set(hand) for hand in second.hands], second.stock)


def arrange(rules: Rules, hands: Sequence[str], stock: str = "") -> ArrangedDeal:
    """The whole deal that these texts mean; an empty text is a seat that is out."""
    size = rules.hand_size(sum(1 for hand in hands if hand))
    named = [tile for text in (*hands, stock) for tile in tiles(text.replace("…", ""))]
    assert len(set(named)) == len(named), "a tile is named twice"
    assert set(named) <= set(rules.tiles), "a tile is not of this set"
    rest = [tile for tile in rules.tiles if tile not in named]
    dealt = []
    for text in hands:
        hand = list(tiles(text.replace("…", "")))
        while "…" in text and len(hand) < size:
            hand.append(rest.pop(0))
        assert len(hand) in (size, 0 if not text else size), f"a hand of {len(hand)} instead of {size}"
        dealt.append(tuple(hand))
    return ArrangedDeal(tuple(dealt), tiles(stock) + tuple(rest))


class EngineTable:
    """A match, dealt; ``state`` is where it stands and ``log`` all that has happened."""

    def __init__(
        self,
        key: str,
        *hands: str,
        stock: str = "",
        seats: int = 0,
        later: Sequence[Sequence[str]] = (),
        seed: str = "a table",
        **options: object,
    ) -> None:
        self.rules = variant(key).rules(options, seats or len(hands))
        deals = [arrange(self.rules, hands, stock)] if hands else []
        deals += [arrange(self.rules, each) for each in later]
        self.deck = Deck(seed_from_text(seed), tuple(deals))
        self.state: State = self.rules.start()
        self.log: list[Event] = []
        self.do(0, "deal")

    # Playing

    def do(self, seat: int, text: str) -> tuple[Event, ...]:
        """Make a move: it must be listed, then ``advance`` must give the same again, and ``apply`` the same state."""
        move = self._wanted(seat, text)
        assert self._listed(seat, move), f"{text} is not listed for seat {seat}: {legal_moves(*self._here, seat)}"
        events, state = advance(self.rules, self.deck, self.state, seat, move=move)
        assert advance(self.rules, self.deck, self.state, seat, move=move) == (events, state)
        applied = self.state
        for event in events:
            applied = apply(self.rules, applied, event)
        assert applied == state
        self.state = state
        self.log += events
        return events

    def play(self, *texts: str) -> None:
        """Make these moves in turn, by whoever is to move; a text may hold several."""
        for text in " ".join(texts).split():
            assert self.state.turn is not None, f"the round is over before {text}"
            self.do(self.state.turn, text)

    def play_out(self) -> RoundResult:
        """Bring the round to its end, always with the first legal move."""
        while self.state.phase == PLAYING:
            assert self.state.turn is not None
            move = legal_moves(*self._here, self.state.turn)[0]
            events, self.state = advance(self.rules, self.deck, self.state, self.state.turn, move=move)
            self.log += events
        return self.counted

    def put(self, *hands: str, stock: str | None = None) -> None:
        """Change what the seats hold, and the stock, for a position that would take long to reach."""
        self.state = self.state._replace(hands=tuple([sort_tiles(tiles(hand)) for hand in hands]))
        if stock is not None:
            self.state = self.state._replace(stock=tiles(stock))

    def lay(self, *texts: str) -> None:
        """Put these tiles on the table, whoever holds them and without points, likewise; seat 0 is to move then."""
        layout = empty_layout(self.rules.form)
        for text in " ".join(texts).split():
            self.state = self.state._replace(layout=layout)
            _, tile, name, face_down, *_ = self._meant(text)[0]
            assert tile is not None
            layout = self.rules.lay_tile(layout, layout.end(name), tile, 0, face_down=face_down)
        self.state = self.state._replace(layout=layout, turn=0)

    # What may not be done

    def refuses(self, seat: int, *texts: str, reason: type[Refusal] | None = None) -> None:
        """None of these moves is listed, each is refused, and nothing has changed. A bare tile: at no end at all."""
        wanted = reason or (IllegalMove if seat == self.state.turn else NotYourTurn)
        before = self.state
        for text in " ".join(texts).split():
            moves = self._meant(text)
            if moves[0].tile and "@" not in text:
                moves += [moves[0]._replace(end=end.name) for end in self.layout.ends]
            for move in moves:
                assert not self._listed(seat, move), f"{text} is listed"
                with pytest.raises(wanted):
                    advance(self.rules, self.deck, self.state, seat, move=move)
        assert self.state == before

    # Looking

    @property
    def turn(self) -> int | None:
        return self.state.turn

    @property
    def layout(self) -> Layout:
        return self.state.layout

    @property
    def held(self) -> list[int]:
        """The numbers of tiles in the hands."""
        return [len(hand) for hand in self.state.hands]

    def legal(self, seat: int | None = None) -> set[str]:
        """The actions that are listed, a play by its tile: ``{"0-1", "0-2", "done"}``."""
        who = self.state.turn if seat is None else seat
        assert who is not None
        return {move.tile.name if move.tile else move.action for move in legal_moves(*self._here, who)}

    def places(self, tile: str) -> list[str]:
        """The listed places of a tile of the mover, sorted, in the words of a move: ``["3-3.long", "left:6"]``."""
        assert self.state.turn is not None
        moves = [move for move in legal_moves(*self._here, self.state.turn) if move.tile is parse_tile(tile)]
        return sorted([self._place(move) + "!" * move.face_down for move in moves])

    def listed(self, tile: str) -> dict[str | None, tuple[int | None, int | None]]:
        """The sum of the ends and the points that a tile of the mover would bring, by the end that it joins."""
        assert self.state.turn is not None
        moves = legal_moves(*self._here, self.state.turn)
        return {move.end: (move.ends_sum, move.points) for move in moves if move.tile is parse_tile(tile)}

    def ends(self, gate: Gate = "open") -> list[int]:
        """The numbers of the ends behind this gate, sorted."""
        return sorted([end.number for end in self.layout.ends if end.gate == gate])

    def hand(self, seat: int) -> str:
        return names(self.state.hands[seat])

    def chain(self) -> str:
        """The tiles of a two-ended layout from left to right, each as it lies: ``3/1 1/1 1/2``."""
        lead = self.layout.placements[0].tile
        left = [f"{outer}/{inner}" for outer, inner in self._side("left")]
        right = [f"{inner}/{outer}" for outer, inner in self._side("right")]
        return " ".join([*left, f"{lead.low}/{lead.high}", *reversed(right)])

    @property
    def counted(self) -> RoundResult:
        """The count of the last round."""
        return self.events(RoundEnded)[-1].round

    def events(self, kind: type[AnEvent]) -> list[AnEvent]:
        return [event for event in self.log if isinstance(event, kind)]

    @property
    def last_play(self) -> Played:
        return self.events(Played)[-1]

    @property
    def scored(self) -> tuple[int | None, int | None]:
        """The sum of the ends after the last play, and its points."""
        return self.last_play.ends_sum, self.last_play.points

    # The words of a move

    @property
    def _here(self) -> tuple[Rules, State]:
        return self.rules, self.state

    def _listed(self, seat: int, move: Move) -> bool:
        """Whether a listed move is this one; a play may leave out its end or outer half if there is only one."""
        same = [
            legal
            for legal in legal_moves(*self._here, seat)
            if (legal.action, legal.tile, legal.face_down) == (move.action, move.tile, move.face_down)
            and move.end in (None, legal.end)
            and move.outer in (None, legal.outer)
        ]
        return len(same) == 1

    def _wanted(self, seat: int, text: str) -> Move:
        """The first listed move that the text can mean, else any that it can mean."""
        meant = self._meant(text)
        return next((move for move in meant if self._listed(seat, move)), meant[0])

    def _meant(self, text: str) -> list[Move]:
        if text in ACTIONS:
            return [Move(text)]
        down = text.endswith("!")
        name, _, place = text.removesuffix("!").partition("@")
        tile = parse_tile(name)
        if not place:
            return [Move("play", tile, None, down)]
        place, _, outer = place.partition(":")
        half = int(outer) if outer else None
        host, _, side = place.partition(".")
        ends = [
            end
            for end in self.layout.ends
            if end.name == host or (self.layout.placements[end.host].tile.name == host and side in ("", end.side))
        ]
        assert ends, f"there is no end like {place}"
        return [Move("play", tile, end.name, down, outer=half) for end in ends]

    def _place(self, move: Move) -> str:
        if move.end is None:
            return ""
        end = self.layout.end(move.end)
        assert end is not None
        if self.layout.is_line:
            return end.name if move.outer is None else f"{end.name}:{move.outer}"
        host = self.layout.placements[end.host].tile.name
        return host if end.side == "end" else f"{host}.{end.side}"

    def _side(self, name: str) -> list[tuple[int, int]]:
        """The tiles from this end to the lead, which is left out, each as its outer and its inner half."""
        end = self.layout.end(name)
        assert end is not None
        halves = []
        index = end.host
        while index:
            halves.append((self.layout.outer_half(index), self.layout.inner_half(index)))
            index = self.layout.placements[index].host
        return halves
