"""Dominoes by wins: totals are wins, with the house rules of five tables (rules 16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from service.engine.errors import InvalidSetup, Reason
from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options, Value, format_value
from service.engine.rules.common_options import fill_defaults, teams_option, with_defaults
from service.engine.rules.ending import MAX_ROUNDS, total_reached
from service.engine.rules.opening import OPENINGS
from service.engine.rules.scoring import lightest_seat, round_result, side_number
from service.engine.state import State
from service.engine.tiles import Tile, double_set
from service.engine.variant import Alias, Opening, PlayerRange, Rules, Variant

_SET: Final = double_set(6)
_HANDS: Final = {2: (14, 7), 3: (9,), 4: (7,)}
"""The possible sizes of a hand, by the number of players (rules 16.2)."""
_TEAM_SEATS: Final = 4
_SIX: Final = 6
_JAMAICAN: Final[dict[str, Value]] = {
    "target": _SIX,
    "reset": "all_scored",
    "one_all": True,
    "draw": "two",
    "blocked": "lightest_hand",
    "opens_next": "winner",
    "value_double": 1,
    "value_both_ends": 1,
    "value_cross": 1,
    "value_key": 1,
    "redeal_doubles": 0,
    "hand": 14,
    "drawing": False,
}
_BRAZILIAN: Final[dict[str, Value]] = _JAMAICAN | {
    "reset": "none",
    "one_all": False,
    "draw": "add",
    "opens_next": "highest_double",
    "value_double": 2,
    "value_both_ends": 3,
    "value_cross": 4,
    "redeal_doubles": 4,
    "hand": 7,
    "drawing": True,
}
_TABLES: Final[dict[str, dict[str, Value]]] = {
    "jamaican": _JAMAICAN,
    "straight_six": _JAMAICAN | {"reset": "none", "one_all": False},
    "haitian": _JAMAICAN | {"target": 4, "reset": "others", "one_all": False, "value_both_ends": 2},
    "brazilian": _BRAZILIAN,
    "brazilian_seven": _BRAZILIAN | {"target": 7, "blocked": "nobody"},
}
"""The default options of each table; ``hand`` and ``drawing`` are those for two players (rules 16.11)."""
_WORDS: Final[dict[str, dict[str, str]]] = {
    "haitian": {"both_ends": "dekabès"},
    "brazilian": {"double": "carroça", "both_ends": "lá-e-lô", "cross": "cruzada"},
}
"""The players' words for kinds of last tiles, by table; ``_PLAIN`` has the words of the other tables."""
_PLAIN: Final = {"double": "double", "both_ends": "both ends", "cross": "cross", "key": "key"}


def _defaults(options: Options, seats: int) -> dict[str, Value]:
    """Return the defaults of the requested table for this number of players (rules 16.2, 16.3, 16.8, 16.11)."""
    table = _TABLES[options["table"]]
    for_two = seats == min(_HANDS)
    default_hand = _HANDS[seats][0] if not for_two else min(_HANDS[2]) if options["drawing"] else table["hand"]
    hand = int(options["hand"] or default_hand)
    can_decide = (options["reset"] or table["reset"]) == "all_scored"
    return table | {
        "teams": 2 if seats == _TEAM_SEATS else 0,
        "hand": hand,
        "drawing": for_two and hand == min(_HANDS[seats]) and table["drawing"],
        "one_all": can_decide and table["one_all"],
        "redeal_doubles": 0 if hand == max(_HANDS[2]) else table["redeal_doubles"],
    }


def _build(options: Options, seats: int) -> Rules:
    defaults = _defaults(options, seats)
    _check(options, seats, defaults)
    settings = with_defaults(options, seats, len(_SET), **defaults)
    tiles = _SET[1:] if seats % 2 else _SET
    reserve = 0 if settings["drawing"] else len(tiles)
    scoring = _Scoring(settings, tiles)
    return Rules(
        seats=seats,
        settings=settings,
        tiles=tiles,
        hand_size=lambda players: settings["hand"] if players == seats else 0,
        opening=_opening(
            settings["opens_next"],
            settings["redeal_doubles"],
            is_sporting=settings["sporting"],
            by_team=settings["pose"] == "team",
        ),
        may_leave_lead=lambda state: settings["pose"] == "team" and _leads_as_winner(state),
        reserve=reserve,
        score_round=scoring.result,
        match_end=total_reached(settings["target"], "highest", MAX_ROUNDS),
        carries=None if settings["draw"] == "same" else "winner",
        leads_next=scoring.leads_next,
        deals_again=settings["redeal_doubles"] > 0,
        teams=settings["teams"],
    )


