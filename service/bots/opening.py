"""The inference of dealt hands from the opening of a round.

For example, in a game that the highest double opens: a seat that led 4-4 was dealt 4-4, and no seat was dealt 5-5 or
6-6. Owns the hypothetical hands for which ``rules.opening`` is called. Does not depend on anything after the lead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from service.engine.state import PLAYING, Hand, State
from service.engine.tiles import Tile
from service.engine.variant import Opening, Rules
from service.engine.view import View

_new: Final = tuple.__new__  # as in ``layout``


class OpeningHands(NamedTuple):
    """The tiles that the opener's lead excludes from the dealt hands."""

    excluded: tuple[int, ...]
    """By seat: the set of tiles that it cannot have been dealt."""
    joint: bool
    """Whether some tiles are possible only together with, or only without, other tiles of the deal."""


class RoundOpening(NamedTuple):
    """The facts that decide whether the opener of a round opens with its lead; the key of the cache."""

    opening: Callable[[State], Opening | None]
    """The answer of the rules."""
    tiles: Hand
    start: State
    """The state before the opening, with empty hands and stock."""
    opener: int
    lead: Tile | None
    """The tile that the opener led; ``None`` before the lead."""

    def opens(self, hands: Sequence[Hand]) -> bool:
        """Return whether the opener opens with these hands, and may lead what it led."""
        state: State = _new(State, (tuple(hands), *self.start[1:]))
        opening = self.opening(state)
        return opening is not None and opening.seat == self.opener and (self.lead is None or self.lead in opening.tiles)

    def opens_with(self, own: Hand, seat: int, held: Hand) -> bool:
        """Return whether the opener opens with the hand ``own`` if ``seat`` also holds the tiles ``held``."""
        hands: list[Hand] = [()] * len(self.start.hands)
        hands[self.opener] = own
        hands[seat] += held
        return self.opens(hands)

    def preventing(self, own: Hand, seat: int, held: Hand) -> list[Tile]:
        """Return the tiles of ``held`` of which each alone, in the hand of ``seat``, prevents this opening.

        A binary search: tiles that do not prevent it together are not tried one by one.
        """
        if not held or self.opens_with(own, seat, held):
            return []
        if len(held) == 1:
            return [held[0]]
        middle = len(held) // 2
        return self.preventing(own, seat, held[:middle]) + self.preventing(own, seat, held[middle:])


def opening_of(rules: Rules, view: View) -> RoundOpening:
    """Return how the running round was opened, or who is to open it.

    The totals before it are zero, so that the cached inference from an opening serves many matches.
    """
    placements = view.layout.placements
    opener = placements[0].seat if placements else view.turn
    assert opener is not None
    start = rules.start()._replace(
        phase=PLAYING,
        round=view.round,
        turn=opener,
        opener=opener,
        eliminated_round=view.eliminated_round,
        next_leader=view.next_leader,
        manche=None,
    )
    return RoundOpening(rules.opening, rules.tiles, start, opener, placements[0].tile if placements else None)


class DealtToOpener(NamedTuple):
    """The known facts about the deal before an inference."""

    tiles: Hand
    """Tiles that the opener was certainly dealt."""
    complete: bool
    """Whether these are its whole hand."""
    excluded: tuple[int, ...]
    """By seat: the set of tiles that it certainly was not dealt."""


class _Help:
    """Decides whether more tiles in the opener's hand make the opening possible although a seat holds a certain tile.

    The opener holds ``own``, and perhaps some of ``others``.
    """

    def __init__(self, opening: RoundOpening, own: Hand, others: Hand) -> None:
        self._opening = opening
        self._own = own
        self._others = others
        self._hopeless: set[Tile] = set()
        """Tiles that prevent the opening, in any other hand, whichever single tile the opener holds in addition."""
        self._helped: set[Tile] = set()
        """Tiles that do not prevent the opening, in any other hand, if the opener holds certain tiles in addition."""

    def is_possible(self, seat: int, tile: Tile) -> bool:
        """Return whether the opener can open although ``seat`` holds ``tile``, if it holds one or all of ``others``."""
        if tile in self._helped:
            return True
        own, opens_with = self._own, self._opening.opens_with
        helping = tuple([other for other in self._others if other is not tile])
        if opens_with((*own, *helping), seat, (tile,)) or (
            tile not in self._hopeless and any(opens_with((*own, helper), seat, (tile,)) for helper in helping)
        ):
            self._helped.add(tile)
            return True
        self._hopeless.add(tile)
        return False


@lru_cache(maxsize=4096)
def opening_hands(opening: RoundOpening, dealt: DealtToOpener) -> OpeningHands:
    """Return the tiles that each seat cannot have been dealt; cached for all seats and rounds with the same arguments.

    ``dealt`` includes the lead in the opener's tiles. Without any known tile of the opener, no single tile can be
    excluded, although not every deal makes this seat the opener.
    """
    own, complete, known_excluded = dealt
    if not own:
        return OpeningHands((0,) * len(known_excluded), joint=True)
    others = tuple([tile for tile in opening.tiles if tile not in own])
    support = _Help(opening, own, others)
    excluded = []
    joint = False
    preventing: list[Tile] = []
    """The tiles that prevent the opening in the hand of the previous seat. For the next seat most are the same."""
    for seat, eliminated in enumerate(opening.start.eliminated_round):
        impossible = known_excluded[seat]
        if not eliminated and not (complete and seat == opening.opener):
            doubtful = tuple([tile for tile in others if not impossible >> tile.index & 1]) if impossible else others
            likely = {
                tile
                for tile in preventing
                if not impossible >> tile.index & 1 and not opening.opens_with(own, seat, (tile,))
            }
            unlikely = tuple([tile for tile in doubtful if tile not in likely])
            preventing = [*likely, *opening.preventing(own, seat, unlikely)]
            harmless = tuple([tile for tile in doubtful if tile not in preventing])
            if harmless and not opening.opens_with(own, seat, harmless):
                joint = True  # a hand with many of these tiles would have been dealt again (rules 11.7, 16.9)
            for tile in preventing:
                if not complete and support.is_possible(seat, tile):
                    joint = True
                else:
                    impossible |= 1 << tile.index
        excluded.append(impossible)
    return OpeningHands(tuple(excluded), joint)
