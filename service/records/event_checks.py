"""Checks of recorded events: deals, moves, results, and who plays the seats.

Owns the faults of these events. Does not depend on the text of a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from service.engine.deal import MAX_CLIENT_SEED_CHARS, commitment, shuffle_seed
from service.engine.events import (
    EVENT_TYPES,
    Dealt,
    Drew,
    Eliminated,
    Event,
    Finished,
    Manche,
    Passed,
    Played,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import Layout
from service.engine.moves import DONE, DRAW, FLIP, PASS, PLAY, Move
from service.engine.presence import Claimed, Forfeited, Left, Presence, PresenceEvent, Resigned, Returned, TimedOut
from service.engine.referee import MAX_DEAL_ATTEMPTS, can_open, deal_attempt, first_valid_deal, forced_move
from service.engine.state import FINISHED, PLAYING, State
from service.engine.tiles import sort_tiles
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedEvent
from service.records.record import PROVABLE, Record, RecordedRound
from service.records.report import Fault
from service.records.writer import HEAD, Location, tags_of_round


def move_of(event: RecordedEvent) -> Move:
    """Return the move that caused this event, which must be the event of a move."""
    if isinstance(event, Played):
        return Move(PLAY, event.tile, event.end, event.face_down, outer=event.outer)
    return _PLAIN[type(event)]


def naming_fault(layout: Layout, event: Played) -> tuple[str, str] | None:
    """Return the code and message of the fault if a play does not name its end or its outer half as required."""
    if event.end is None:
        return ("unnamed_end", "The end where the tile was laid is not named.") if layout.placements else None
    if layout.names_outer and event.outer is None:
        return "unnamed_half", "The half that stayed outside is not named."
    if not layout.names_outer and event.outer is not None:
        return "unnamed_half", "The half that stayed outside is not named where it follows from the end."
    return None


def mark_fault(rules: Rules, state: State, event: RecordedEvent, place: Location) -> Fault | None:
    """Return a fault if a move is marked as made by the service although its seat had a choice in this state."""
    if not getattr(event, "auto", None) or forced_move(rules, state) is not None:
        return None
    return Fault("wrong_auto", place, "The seat had a choice.")


def move_fault(expected: Event, recorded: RecordedEvent, place: Location) -> Fault | None:
    """Return the first difference between the event of a legal move and the recorded one, but for the mark ``auto``."""
    if getattr(recorded, "auto", None):
        assert isinstance(recorded, Drew | DrewView | Passed)
        recorded = recorded._replace(auto=None) if isinstance(recorded, DrewView) else replace(recorded, auto=None)
    if expected == recorded:
        return None
    if isinstance(expected, Played) and isinstance(recorded, Played):
        if expected.end != recorded.end:
            return Fault("unnamed_end", place, f"The tile was laid at {expected.end}.")
        if expected.ends_sum != recorded.ends_sum:
            return Fault("wrong_ends_sum", place, f"The ends come to {_number_or_nothing(expected.ends_sum)}.")
        if expected.points != recorded.points:
            return Fault("wrong_points", place, f"That gives {_number_or_nothing(expected.points)}.")
        return None
    if isinstance(expected, Drew) and isinstance(recorded, Drew):
        return Fault("wrong_draw", place, f"The next tile of the stock is {expected.tile}.")
    return Fault("hidden_tile", place, "A round is checked when all of it is visible.")


def _number_or_nothing(number: int | None) -> str:
    return "nothing that is counted" if number is None else str(number)


def automatic_event_fault(expected: Event | Forfeited, recorded: RecordedEvent | None, place: Location) -> Fault | None:
    """Return the fault if ``recorded`` is not the automatic event ``expected``; ``None``: the record ends here."""
    if expected == recorded:
        return None
    if isinstance(expected, RoundEnded):
        if isinstance(recorded, RoundEnded):
            return _result_fault(expected.round, recorded.round, place)
        return Fault("missing_count", place, f"The round is over ({expected.round.ended_by}); its result is missing.")
    if isinstance(expected, Eliminated):
        return Fault("wrong_elimination", place, f"Seat {expected.seat} goes out of the match.")
    if isinstance(expected, Forfeited):
        return Fault("wrong_presence", place, f"Seat {expected.seat} forfeits the match.")
    assert isinstance(expected, Finished)
    if isinstance(recorded, Eliminated):
        return Fault("wrong_elimination", place, f"Seat {recorded.seat} does not go out of the match.")
    reason = "" if expected.ended_by is None else ", because all others have forfeited"
    return Fault("wrong_winners", place, f"The match is over, won by {_row(expected.winners)}{reason}.")


def _result_fault(result: RoundResult, recorded: RoundResult, place: Location) -> Fault | None:
    """Return the first difference between two results, but for the number of the round."""
    hands = [f"{left.seat}: {_row(left.tiles)} = {left.value}" for left in result.hands]
    lines = [f"{line.seat}: {line.points:+} {line.rule} {line.text}" for line in result.lines]
    sentences = {
        "ended_by": ("wrong_reason", f"The round ended for another reason: {result.ended_by}."),
        "winner": ("wrong_round_winner", f"The winner of the round is {_seat(result.winner)}."),
        "loser": ("wrong_round_loser", f"The loser of the round is {_seat(result.loser)}."),
        "carried": ("wrong_carried", f"{result.carried} points are carried."),
        "manche": ("wrong_manche", _manche(result.manche)),
        "scores": ("wrong_scores", f"The scores are {_row(result.scores)}."),
        "hands": ("wrong_hands", f"The hands left are {', '.join(hands)}."),
        "lines": ("wrong_lines", f"The score card is {', '.join(lines) or 'empty'}."),
    }
    for name, (code, sentence) in sentences.items():
        if getattr(result, name) != getattr(recorded, name):
            return Fault(code, place, sentence)
    return None


def _manche(manche: Manche | None) -> str:
    if manche is None:
        return "There are no manches in this game."
    return f"In manche {manche.number} the seats have {_row(manche.stars)} stars, and it {manche.ended or 'goes on'}."


def _seat(seat: int | None) -> str:
    return "nobody" if seat is None else f"seat {seat}"


def _row(items: tuple[object, ...]) -> str:
    return " ".join(map(str, items)) or "-"


_PLAIN: Final[dict[type, Move]] = {
    kind.event: move for kind in EVENT_TYPES for move in (DRAW, PASS, DONE, FLIP) if kind.word == move.action
}
_PLAIN[DrewView] = DRAW


# Checks of the presence events: who has left, was timed out, came back or forfeited.


def presence_fault(
    record: Record, state: State, presence: Presence, event: PresenceEvent, *, place: Location
) -> Fault | None:
    """Return a fault if this event is impossible in this state.

    ``Forfeited`` is always a fault here: it can only follow from a time-out or a resignation (``consequences``).
    """
    if state.phase == FINISHED:
        return Fault("after_the_end", place, "The match is over.")
    message = _reason(record, state, presence, event)
    return None if message is None else Fault("wrong_presence", place, message)


def _reason(record: Record, state: State, presence: Presence, event: PresenceEvent) -> str | None:
    seat = event.seat
    if seat >= len(record.players):
        return f"There is no seat {seat}."
    if record.bot_at(seat) is not None:
        return f"Seat {seat} is played by a computer player."
    if state.eliminated_round[seat]:
        return f"Seat {seat} is out of the match."
    match event:
        case Left():
            return f"Seat {seat} is away already." if seat in presence.away else None
        case Returned():
            return f"Seat {seat} is not away." if presence.plays(seat) else None
        case Forfeited():
            return f"Seat {seat} can only forfeit as it resigns, or when its time is over, and where that follows."
        case Resigned():
            return f"Seat {seat} has forfeited already." if seat in presence.forfeited else None
        case TimedOut(then=then):
            expected = None if record.clock is None or record.clock.absence == "claim" else record.clock.absence
            if then != expected:
                return (
                    "Nothing follows here from the end of a time." if expected is None else f"Here {expected} follows."
                )
        case Claimed(by=by):
            if record.clock is None or record.clock.absence != "claim":
                return "Nothing can be claimed in this match."
            if by == seat or by >= len(record.players) or record.bot_at(by) is not None or state.eliminated_round[by]:
                return f"Seat {by} cannot claim this."
    if state.phase != PLAYING or state.turn != seat:
        return f"Seat {seat} is not to move."
    return None if presence.plays(seat) else f"A computer player plays seat {seat}."


# Checks of deals: each must be a possible deal of the game, and the one derived from its seed.


def fairness_faults(record: Record) -> Iterator[Fault]:
    """Yield the faults of the commitments and seeds; ``seed_faults`` compares the deals with them."""
    if record.fairness != PROVABLE:
        yield from _unexpected_proofs(record)
        return
    if not _has_id(record):
        place = (HEAD, "GameId" if record.game else "Fairness")
        yield Fault(
            "missing_game", place, f"Verifiable deals need a game id of at most {MAX_CLIENT_SEED_CHARS} characters."
        )
    last_was_dealt = True
    for index, recorded in enumerate(record.rounds):
        last_was_dealt = bool(recorded.lines)
        over = is_over(recorded) or (not last_was_dealt and _finished(record, index))
        yield from _proof_faults(record, index, recorded, over=over)
    if last_was_dealt:
        place = (len(record.rounds) - 1, "Round") if record.rounds else (HEAD, "Fairness")
        yield Fault("missing_commitment", place, f"Round {len(record.rounds) + 1} has no commitment.")


def is_over(recorded: RecordedRound) -> bool:
    """Return whether the round has a result, or the match ended in it."""
    return any([isinstance(event, RoundEnded | Finished) for _, event in recorded.lines])


def deal_faults(rules: Rules, dealt: Dealt, place: Location) -> Iterator[Fault]:
    """Yield the faults of a deal, whatever its seed."""
    if len(dealt.hands) != rules.seats:
        yield Fault("wrong_seats", place, f"{len(dealt.hands)} hands were dealt to {rules.seats} seats.")
        return
    players = sum([hand != () for hand in dealt.hands])
    size = rules.hand_size(players)
    if not size or any([len(hand) != size for hand in dealt.hands if hand != ()]):
        yield Fault("wrong_hand_size", place, f"{players} players get {size or 'no'} tiles each.")
        return
    tiles = [tile for hand in (*dealt.hands, dealt.stock) for tile in hand]
    if len(set(tiles)) < len(tiles):
        yield Fault("wrong_set", place, "A tile was dealt twice.")
    elif not set(tiles) <= set(rules.tiles):
        yield Fault("wrong_set", place, "A tile was dealt that is not in the set.")
    elif len(tiles) != len(rules.tiles):
        yield Fault("wrong_set", place, f"The set has {len(rules.tiles)} tiles, and not all of them were dealt.")
    elif any([hand != sort_tiles(hand) for hand in dealt.hands]):
        yield Fault("unsorted_hand", place, "A hand is written in the order 0-0, 0-1, …, 1-1, 1-2, ….")
    elif not can_open(rules, _before(rules, dealt), dealt):
        yield Fault("not_openable", place, "No seat can open this deal; it has to be dealt again.")


def seed_faults(rules: Rules, record: Record, index: int, dealt: Dealt) -> Iterator[Fault]:
    """Yield the differences between a valid deal and the deal of its seed; none unless the seed fits its commitment."""
    recorded = record.rounds[index]
    if not is_provable(record, recorded) or _client_seed_faults(record, index, recorded):
        return
    assert recorded.seed is not None
    assert recorded.client_seeds is not None
    seed = shuffle_seed(recorded.seed, record.game, index + 1, recorded.client_seeds)
    sizes = [len(hand) for hand in dealt.hands]
    first, deal, _ = first_valid_deal(rules, _before(rules, dealt), seed, sizes)
    if recorded.attempt != first:
        sentence = f"The deal that the rules accept first is number {first}, counted from 0."
        yield Fault("wrong_attempt", (index, "Attempt" if recorded.attempt is not None else "Seed"), sentence)
    dealt = replace(dealt, arranged=False)  # ``verification`` checks the mark
    if dealt != deal:
        claimed = None if recorded.attempt is None else min(recorded.attempt, MAX_DEAL_ATTEMPTS)
        if claimed is None or claimed == first or dealt != deal_attempt(rules, seed, index + 1, claimed, sizes=sizes):
            yield Fault("wrong_deal", (index, 0), "The seeds give another deal.")


def is_provable(record: Record, recorded: RecordedRound) -> bool:
    """Return whether the round has a seed that fits its commitment."""
    return (
        record.fairness == PROVABLE
        and _has_id(record)
        and recorded.seed is not None
        and recorded.commitment is not None
        and commitment(recorded.seed) == recorded.commitment
    )


def _has_id(record: Record) -> bool:
    """Return whether the record has a game id that is short enough to derive deals from it."""
    return record.game != "" and _is_short(record.game)


def _is_short(text: str) -> bool:
    """Return whether a deal can be derived from this text: it is short and can be encoded in UTF-8."""
    return len(text) <= MAX_CLIENT_SEED_CHARS and not any(["\ud800" <= character <= "\udfff" for character in text])


def _proof_faults(record: Record, index: int, recorded: RecordedRound, *, over: bool) -> Iterator[Fault]:
    if recorded.commitment is None:
        yield Fault("missing_commitment", (index, "Round"), f"Round {index + 1} has no commitment.")
    if over and recorded.seed is None:
        yield Fault("missing_seed", (index, "Round"), "The seed is missing although it must be published by now.")
    elif not over and recorded.seed is not None:
        yield Fault("early_seed", (index, "Seed"), "The round is not over, but its seed is given.")
    elif recorded.seed is not None and recorded.commitment not in (None, commitment(recorded.seed)):
        yield Fault("wrong_seed", (index, "Seed"), "The seed does not match its commitment.")
    if recorded.attempt is not None and not (recorded.lines and recorded.seed is not None):
        yield Fault("wrong_attempt", (index, "Attempt"), "The attempt is given together with the seed.")
    yield from _client_seed_faults(record, index, recorded)


def _client_seed_faults(record: Record, index: int, recorded: RecordedRound) -> list[Fault]:
    client_seeds = recorded.client_seeds
    if not recorded.lines:
        wrong = "They are published when the round is dealt." if client_seeds is not None else None
    elif client_seeds is None or len(client_seeds) != len(record.players):
        wrong = f"There are {len(record.players)} seats, each with a text of its own or an empty one."
    elif not all(map(_is_short, client_seeds)):
        wrong = f"A client seed has at most {MAX_CLIENT_SEED_CHARS} characters."
    else:
        wrong = None
    if wrong is None:
        return []
    return [Fault("wrong_client_seeds", (index, "Round" if client_seeds is None else "ClientSeeds"), wrong)]


def _unexpected_proofs(record: Record) -> Iterator[Fault]:
    for index, recorded in enumerate(record.rounds):
        for name, _ in tags_of_round(recorded):
            if name != "Round":
                sentence = f"A record with the fairness {record.fairness} has no such tag."
                yield Fault("wrong_fairness", (index, name), sentence)


def _finished(record: Record, index: int) -> bool:
    return index > 0 and any([isinstance(event, Finished) for _, event in record.rounds[index - 1].lines])


def _before(rules: Rules, dealt: Dealt) -> State:
    """Return a state before this deal, as if seat 0 had led and won the last round and may lead any tile."""
    eliminated = tuple([0 if hand else 1 for hand in dealt.hands])
    return rules.start()._replace(round=dealt.round - 1, eliminated_round=eliminated, opener=0, next_leader=0)
