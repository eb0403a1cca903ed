"""The payments after a match (rules 4.8), in exact arithmetic; their sum is always 0."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from service.engine.state import State
from service.engine.variant import Payment, Settlement


def fixed(stake: int) -> Callable[[State], Settlement]:
    """Let the player with the highest total pay the stake to each other player; tied players share the payment."""

    def settle(state: State) -> Settlement:
        return _losers_pay("fixed", state.totals, lambda _total: stake)

    return settle


def difference(state: State) -> Settlement:
    """Let the player with the highest total pay each other player the difference of their totals."""
    highest = max(state.totals)
    return _losers_pay("difference", state.totals, lambda total: highest - total)


def average(state: State) -> Settlement:
    """Let each player receive the mean of all totals minus their own total, or pay it if it is negative."""
    totals = state.totals
    mean = Fraction(sum(totals), len(totals))
    amounts = tuple([mean - total for total in totals])
    return Settlement("average", amounts, _netted(amounts))


def _losers_pay(mode: str, totals: tuple[int, ...], owed: Callable[[int], int]) -> Settlement:
    highest = max(totals)
    losers = [seat for seat, total in enumerate(totals) if total == highest]
    payments = tuple(
        [
            Payment(loser, seat, Fraction(owed(total), len(losers)))
            for loser in losers
            for seat, total in enumerate(totals)
            if total != highest
        ]
    )
    amounts = [Fraction(0)] * len(totals)
    for payment in payments:
        amounts[payment.payer] -= payment.amount
        amounts[payment.payee] += payment.amount
    return Settlement(mode, tuple(amounts), payments)


def _netted(amounts: tuple[Fraction, ...]) -> tuple[Payment, ...]:
    """Return payments that give these amounts: in seat order, each payer pays the first seats that still get money."""
    due = {seat: amount for seat, amount in enumerate(amounts) if amount > 0}
    payments = []
    for payer, amount in enumerate(amounts):
        rest = -amount
        for payee in list(due):
            if rest <= 0:
                break
            paid = min(rest, due[payee])
            payments.append(Payment(payer, payee, paid))
            rest -= paid
            due[payee] -= paid
            if not due[payee]:
                del due[payee]
    return tuple(payments)