def _check(options: Options, seats: int, defaults: Mapping[str, Value]) -> None:
    """Raise ``InvalidSetup`` for options that do not go together (rules 16.2 to 16.4, 16.8, 16.9)."""
    chosen = fill_defaults(options, defaults)
    hand, for_two = chosen["hand"], seats == min(_HANDS)
    possible: dict[str, tuple[Value, ...]] = {"hand": _HANDS[seats]}
    if not for_two or hand != min(_HANDS[2]):
        possible["drawing"] = (False,)
    if chosen["reset"] != "all_scored":
        possible["one_all"] = (False,)
    if hand == max(_HANDS[2]):
        possible["redeal_doubles"] = (0,)
    if not chosen["teams"] or chosen["opens_next"] != "winner":
        possible["pose"] = ("winner",)
    errors = {
        f"options.{key}": [Reason("not_one_of", {"allowed": [format_value(value) for value in allowed]})]
        for key, allowed in possible.items()
        if options[key] not in (None, *allowed)
    }
    if errors:
        raise InvalidSetup(errors)


def _leads_as_winner(state: State) -> bool:
    """Return whether the seat to move is to lead because it won the last round (rules 16.4)."""
    return state.next_leader is not None and state.turn == state.next_leader


def _opening(
    opens_next: str, redeal_doubles: int, *, is_sporting: bool, by_team: bool
) -> Callable[[State], Opening | None]:
    """Return ``Rules.opening`` (rules 16.4, 16.9).

    ``redeal_doubles``: deal again if a hand has this many doubles; ``is_sporting``: any tile of the hand can lead;
    ``by_team``: any seat of the winning team can lead.
    """
    choose = OPENINGS[opens_next]

    def opening(state: State) -> Opening | None:
        if redeal_doubles and any([sum([tile.double for tile in hand]) >= redeal_doubles for hand in state.hands]):
            return None
        if by_team and state.next_leader is not None and state.turn is not None:
            return Opening(state.turn, state.hands[state.turn])
        opening = choose(state)
        return Opening(opening.seat, state.hands[opening.seat]) if opening is not None and is_sporting else opening

    return opening


