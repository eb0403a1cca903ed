"""What the opening of a round tells about the hands that were dealt.

Asks ``rules.opening`` who would open if a seat held this tile or that. Does not depend on what happened after the
lead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from service.engine.state import Hand, State
from service.engine.tiles import Tile, sort_tiles
from service.engine.variant import Opening, Rules

_Opens = Callable[[State], Opening | None]


class OpeningHands(NamedTuple):
    """What the opener's lead tells of the hands that were dealt."""

    excluded: tuple[int, ...]
    """By seat: the tiles that it cannot have been dealt, as a set."""
    joint: bool
    """Whether a tile could be dealt to some seat only together with another one to the opener."""


def before_opening(rules: Rules, state: State) -> State:
    """The start of the running round of this state, its hands and stock empty."""
    return state._replace(
        hands=((),) * rules.seats,
        stock=(),
        layout=rules.empty_layout(),
        turn=None,
        tiles_laid=0,
        drew=False,
        went_out_first=None,
        placements_scored=(),
        opener=None,
    )


def opens(rules: Rules, start: State, hands: Sequence[Hand], opener: int, lead: Tile | None) -> bool:
    """Whether this seat opens with these hands, and may do so with this lead if there is one."""
    return _opens(rules.opening, start, tuple(hands), opener, lead)


def opening_hands(rules: Rules, start: State, opener: int, lead: Tile | None, own: Hand | None) -> OpeningHands:
    """What the lead tells; ``own``: the hand dealt to the opener if it is known.

    Neither lead nor hand: nothing about any single tile, but not every deal makes this seat the opener.
    """
    if lead is None and own is None:
        return OpeningHands((0,) * rules.seats, joint=True)
    return _opening_hands(rules.opening, rules.tiles, start, opener, lead, own)


@lru_cache(maxsize=4096)
def _opening_hands(
    opening: _Opens, tiles: Hand, start: State, opener: int, lead: Tile | None, own: Hand | None
) -> OpeningHands:
    """As ``opening_hands``. What it depends on is the same for many seats and rounds, so it is computed once."""
    base = own if own is not None else (lead,) if lead is not None else ()
    others = tuple([tile for tile in tiles if tile not in base])
    case = _Case(opening, start, opener, lead, base, others, known=own is not None)
    excluded = []
    joint = False
    for seat, eliminated in enumerate(start.eliminated_round):
        found = 0
        if not eliminated and not (case.known and seat == opener):
            for tile in case.disturbing(seat, others):
                if case.known or not case.allowed_with_another(seat, tile):
                    found |= 1 << tile.index
                else:
                    joint = True
        excluded.append(found)
    return OpeningHands(tuple(excluded), joint)


class _Case(NamedTuple):
    opening: _Opens
    start: State
    opener: int
    lead: Tile | None
    base: Hand
    """What the opener is known to hold: all of its hand if that is ``known``, else its lead."""
    others: Hand
    known: bool

    def allowed(self, seat: int, held: Hand, helping: Hand = ()) -> bool:
        """Whether the opener opens if ``seat`` holds these tiles, and the opener itself these others."""
        hands: list[Hand] = [()] * len(self.start.hands)
        hands[self.opener] = (*self.base, *helping)
        hands[seat] = sort_tiles((*hands[seat], *held))
        return _opens(self.opening, self.start, tuple(hands), self.opener, self.lead)

    def disturbing(self, seat: int, tiles: Hand) -> list[Tile]:
        """The tiles of these with any of which alone ``seat`` would keep the opener from opening as it did.

        Found by halving: tiles that do not disturb together are not looked at one by one.
        """
        if not tiles or self.allowed(seat, tiles):
            return []
        if len(tiles) == 1:
            return [tiles[0]]
        middle = len(tiles) // 2
        return self.disturbing(seat, tiles[:middle]) + self.disturbing(seat, tiles[middle:])

    def allowed_with_another(self, seat: int, tile: Tile) -> bool:
        """Whether the opener opens though ``seat`` holds this tile, if it holds one more itself, or many more."""
        helping = tuple([each for each in self.others if each is not tile])
        return self.allowed(seat, (tile,), helping) or any([self.allowed(seat, (tile,), (each,)) for each in helping])


def _opens(opening: _Opens, start: State, hands: tuple[Hand, ...], opener: int, lead: Tile | None) -> bool:
    found = opening(start._replace(hands=hands))
    return found is not None and found.seat == opener and (lead is None or lead in found.tiles)
