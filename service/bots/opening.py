"""The inference of dealt hands from the opening of a round.

Owns how ``rules.opening`` is asked who would open if a seat held a certain tile. Does not depend on what
happened after the lead.

For example, where the highest double opens: a seat that led 4-4 was dealt 4-4, and no seat was dealt 5-5 or 6-6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from service.engine.state import Hand, State
from service.engine.tiles import Tile
from service.engine.variant import Opening, Rules

_Opens = Callable[[State], Opening | None]

_new: Final = tuple.__new__  # as in ``layout``


class OpeningHands(NamedTuple):
    """The tiles that the opener's lead excludes from the hands that were dealt."""

    excluded: tuple[int, ...]
    """By seat: the tiles that it cannot have been dealt, as a set."""
    joint: bool
    """Whether a tile could be dealt to some seat only together with another one to the opener, or without others."""


class DealtToOpener(NamedTuple):
    """Tiles that are known to have been dealt to the opener, and whether they are its whole hand."""

    tiles: Hand
    complete: bool
    excluded: tuple[int, ...]
    """By seat: tiles that are known already not to have been dealt to it, as a set."""


def before_opening(rules: Rules, state: State) -> State:
    """Return the start of the running round of this state, its opener to move, its hands and stock empty.

    The totals are left out, so that what follows from an opening is computed once for many matches.
    """
    return state._replace(
        hands=((),) * rules.seats,
        stock=(),
        layout=rules.empty_layout(),
        turn=state.opener,
        tiles_laid=0,
        drew=False,
        went_out_first=None,
        placements_scored=(),
        totals=(0,) * rules.seats,
        carry=0,
        dealer=None,
        manche=None,
    )


def opens(rules: Rules, start: State, hands: Sequence[Hand], opener: int, *, lead: Tile | None) -> bool:
    """Return whether this seat opens with these hands, and may do so with this lead if there is one."""
    return _Question(rules.opening, rules.tiles, start, opener, lead).opens(hands)


def opening_hands(rules: Rules, start: State, opener: int, lead: Tile | None, *, dealt: DealtToOpener) -> OpeningHands:
    """Return the tiles that each seat cannot have been dealt, as the opener led ``lead`` (``None``: not yet).

    ``dealt`` has the tiles that the opener is known to have been dealt, its lead included. If there are none, no single
    tile is excluded, although not every deal makes this seat the opener.
    """
    if not dealt.tiles:
        return OpeningHands((0,) * rules.seats, joint=True)
    return _opening_hands(_Question(rules.opening, rules.tiles, start, opener, lead), dealt)


class _Question(NamedTuple):
    """The question whether ``opener`` opens with this lead, with the facts that it depends on."""

    opening: _Opens
    tiles: Hand
    start: State
    opener: int
    lead: Tile | None

    def opens(self, hands: Sequence[Hand]) -> bool:
        state: State = _new(State, (tuple(hands), *self.start[1:]))
        opening = self.opening(state)
        return opening is not None and opening.seat == self.opener and (self.lead is None or self.lead in opening.tiles)

    def opens_with(self, own: Hand, seat: int, held: Hand) -> bool:
        """Return whether the opener opens with these tiles of its own if ``seat`` holds those others."""
        hands: list[Hand] = [()] * len(self.start.hands)
        hands[self.opener] = own
        hands[seat] += held
        return self.opens(hands)

    def disturbing(self, own: Hand, seat: int, held: Hand) -> list[Tile]:
        """Return those of the tiles ``held`` with which ``seat`` would keep the opener from opening as it did.

        A single one is enough. Searches by halves: tiles that together do not disturb are not tried one by one.
        """
        if not held or self.opens_with(own, seat, held):
            return []
        if len(held) == 1:
            return [held[0]]
        middle = len(held) // 2
        return self.disturbing(own, seat, held[:middle]) + self.disturbing(own, seat, held[middle:])


class _Help:
    """Decides whether the opener may open with ``own`` and some ``others``, although a seat holds a certain tile."""

    def __init__(self, question: _Question, own: Hand, others: Hand) -> None:
        self._question = question
        self._own = own
        self._others = others
        self._hopeless: set[Tile] = set()
        """Tiles that disturb whatever single tile the opener holds besides, in the hand of any seat."""
        self._helped: set[Tile] = set()
        """Tiles that need not disturb, in the hand of any seat."""

    def is_possible(self, seat: int, tile: Tile) -> bool:
        """Return whether the opener opens, with all other tiles or one of them, though ``seat`` holds this one."""
        if tile in self._helped:
            return True
        own, opens_with = self._own, self._question.opens_with
        helping = tuple([other for other in self._others if other is not tile])
        if opens_with((*own, *helping), seat, (tile,)) or (
            tile not in self._hopeless and any(opens_with((*own, helper), seat, (tile,)) for helper in helping)
        ):
            self._helped.add(tile)
            return True
        self._hopeless.add(tile)
        return False


@lru_cache(maxsize=4096)
def _opening_hands(question: _Question, dealt: DealtToOpener) -> OpeningHands:
    """As ``opening_hands``; computed once for all seats and rounds in which the answer is the same."""
    own, complete, known = dealt
    others = tuple([tile for tile in question.tiles if tile not in own])
    help_of_others = _Help(question, own, others)
    excluded = []
    joint = False
    disturbing: list[Tile] = []
    """What disturbs if the seat asked about last holds it; for the next seat it is mostly the same."""
    for seat, eliminated in enumerate(question.start.eliminated_round):
        candidates = known[seat]
        if not eliminated and not (complete and seat == question.opener):
            doubtful = tuple([tile for tile in others if not candidates >> tile.index & 1]) if candidates else others
            likely = {
                tile
                for tile in disturbing
                if not candidates >> tile.index & 1 and not question.opens_with(own, seat, (tile,))
            }
            unlikely = tuple([tile for tile in doubtful if tile not in likely])
            disturbing = [*likely, *question.disturbing(own, seat, unlikely)]
            harmless = tuple([tile for tile in doubtful if tile not in disturbing])
            if harmless and not question.opens_with(own, seat, harmless):
                joint = True  # many of them in one hand would be dealt again (rules 11.7, 16.9)
            for tile in disturbing:
                if not complete and help_of_others.is_possible(seat, tile):
                    joint = True
                else:
                    candidates |= 1 << tile.index
        excluded.append(candidates)
    return OpeningHands(tuple(excluded), joint)
