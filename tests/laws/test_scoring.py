"""How rounds are counted, who goes out, who wins, and what is paid."""

from __future__ import annotations

from fractions import Fraction

import pytest

from service.engine.events import Dealt, Eliminated, Finished, Flipped, Played, RoundEnded
from service.engine.presence import ranking
from service.engine.state import FINISHED, PLAYING, PlacementScore
from service.engine.variant import Settlement
from tests.laws.fits import fits
from tests.laws.matches import Match, law

pytestmark = pytest.mark.quick


@law()
def test_scores_are_the_sums_of_their_lines(match: Match) -> None:
    for before, event, _ in match.happenings:
        if isinstance(event, RoundEnded):
            counted = event.round
            assert len(counted.scores) == len(match.seats)
            for seat, score in enumerate(counted.scores):
                assert score == sum(line.points for line in counted.lines if line.seat == seat)
                assert not score or not before.eliminated_round[seat]
            assert all(line.rule and line.text for line in counted.lines)
            assert counted.number == before.round


@law()
def test_totals_are_the_sums_of_the_scores(match: Match) -> None:
    totals = [0] * len(match.seats)
    for _, event, after in match.happenings:
        if isinstance(event, RoundEnded):
            totals = [total + score for total, score in zip(totals, event.round.scores, strict=True)]
        assert after.totals == tuple(totals)


@law()
def test_points_are_carried_only_where_the_rules_say_so(match: Match) -> None:
    assert match.rules.carries or not any(after.carry for _, _, after in match.happenings)


def sides(match: Match) -> list[list[int]]:
    """For each seat those that share its total."""
    teams = [match.rules.team(seat) for seat in match.seats]
    return [
        [each for each in match.seats if each == seat or teams[each] == team is not None]
        for seat, team in enumerate(teams)
    ]


@law()
def test_points_of_the_running_round_count_at_once(match: Match) -> None:
    scored: list[PlacementScore] = []
    for _, event, after in match.happenings:
        if isinstance(event, (Dealt, RoundEnded)):
            scored = []
        elif isinstance(event, Played) and event.points:
            scored += [PlacementScore(seat, event.ends_sum, event.points) for seat in sides(match)[event.seat]]
        assert after.placements_scored == tuple(scored)
        running = [sum(each.points for each in scored if each.seat == seat) for seat in match.seats]
        assert after.running_totals() == tuple([sum(pair) for pair in zip(after.totals, running, strict=True)])


@law()
def test_points_for_a_placement_are_on_the_card(match: Match) -> None:
    """The lines of a round begin with its scoring placements, in the order of play (rules 3.6)."""
    scored: list[tuple[int, int]] = []
    for _, event, _ in match.happenings:
        if isinstance(event, Dealt):
            scored = []
        elif isinstance(event, Played) and event.points:
            scored += [(seat, event.points) for seat in sides(match)[event.seat]]
        elif isinstance(event, RoundEnded):
            assert [(line.seat, line.points) for line in event.round.lines[: len(scored)]] == scored


@law()
def test_the_count_shows_the_hand_of_every_seat_that_was_in(match: Match) -> None:
    for before, event, after in match.happenings:
        if isinstance(event, RoundEnded):
            shown = [(left.seat, left.tiles) for left in event.round.hands]
            assert shown == [(seat, before.hands[seat]) for seat in before.active_seats()]
            assert all(left.value == match.rules.hand_value(left.tiles) for left in event.round.hands)
            assert (after.hands, after.stock, after.layout) == (before.hands, before.stock, before.layout)


@law()
def test_the_reason_why_a_round_ended_is_true(match: Match) -> None:
    flipped = False
    for before, event, _ in match.happenings:
        if isinstance(event, Dealt):
            flipped = False
        elif isinstance(event, Flipped):
            flipped = True
        elif isinstance(event, RoundEnded):
            somebody_out = any(not before.hands[seat] for seat in before.active_seats())
            all_closed = all(end.gate == "closed" for end in before.layout.ends)
            nobody_fits = not any(fits(match.rules, before.layout, hand) for hand in before.hands)
            stock_is_no_help = not match.rules.drawable(before) or not fits(match.rules, before.layout, before.stock)
            target = match.rules.settings.get("target")
            assert {
                "flip": flipped,
                "target": target is not None and max(before.running_totals()) >= int(target),
                "out": somebody_out and not flipped,
                "closed": all_closed and not somebody_out and not flipped,
                "blocked": nobody_fits and stock_is_no_help and not all_closed,
            }[event.round.ended_by]


@law()
def test_while_a_round_goes_on_somebody_can_lay_or_draw(match: Match) -> None:
    for state in match.states:
        if state.phase == PLAYING and state.layout.placements:
            assert match.rules.round_end(state) is None
            assert any(end.gate != "closed" for end in state.layout.ends)
            assert match.rules.drawable(state) or any(fits(match.rules, state.layout, hand) for hand in state.hands)


@law()
def test_who_lays_the_last_tile_first_wins_the_round(match: Match) -> None:
    """In teams the round may go on until both partners are out (rules 9.7, 9.10)."""
    first_out = None
    for before, event, after in match.happenings:
        if isinstance(event, Dealt):
            first_out = None
        elif isinstance(event, Played) and not after.hands[event.seat] and first_out is None:
            first_out = event.seat
        assert after.went_out_first == first_out
        if isinstance(event, RoundEnded):
            teams, reason = match.rules.teams, event.round.ended_by
            if reason == "target" or (teams and reason == "out"):
                assert event.round.winner == before.layout.placements[-1].seat
            elif first_out is not None:
                assert event.round.winner == (None if teams else first_out)
            assert after.next_leader == match.rules.leads_next(after, event.round)
            assert event.round.winner is None or event.round.winner in [left.seat for left in event.round.hands]


