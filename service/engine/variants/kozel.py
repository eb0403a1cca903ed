"""Kozel, the goat: draw until a tile fits, the pips left in hand are points, a side at the limit loses (rules 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options
from service.engine.rules.common_options import teams_option, with_defaults
from service.engine.rules.ending import doubles_after_a_double, total_reached
from service.engine.rules.opening import first_held, highest_double_or_heaviest, last_winner, winner_or_same_leader
from service.engine.rules.scoring import format_sum, round_result, side_number, values_by_side
from service.engine.state import Hand, State
from service.engine.tiles import double, double_set, pips
from service.engine.variant import Alias, Opening, PlayerRange, Rules, Variant, one_tile

_SET: Final = double_set(6)
_TEAM_SEATS: Final = 4
_FIRST_LEADS: Final = tuple([double(number) for number in (1, 2, 3, 4, 5, 6, 0)])
"""The doubles that must lead the first round, in this order (rules 11.3)."""
_MAX_DOUBLES: Final = 4
_MAX_OF_A_NUMBER: Final = 5
"""The most doubles, and tiles of one number, that a hand may have with ``redeal`` (rules 11.7)."""


def _build(options: Options, seats: int) -> Rules:
    settings = with_defaults(options, seats, len(_SET), teams=2 if seats == _TEAM_SEATS else 0)
    teams = settings["teams"]
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: settings["hand"] if players == seats else 0,
        opening=_opening_or_redeal if settings["redeal"] else _opening,
        may_follow=doubles_after_a_double if settings["two_doubles"] else one_tile,
        hand_value=_hand_value(settings["lone_blank"], settings["lone_six"]),
        score_round=_Scoring(teams, settings["open_at"], settings["eggs"]).result,
        match_end=total_reached(settings["limit"], "lowest"),
        carries="loser" if settings["eggs"] else None,
        leads_next=winner_or_same_leader,
        deals_again=settings["redeal"],
        teams=teams,
    )


def _opening(state: State) -> Opening | None:
    """Let 1-1 lead round 1, else 2-2, … 6-6, 0-0, else the heaviest tile; later any tile (rules 11.3, 11.4)."""
    if state.round > 1:
        return last_winner(state)
    return first_held(state, _FIRST_LEADS) or highest_double_or_heaviest(state)


def _opening_or_redeal(state: State) -> Opening | None:
    """Choose as ``_opening``, but deal again if a hand has too many doubles or tiles of a number (rules 11.7)."""
    for hand in state.hands:
        numbers = Counter([number for tile in hand for number in {tile.low, tile.high}])
        if sum([tile.double for tile in hand]) > _MAX_DOUBLES or max(numbers.values(), default=0) > _MAX_OF_A_NUMBER:
            return None
    return _opening(state)


def _hand_value(lone_blank: int, lone_six: int) -> Callable[[Hand], int]:
    """Return ``Rules.hand_value``: the pips, but other values for a hand of only 0-0 or only 6-6 (rules 11.9)."""
    lone = {(double(0),): lone_blank, (double(6),): lone_six}
    return lambda hand: lone[hand] if hand in lone else pips(hand)


class _Scoring(NamedTuple):
    """The scoring of a round (rules 11.10, 11.11, 11.13). A blocked round is called a fish."""

    teams: int
    """0 or 2."""
    open_at: int
    """The minimum score of a side whose total is 0; a lower score does not count."""
    has_eggs: bool
    """Whether the points of a tied fish are carried over."""

    def result(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        """Return the result: every side but the spared ones scores its own hands, the loser also the carry."""
        values = values_by_side(hands, self.teams)
        spared = self._spared(state, values)
        if len(spared) > 1 and self.has_eggs:
            return round_result(state, ended_by, hands, (), carried=sum(values.values()))
        loser = winner = None
        if len(spared) == 1:
            loser = self._loser(state, values, spared[0])
            winner = self._winner(state, hands, spared[0])
        lines = []
        for side, value in values.items():
            carried = state.carry if loser is not None and side == side_number(loser, self.teams) else 0
            seats = [hand.seat for hand in hands if side_number(hand.seat, self.teams) == side]
            if side in spared or (not state.totals[seats[0]] and value + carried < self.open_at):
                continue
            text = format_sum([hand.value for hand in hands if hand.seat in seats])
            lines += [ScoreLine(seat, value, "11.10", text) for seat in seats if value]
            lines += [ScoreLine(seat, carried, "11.11", f"{carried} carried over") for seat in seats if carried]
        return round_result(state, ended_by, hands, lines, loser=loser)._replace(winner=winner)

    def _spared(self, state: State, values: Mapping[int, int]) -> list[int]:
        """Return the sides without points: the side that went out, or in a fish the sides with the lowest value."""
        if state.went_out_first is not None:
            return [side_number(state.went_out_first, self.teams)]
        return [side for side, value in values.items() if value == min(values.values())]

    def _loser(self, state: State, values: Mapping[int, int], winner: int) -> int:
        """Return the first seat, from the leader on, whose side has the highest value of all but the winning side."""
        others = [seat for seat in state.clockwise(state.opener) if side_number(seat, self.teams) != winner]
        return max(others, key=lambda seat: values[side_number(seat, self.teams)])

    def _winner(self, state: State, hands: tuple[RemainingHand, ...], side: int) -> int:
        """Return the seat that went out; in a fish the first one, from the leader on, with the side's lightest hand."""
        if state.went_out_first is not None:
            return state.went_out_first
        partners = [seat for seat in state.clockwise(state.opener) if side_number(seat, self.teams) == side]
        return min(partners, key=lambda seat: hands[seat].value)


VARIANT: Final = Variant(
    key="kozel",
    players=PlayerRange(2, 4),
    best="lowest",
    difficulty=2,
    minutes=25,
    build=_build,
    aliases=(Alias("Козёл", "ru"), Alias("Козел", "uk")),
    options=(
        Option(key="hand", default=7, values=(7, 5)),
        teams_option(None),
        Option(key="two_doubles", default=False, values=(False, True)),
        Option(key="redeal", default=False, values=(False, True)),
        Option(key="lone_blank", default=25, low=0, high=50),
        Option(key="lone_six", default=12, low=12, high=100),
        Option(key="open_at", default=13, low=0, high=50),
        Option(key="eggs", default=True, values=(True, False)),
        Option(key="limit", default=101, low=1, high=1000),
    ),
)
