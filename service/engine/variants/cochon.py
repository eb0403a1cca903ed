"""Cochon, the dominoes of Martinique: stars, manches, and a pig, who ends a manche without a star (rules 17).

Owns the effect of a round on the manche and the match. Does not depend on how stars are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from service.engine.events import EndReason, Manche, RemainingHand, RoundResult, ScoreLine
from service.engine.options import Option, Options
from service.engine.rules.common_options import fill_defaults
from service.engine.rules.ending import MAX_ROUNDS, best_seats
from service.engine.rules.opening import last_winner
from service.engine.rules.scoring import lightest_seat, round_result
from service.engine.state import State
from service.engine.tiles import double_set
from service.engine.variant import Alias, PlayerRange, Rules, ScoreRound, Variant, Verdict

_SET: Final = double_set(6)
_HAND: Final = 7
_STARS: Final = 3
"""The stars that win a manche (rules 17.6)."""
_LIGHT: Final = 6
"""With ``under_six``, a blocked round is won only by a hand with fewer pips than this (rules 17.3)."""
_TARGETS: Final = {"manches": 3, "score": 20}


def _build(options: Options, seats: int) -> Rules:
    settings = fill_defaults(options, {"target": _TARGETS[options["match"]]})
    return Rules(
        seats=seats,
        settings=settings,
        tiles=_SET,
        hand_size=lambda players: _HAND if players == seats else 0,
        opening=last_winner,
        reserve=len(_SET),
        score_round=_score_round(settings["blocked"]),
        match_end=_match_end(settings["match"], settings["target"]),
        leads_next=_leads_next,
        has_manches=True,
        prospects=_prospects,
    )


def _leads_next(_state: State, result: RoundResult) -> int | None:
    """Return the winner; ``None``, so that the deal decides, if the manche ended or nobody won (rules 17.2)."""
    assert result.manche is not None
    return None if result.manche.ended else result.winner


def _prospects(state: State) -> tuple[float, ...]:
    assert state.manche is not None
    return _worth_of_stars(state.manche.running().stars)


@cache
def _worth_of_stars(stars: tuple[int, ...]) -> tuple[float, ...]:
    """Return each seat's average points at the end of the manche if all win a round equally often (rules 17.6)."""
    seats = range(len(stars))
    worth = [0.0 for _ in seats]
    for winner in seats:
        after = _with_star(stars, winner)
        if all(after):
            continue
        if after[winner] == _STARS:
            points: Sequence[float] = [after.count(0) if seat == winner else -(not after[seat]) for seat in seats]
        else:
            points = _worth_of_stars(after)
        worth = [so_far + part / len(stars) for so_far, part in zip(worth, points, strict=True)]
    return tuple(worth)


def _with_star(stars: tuple[int, ...], winner: int) -> tuple[int, ...]:
    return tuple([count + (seat == winner) for seat, count in enumerate(stars)])


def _score_round(blocked: str) -> ScoreRound:
    """Return the scoring of a round (rules 17.3 to 17.6).

    The winner gets a star and a point; a third star makes the seats without a star pigs. A blocked round is won by the
    seat with the fewest pips, if the option allows it.
    """

    def score_round(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
        assert state.manche is not None
        running, winner = state.manche.running(), state.went_out_first
        if ended_by != "out" and blocked != "nobody":
            winner = lightest_seat(state, hands)
            if winner is not None and blocked == "under_six" and hands[winner].value >= _LIGHT:
                winner = None
        if winner is None:
            return round_result(state, ended_by, hands, ())._replace(manche=running)
        stars = _with_star(running.stars, winner)
        lines = [ScoreLine(winner, 1, "17.4", "1")]
        manche = Manche(running.number, stars)
        if all(stars):
            manche = manche._replace(ended="chiree")
        elif stars[winner] == _STARS:
            manche = manche._replace(ended="won")
            pigs = [seat for seat, count in enumerate(stars) if not count]
            lines.append(ScoreLine(winner, len(pigs), "17.6", f"cochon × {len(pigs)}"))
            lines += [ScoreLine(seat, -1, "17.6", "cochon −1") for seat in pigs]
        return round_result(state, ended_by, hands, lines)._replace(winner=winner, manche=manche)

    return score_round


def _match_end(match: str, target: int) -> Callable[[State], Verdict]:
    """End the match after a manche in which the target is reached, if a single player leads (rules 17.7)."""

    def match_end(state: State) -> Verdict:
        leaders = best_seats(state, state.active_seats(), "highest")
        manche = state.manche
        assert manche is not None
        reached = manche.number if match == "manches" else max(state.totals)
        is_over = manche.ended is not None and reached >= target and len(leaders) == 1
        return Verdict((), leaders) if is_over or state.round == MAX_ROUNDS else Verdict()

    return match_end


VARIANT: Final = Variant(
    key="cochon",
    players=PlayerRange(3, 4),
    difficulty=2,
    minutes=30,
    build=_build,
    aliases=(Alias("Domino martiniquais", "fr"), Alias("Mettre cochon", "fr")),
    words=("cochon", "chirée"),
    options=(
        Option(key="blocked", default="lightest", values=("lightest", "under_six", "nobody")),
        Option(key="match", default="manches", values=("manches", "score")),
        Option(key="target", default=None, low=1, high=100),
    ),
)