@law(matches=60)
def test_what_is_carried_waits_for_the_next_single_loser_or_winner(match: Match) -> None:
    carry = 0
    for _, event, after in match.happenings:
        if isinstance(event, RoundEnded):
            counted = event.round
            if match.rules.carries == "winner":
                carry = carry + counted.carried if counted.winner is None else 0
            elif counted.loser is None:
                carry += counted.carried
            else:
                assert not counted.carried
                values = {left.seat: left.value for left in counted.hands}
                if match.case.key == "menschenwolf":
                    assert counted.scores[counted.loser] == sum(values.values()) + carry
                    assert [seat for seat, value in values.items() if value == max(values.values())] == [counted.loser]
                else:
                    side = match.rules.side(counted.loser)
                    assert counted.scores[counted.loser] in (0, sum(values[seat] for seat in side) + carry)
                carry = 0
            assert not counted.carried or not any(counted.scores)
        assert after.carry == carry


@law()
def test_a_seat_goes_out_once_and_for_good(match: Match) -> None:
    gone = [0] * len(match.seats)
    for before, event, after in match.happenings:
        if isinstance(event, Eliminated):
            assert not gone[event.seat]
            gone[event.seat] = before.round
            assert before.phase == after.phase == "round_over"
        assert after.eliminated_round == tuple(gone)
        assert after.active_seats() == tuple([seat for seat in match.seats if not gone[seat]])


@law()
def test_seats_rank_by_their_totals_those_in_the_match_first_and_the_first_out_last(match: Match) -> None:
    sign = -1 if match.variant.best == "highest" else 1
    for _, event, state in match.happenings:
        if not isinstance(event, (RoundEnded, Eliminated)):
            continue
        lasted = [gone or state.round + 1 for gone in state.eliminated_round]
        totals, ranks = state.running_totals(), ranking(match.variant.best, state)
        for one in match.seats:
            before = [
                other
                for other in match.seats
                if lasted[other] > lasted[one]
                or (lasted[other] == lasted[one] and sign * totals[other] < sign * totals[one])
            ]
            assert ranks[one] == 1 + len(before)


@law()
def test_a_team_has_one_total_and_goes_out_together(match: Match) -> None:
    teams = match.rules.teams
    if not teams:
        assert [match.rules.team(seat) for seat in match.seats] == [None] * len(match.seats)
        return
    for state in match.states:
        for seat in match.seats:
            assert match.rules.team(seat) == seat % teams
            assert state.totals[seat] == state.totals[seat % teams]
            assert state.eliminated_round[seat] == state.eliminated_round[seat % teams]
    assert {winner % teams for winner in match.states[-1].winners} == {
        seat % teams for seat in match.states[-1].winners if seat + teams in match.states[-1].winners
    }


@law(matches=60)
def test_the_best_total_of_those_who_lasted_wins_and_ties_share(match: Match) -> None:
    """Among the seats still in; if nobody is, among those who went out in the last round."""
    for state in match.states[:-1]:
        assert not state.winners
    state = match.states[-1]
    if state.phase != FINISHED:
        assert not state.winners
        return
    lasted = state.active_seats() or tuple(
        [seat for seat in match.seats if state.eliminated_round[seat] == state.round]
    )
    best = (max if match.variant.best == "highest" else min)([state.totals[seat] for seat in lasted])
    assert state.winners == tuple([seat for seat in lasted if state.totals[seat] == best])
    assert match.events[-1] == Finished(state.winners)
    assert state.dealer is None


@law()
def test_the_dealer_is_a_seat_that_is_in(match: Match) -> None:
    for state in match.states:
        assert state.dealer is None or state.dealer in state.active_seats()


@law(matches=60)
def test_a_settlement_adds_up_to_nothing(match: Match) -> None:
    if match.rules.settlement is not None and match.states[-1].phase == FINISHED:
        check_settlement(match.states[-1].totals, match.rules.settlement(match.states[-1]))


@law(matches=60)
def test_a_settlement_of_any_totals_adds_up_to_nothing(match: Match) -> None:
    """Low totals, so that many are equal."""
    if match.rules.settlement is not None:
        for highest in (1, 2, 5, 50):
            totals = tuple([match.rng.randint(0, highest) for _ in match.seats])
            check_settlement(totals, match.rules.settlement(match.rules.start()._replace(totals=totals)))


def check_settlement(totals: tuple[int, ...], settled: Settlement) -> None:
    """Nothing is lost, equal totals get equal amounts, and fewer points never get less (rules 4.8)."""
    assert sum(settled.amounts) == 0
    amounts = [Fraction(0)] * len(totals)
    for payment in settled.payments:
        assert payment.amount > 0
        amounts[payment.payer] -= payment.amount
        amounts[payment.payee] += payment.amount
    assert settled.amounts == tuple(amounts)
    assert len({(payment.payer, payment.payee) for payment in settled.payments}) == len(settled.payments)
    by_total = sorted(zip(totals, settled.amounts, strict=True))
    assert len(dict(by_total)) == len(set(by_total))
    paid = [amount for _, amount in by_total]
    assert paid == sorted(paid, reverse=True)
    most = max(totals)
    mean = Fraction(sum(totals), len(totals))
    for total, amount in by_total:
        if settled.mode == "average":
            assert amount == mean - total
        elif settled.mode == "difference" and total < most:
            assert amount == most - total
        elif settled.mode == "fixed" and total < most:
            assert amount == max(paid) > 0


@law(matches=100, game="homo-homini-lupus")
def test_the_scores_of_a_round_of_homo_homini_lupus_add_up_to_nothing(match: Match) -> None:
    """Rules 1.8."""
    for event in match.events:
        if isinstance(event, RoundEnded):
            assert sum(event.round.scores) == 0