class _Scoring(NamedTuple):
    """The scoring of a round: its winner, the value of the win, and resets of totals (rules 16.5 to 16.8)."""

    settings: Options
    tiles: tuple[Tile, ...]

    def result(self, state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        """Return the result; the winner went out, or has the lightest hand of a blocked round (rules 16.5, 16.12)."""
        winner, teams = state.went_out_first, self.settings["teams"]
        if winner is None and self.settings["blocked"] == "lightest_hand":
            winner = lightest_seat(state, hands, teams)
        if winner is None:
            return round_result(state, ended_by, hands, (), carried=int(self.settings["draw"] != "same"))
        won = [side_number(hand.seat, teams) == side_number(winner, teams) for hand in hands]
        lines = self._decided(won) if self._is_decider(state.totals) else self._won(state, won, ended_by)
        return round_result(state, ended_by, hands, lines)._replace(winner=winner)

    def leads_next(self, state: State, result: RoundResult) -> int | None:
        """Return the winner; ``None`` at 0 to 0, before a decider and after a draw (rules 16.4)."""
        return None if not any(state.totals) or self._is_decider(state.totals) else result.winner

    def _is_decider(self, totals: tuple[int, ...]) -> bool:
        """Return whether the round after these totals is a decider: every seat has one win (rules 16.8)."""
        return self.settings["one_all"] and all([total == 1 for total in totals])

    def _decided(self, won: list[bool]) -> list[ScoreLine]:
        return [
            ScoreLine(seat, 1 if has_won else -1, "16.8", f"decider 1 → {2 * has_won}")
            for seat, has_won in enumerate(won)
        ]

    def _won(self, state: State, won: list[bool], ended_by: EndReason) -> list[ScoreLine]:
        """Return the lines of the win, one for each winning seat, and of the resets (rules 16.5 to 16.7)."""
        value, text = self._value(state, ended_by)
        totals = [total + value * has_won for total, has_won in zip(state.totals, won, strict=True)]
        if (
            self.settings["target"] == _SIX
            and max(totals) >= _SIX
            and not any(total for total, has_won in zip(totals, won, strict=True) if not has_won)
        ):
            text = f"six love {text}"
        lines = [ScoreLine(seat, value, "16.5", text) for seat, has_won in enumerate(won) if has_won]
        reset, word = self.settings["reset"], "bruk "
        lost: list[int] = []
        if reset == "others":
            word = ""
            lost = [0 if has_won else total for total, has_won in zip(totals, won, strict=True)]
        elif reset == "all_scored" and all(totals) and not self._is_decider(tuple(totals)):
            lost = totals
        lines += [ScoreLine(seat, -total, "16.7", f"{word}{total} → 0") for seat, total in enumerate(lost) if total]
        return lines

    def _value(self, state: State, ended_by: EndReason) -> tuple[int, str]:
        """Return the value of the win, and its arithmetic (rules 16.5, 16.6)."""
        value, text, draw = 1, "1", self.settings["draw"]
        for kind in self._kinds(state) if ended_by == "out" else ():
            worth = self.settings[f"value_{kind}"]
            if worth > value:
                value, text = worth, f"{self._word(kind)} {worth}"
        if draw == "add" and state.carry:
            return value + state.carry, f"{text} + {state.carry}"
        return (2, f"{text} → 2") if draw == "two" and state.carry and value == 1 else (value, text)

    def _word(self, kind: str) -> str:
        """Return the players' word for a kind of last tile."""
        return _WORDS.get(self.settings["table"].partition("_seven")[0], {}).get(kind, _PLAIN[kind])

    def _kinds(self, state: State) -> list[str]:
        """Return the kinds of the last tile. A tile fitted both ends if both show the same number after it."""
        placements = state.layout.placements
        last, (left, right) = placements[-1].tile, state.layout.ends
        fitted_both = left.number == right.number
        if last.double:
            return ["double", "cross"] if fitted_both else ["double"]
        if not fitted_both:
            return []
        laid = {placement.tile for placement in placements}
        rest = [tile for tile in self.tiles if tile.mask & last.mask and tile not in laid]
        return ["both_ends"] if rest else ["both_ends", "key"]


VARIANT: Final = Variant(
    key="by-wins",
    players=PlayerRange(2, 4),
    unit="wins",
    difficulty=2,
    minutes=80,
    build=_build,
    aliases=(
        Alias("Six Love", "en"),
        Alias("Partner", "en"),
        Alias("Cut Throat", "en"),
        Alias("Dekabès", "ht"),
        Alias("Dominó de dupla", "pt"),
    ),
    words=(
        *("six love", "bruk", "decider"),
        *dict.fromkeys([word for table in (_PLAIN, *_WORDS.values()) for word in table.values()]),
    ),
    options=(
        Option(key="table", default="jamaican", values=tuple(_TABLES)),
        teams_option(None),
        Option(key="hand", default=None, values=(14, 9, 7)),
        Option(key="drawing", default=None, values=(False, True)),
        Option(key="opens_next", default=None, values=("winner", "highest_double", "rotate")),
        Option(key="sporting", default=False, values=(False, True)),
        Option(key="blocked", default=None, values=("lightest_hand", "nobody")),
        Option(key="draw", default=None, values=("same", "two", "add")),
        *[Option(key=f"value_{kind}", default=None, low=1, high=10) for kind in _PLAIN],
        Option(key="reset", default=None, values=("none", "all_scored", "others")),
        Option(key="one_all", default=None, values=(False, True)),
        Option(key="redeal_doubles", default=None, values=(0, 4, 5, 6, 7)),
        Option(key="target", default=None, low=1, high=50),
        Option(key="pose", default="winner", values=("winner", "team")),
    ),
)
