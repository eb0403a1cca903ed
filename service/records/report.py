"""The report of a verification.

Owns the codes of the faults, and the notes of a report. Does not depend on the checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.records.record import PROVABLE, FairnessClaim
from service.records.writer import Location

CODES: Final = {
    # the head
    "unknown_variant": "this server does not have the game",
    "unknown_edition": "this server has another edition of the rules",
    "bad_players": "the game is not for this number of players, or was dealt with an open seat",
    "unknown_bot": "a level of computer players that does not exist, or one of them without a name",
    "bad_options": "house rules that the game does not have, or not each of them once, with a value and in order",
    "wrong_fairness": "tags, or a deal, that do not match the claimed fairness",
    "missing_game": "the deals should be verifiable, but the id of the game is missing or longer than 64 characters",
    "wrong_seen": "a viewer is named, although no round hides anything",
    "wrong_result": "the result is not that of the match",
    # commitments and seeds
    "missing_commitment": "there is no commitment to the seed of a round",
    "missing_seed": "the seed of a round that is over is missing",
    "early_seed": "the seed of a round that is not over is given",
    "wrong_seed": "the seed does not match its commitment",
    "wrong_client_seeds": "not one text of at most 64 characters for each seat, or given before the deal",
    "wrong_attempt": "not the first deal of its seed that the rules accept",
    "wrong_deal": "not the deal of its seed",
    # deals
    "wrong_round": "rounds are not numbered 1, 2, 3, …",
    "not_dealt": "a round without its deal, or a deal that is not its first line",
    "wrong_seats": "a hand too many or too few, or for an eliminated seat",
    "wrong_hand_size": "hands of another size than the rules deal",
    "wrong_set": "not every tile of the set once",
    "unsorted_hand": "a hand that is not sorted",
    "not_openable": "a deal that no seat can open, so it has to be dealt again",
    "hidden_tile": "a hidden tile: a round is checked when it is over and all of it is visible",
    # moves
    "wrong_version": "versions that do not ascend, or that two moves share",
    "wrong_turn": "another seat is to move",
    "not_held": "a tile that the seat does not hold",
    "illegal_move": "a tile that may not be laid there, or not in this way",
    "unnamed_end": "the end where the tile was laid is not named",
    "unnamed_half": "the half that stayed outside is not named, or is named although it follows from the end",
    "wrong_ends_sum": "the sum of the ends is another",
    "wrong_points": "the points of the placement are others",
    "wrong_draw": "nothing may be drawn, or the next tile of the stock is another",
    "wrong_pass": "the seat may not pass",
    "wrong_auto": "a move that is marked as made by the service, although the seat had a choice",
    "wrong_done": "there is no turn of several tiles to end",
    "wrong_flip": "the lead may not be turned over",
    "after_the_count": "an event after the result of a round that does not follow from it",
    "after_the_end": "an event after the end of the match",
    "unfinished_round": "a round that is not over although the next one was dealt",
    # results
    "early_count": "a result, or what follows from one, although the round is not over",
    "missing_count": "the round is over, and its result is missing",
    "wrong_reason": "the round ended for another reason",
    "wrong_round_winner": "another seat, or nobody, won the round",
    "wrong_round_loser": "another seat, or nobody, lost the round",
    "wrong_carried": "other points are carried",
    "wrong_manche": "other stars, or another manche",
    "wrong_scores": "other scores",
    "wrong_hands": "other hands are left, or they have another value",
    "wrong_lines": "another score card",
    "wrong_elimination": "other seats go out of the match",
    "wrong_winners": "other seats have won, or none yet",
    # who plays the seats
    "wrong_presence": "a seat that cannot have left, come back, run out of time or forfeited there",
    "wrong_bot_move": "a legal move, but not the one that this computer player makes there",
}
"""The meaning of each stable fault code."""


Unchecked = Literal["edition", "seed", "cost"]
"""The reason why a decision of a computer player was not computed again."""

_WHY_UNCHECKED: Final[dict[Unchecked, str]] = {
    "edition": "another edition of the computer players made them",
    "seed": "the seed of their round is not published, or the deal was arranged",
    "cost": "that takes too long here, where only some are; the command verify checks more",
}


class Fault(NamedTuple):
    """An impossible event or a wrong value, and its place in the record."""

    code: str
    location: Location
    message: str


class Finding(NamedTuple):
    """A fault as a report has it, with its round, its version and its line in the text; each can be ``None``."""

    code: str
    round: int | None
    version: int | None
    line: int | None
    message: str


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of a verification, whose checks fill it."""

    findings: tuple[Finding, ...] = ()
    """The faults in the order of their lines."""
    omitted: int = 0
    """The number of findings beyond the maximum of a report."""
    fairness: FairnessClaim
    deals: int = 0
    """The number of deals that were checked against the set and the rules."""
    proven: int = 0
    """The number of deals that match their seeds and the commitments to them."""
    moves: int = 0
    """The number of moves that were replayed."""
    finished: bool = False
    decisions: int = 0
    """The number of moves of computer players that were computed again."""
    unchecked: tuple[tuple[Unchecked, int], ...] = ()
    """The numbers of moves of computer players that were not computed again, by the reason."""

    @property
    def verified(self) -> bool:
        return not self.findings

    def notes(self) -> tuple[str, ...]:
        """Return sentences about what the report proves and what it does not."""
        notes = [f"{_counted(self.moves, 'move')} and {_counted(self.deals, 'deal')} were checked against the rules."]
        if self.fairness == PROVABLE:
            notes.append(
                f"{_counted(self.proven, 'deal')} verified: derived from committed seeds and the client seeds. "
                "That the server has shown no hand to anybody cannot be proven."
            )
        else:
            notes.append("The deals were arranged; they prove nothing about chance.")
        if self.decisions:
            notes.append(
                f"{_counted(self.decisions, 'move')} of computer players computed again, each from what its seat could "
                "see and the seed of its round, and compared."
            )
        notes += [
            f"{_counted(number, 'move')} of computer players not checked: {_WHY_UNCHECKED[reason]}."
            for reason, number in self.unchecked
        ]
        return tuple(notes)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
