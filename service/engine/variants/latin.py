"""Latin dominoes: two teams of two, no stock, and the house rules of seven tables (rules 10)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options, Value
from service.engine.rules.common_options import fill_defaults
from service.engine.rules.ending import total_reached
from service.engine.rules.opening import highest_double_or_heaviest, last_winner, winner_or_same_leader
from service.engine.rules.scoring import format_sum, lightest_seat, lightest_side, round_result
from service.engine.state import State
from service.engine.tiles import double, double_set
from service.engine.variant import Alias, Opening, PlayerRange, Rules, Variant

_SEATS: Final = 4
_TEAMS: Final = 2
_HANDS: Final = {6: 7, 9: 10}
"""The size of a hand, by the highest number of the set (rules 10.1)."""
_BONUSES: Final = ("capicua", "chuchazo", "pass_salida", "pass_all")
"""The options for the points of a bonus, 0 if it is not played (rules 10.6)."""
_ROUND_BONUS: Final = (100, 75, 50, 25)
"""The bonus for each of the first rounds (rules 10.6)."""
_PUERTO_RICO: Final[dict[str, Value]] = {
    "set": 6,
    "first_lead": "highest_double",
    "target": 200,
    "count": "all",
    "opens_next": "winner",
    "tranque": "team",
    "tie": "nobody",
    **dict.fromkeys(_BONUSES, 0),
    "round_bonus": False,
}
_TABLES: Final[dict[str, dict[str, Value]]] = {
    "puerto_rico": _PUERTO_RICO,
    "quinientos": _PUERTO_RICO | {"target": 500, "capicua": 100, "chuchazo": 100, "round_bonus": True},
    "dominican": _PUERTO_RICO
    | {"tranque": "lightest_hand", "tie": "opener", "capicua": 25, "chuchazo": 25, "pass_salida": 25, "pass_all": 25},
    "venezuelan": _PUERTO_RICO | {"target": 100, "count": "opponents", "opens_next": "rotate", "tie": "closer"},
    "classic": _PUERTO_RICO | {"target": 100, "count": "opponents", "opens_next": "rotate"},
    "cuban": _PUERTO_RICO | {"set": 9, "target": 150, "count": "opponents"},
    "international": _PUERTO_RICO | {"first_lead": "any", "opens_next": "rotate"},
}
"""The default options of each table (rules 10.8)."""


def _build(options: Options, seats: int) -> Rules:
    settings = fill_defaults(options, _TABLES[options["table"]])
    tiles = double_set(settings["set"])
    hand = _HANDS[settings["set"]]
    return Rules(
        seats=seats,
        settings=settings,
        tiles=tiles,
        hand_size=lambda players: hand if players == _SEATS else 0,
        opening=_opening(settings["first_lead"]),
        leads_next=winner_or_same_leader if settings["opens_next"] == "winner" else _next_in_turn,
        reserve=len(tiles),
        score_round=_Scoring(settings).result,
        match_end=total_reached(settings["target"], "highest"),
        teams=_TEAMS,
    )


def _opening(first_lead: str) -> Callable[[State], Opening | None]:
    """Return ``Rules.opening``: the first lead by ``first_lead``, later leads with any tile (rules 10.2, 10.3)."""

    def opening(state: State) -> Opening | None:
        if state.round == 1:
            return Opening(0, state.hands[0]) if first_lead == "any" else highest_double_or_heaviest(state)
        return last_winner(state)

    return opening


def _next_in_turn(state: State, _result: RoundResult) -> int:
    """Return the seat after the leader of this round (rules 10.3)."""
    assert state.opener is not None
    return (state.opener + 1) % _SEATS


class _Scoring(NamedTuple):
    """The scoring of a round: its winner, the points of the hands, and the bonuses (rules 10.4 to 10.6)."""

    settings: Options

    def result(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        """Return the result; the winner is the seat that went out, or after a block the seat that leads next."""
        finisher = state.went_out_first
        winner = self._winner_of_block(state, hands) if finisher is None else finisher
        lines = []
        if winner is not None:
            team = winner % _TEAMS
            others = [hand for hand in hands if hand.seat != finisher]
            all_count = self.settings["count"] == "all"  # those of the winning team, too
            counted = [hand.value for hand in others if all_count or hand.seat % _TEAMS != team]
            rule = "10.4" if ended_by == "out" else "10.5"
            lines += _team_lines(team, sum(counted), rule, format_sum(counted))
            if self.settings["round_bonus"] and state.round <= len(_ROUND_BONUS):
                lines += _team_lines(team, _ROUND_BONUS[state.round - 1], "10.6", f"round {state.round}")
        lines += self._bonus_lines(state)
        return round_result(state, ended_by, hands, lines)._replace(winner=winner)

    def _winner_of_block(self, state: State, hands: tuple[RemainingHand, ...]) -> int | None:
        """Return the winner of a blocked round, a seat of the team that wins it (rules 10.3, 10.5, 10.9)."""
        opener, closer = state.opener, state.layout.placements[-1].seat
        assert opener is not None
        tied_to = {"nobody": None, "opener": opener, "closer": closer}[self.settings["tie"]]
        if self.settings["tranque"] == "lightest_hand":
            seat = lightest_seat(state, hands, _TEAMS)
            return tied_to if seat is None else seat
        team = lightest_side(hands, _TEAMS)
        if team is None:
            if tied_to is None:
                return None
            team = tied_to % _TEAMS
        return closer if closer % _TEAMS == team else (closer + 1) % _SEATS

    def _bonus_lines(self, state: State) -> list[ScoreLine]:
        """Return the lines of the bonuses, which do not depend on the winner of the round (rules 10.6)."""
        settings, placements, lines = self.settings, state.layout.placements, []
        finisher, opener = state.went_out_first, state.opener
        assert opener is not None
        if finisher is not None:
            last = placements[-1].tile
            left, right = state.layout.ends
            if last is double(0):
                lines += _team_lines(finisher % _TEAMS, settings["chuchazo"], "10.6", "chuchazo")
            elif not last.double and left.number == right.number and (last.low or settings["capicua_blank"]):
                lines += _team_lines(finisher % _TEAMS, settings["capicua"], "10.6", "capicúa")
        seats = [placement.seat for placement in placements]
        if seats[1:2] == [(opener + 2) % _SEATS]:
            lines += _team_lines(opener % _TEAMS, settings["pass_salida"], "10.6", "pase de salida")
        for seat, following in pairwise(seats):
            if seat == following:
                lines += _team_lines(seat % _TEAMS, settings["pass_all"], "10.6", "paso corrido")
        return lines


def _team_lines(team: int, points: int, rule: str, text: str) -> list[ScoreLine]:
    """Return a line for each seat of the team; no line for a bonus of 0 points."""
    if not points and rule == "10.6":
        return []
    return [ScoreLine(seat, points, rule, text) for seat in range(team, _SEATS, _TEAMS)]


VARIANT: Final = Variant(
    key="latin",
    players=PlayerRange(_SEATS, _SEATS),
    difficulty=2,
    minutes=25,
    build=_build,
    aliases=(Alias("Dominó en parejas", "es"), Alias("Quinientos", "es"), Alias("Dominó cubano", "es")),
    options=(
        Option(key="table", default="puerto_rico", values=tuple(_TABLES)),
        Option(key="set", default=None, values=tuple(_HANDS)),
        Option(key="first_lead", default=None, values=("highest_double", "any")),
        Option(key="target", default=None, low=1, high=1000),
        Option(key="count", default=None, values=("all", "opponents")),
        Option(key="opens_next", default=None, values=("winner", "rotate")),
        Option(key="tranque", default=None, values=("team", "lightest_hand")),
        Option(key="tie", default=None, values=("nobody", "opener", "closer")),
        *[Option(key=bonus, default=None, low=0, high=100) for bonus in _BONUSES],
        Option(key="round_bonus", default=None, values=(False, True)),
        Option(key="capicua_blank", default=True, values=(True, False)),
    ),
)
