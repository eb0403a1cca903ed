"""Checks of deals: whether each is a deal of the game, and whether it is the one derived from its seed.

Owns these checks. Every deal is checked on its own: which seats are eliminated is taken from the deal itself, and
``replay`` checks that. Does not depend on the play, except for whether a round or the match is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from service.engine.deal import MAX_CLIENT_SEED_CHARS, commitment, shuffle_seed
from service.engine.events import Dealt, Finished, RoundEnded
from service.engine.referee import MAX_DEAL_ATTEMPTS, can_open, deal_attempt, first_valid_deal
from service.engine.state import State
from service.engine.tiles import sort_tiles
from service.engine.variant import Rules
from service.records.record import PROVABLE, Record, RecordedRound
from service.records.report import Fault
from service.records.writer import HEAD, Location


def fairness_faults(record: Record) -> Iterator[Fault]:
    """Yield the faults of the commitments and seeds, without the deals."""
    if record.fairness != PROVABLE:
        yield from _unexpected_proofs(record)
        return
    if not _has_id(record):
        place = (HEAD, "GameId" if record.game else "Fairness")
        yield Fault(
            "missing_game",
            place,
            f"Verifiable deals need a game id of at most {MAX_CLIENT_SEED_CHARS} characters.",
        )
    last_was_dealt = True
    for index, each in enumerate(record.rounds):
        last_was_dealt = bool(each.lines)
        over = is_over(each) or (not last_was_dealt and _finished(record, index))
        yield from _proof_faults(record, index, each, over=over)
    if last_was_dealt:
        place = (len(record.rounds) - 1, "Round") if record.rounds else (HEAD, "Fairness")
        yield Fault("missing_commitment", place, f"Round {len(record.rounds) + 1} has no commitment.")


def is_over(each: RecordedRound) -> bool:
    """Return whether the round has its result, or the match has ended in it."""
    return any([isinstance(event, RoundEnded | Finished) for _, event in each.lines])


def deal_faults(rules: Rules, dealt: Dealt, place: Location) -> Iterator[Fault]:
    """Yield the faults of a deal, without its seed."""
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
    """Yield the differences of a valid deal to that of its seed; none without a seed that fits its commitment."""
    each = record.rounds[index]
    if not is_provable(record, each) or _client_seed_faults(record, index, each):
        return
    assert each.seed is not None
    assert each.client_seeds is not None
    seed = shuffle_seed(each.seed, record.game, index + 1, each.client_seeds)
    sizes = [len(hand) for hand in dealt.hands]
    first, deal, _ = first_valid_deal(rules, _before(rules, dealt), seed, sizes)
    if each.attempt != first:
        sentence = f"The deal that the rules accept first is number {first}, counted from 0."
        yield Fault("wrong_attempt", (index, "Attempt" if each.attempt is not None else "Seed"), sentence)
    dealt = replace(dealt, arranged=False)  # which is checked elsewhere
    if dealt != deal:
        claimed = None if each.attempt is None else min(each.attempt, MAX_DEAL_ATTEMPTS)
        if claimed is None or claimed == first or dealt != deal_attempt(rules, seed, index + 1, claimed, sizes=sizes):
            yield Fault("wrong_deal", (index, 0), "The seeds give another deal.")


def is_provable(record: Record, each: RecordedRound) -> bool:
    """Return whether the round has a seed that fits its commitment."""
    return (
        record.fairness == PROVABLE
        and _has_id(record)
        and each.seed is not None
        and each.commitment is not None
        and commitment(each.seed) == each.commitment
    )


def _has_id(record: Record) -> bool:
    """Return whether there is an id of the game, short enough to derive deals from it."""
    return record.game != "" and _is_short(record.game)


def _is_short(text: str) -> bool:
    """Return whether a deal can be derived from this text; half of a surrogate pair has no bytes in UTF-8."""
    return len(text) <= MAX_CLIENT_SEED_CHARS and not any(["\ud800" <= character <= "\udfff" for character in text])


def _proof_faults(record: Record, index: int, each: RecordedRound, *, over: bool) -> Iterator[Fault]:
    if each.commitment is None:
        yield Fault("missing_commitment", (index, "Round"), f"Round {index + 1} has no commitment.")
    if over and each.seed is None:
        yield Fault("missing_seed", (index, "Round"), "The seed is missing although it must be published by now.")
    elif not over and each.seed is not None:
        yield Fault("early_seed", (index, "Seed"), "The round is not over, but its seed is given.")
    elif each.seed is not None and each.commitment is not None and commitment(each.seed) != each.commitment:
        yield Fault("wrong_seed", (index, "Seed"), "The seed does not match its commitment.")
    if each.attempt is not None and not (each.lines and each.seed is not None):
        yield Fault("wrong_attempt", (index, "Attempt"), "The attempt is given together with the seed.")
    yield from _client_seed_faults(record, index, each)


def _client_seed_faults(record: Record, index: int, each: RecordedRound) -> list[Fault]:
    given = each.client_seeds
    if not each.lines:
        wrong = "They are published when the round is dealt." if given is not None else None
    elif given is None or len(given) != len(record.players):
        wrong = f"There are {len(record.players)} seats, each with a text of its own or an empty one."
    elif not all(map(_is_short, given)):
        wrong = f"A client seed has at most {MAX_CLIENT_SEED_CHARS} characters."
    else:
        wrong = None
    return [Fault("wrong_client_seeds", (index, "Round" if given is None else "ClientSeeds"), wrong)] if wrong else []


def _unexpected_proofs(record: Record) -> Iterator[Fault]:
    for index, each in enumerate(record.rounds):
        tags = {
            "Commitment": each.commitment,
            "ClientSeeds": each.client_seeds,
            "Attempt": each.attempt,
            "Seed": each.seed,
        }
        for name, value in tags.items():
            if value is not None:
                sentence = f"A record with the fairness {record.fairness} has no such tag."
                yield Fault("wrong_fairness", (index, name), sentence)


def _finished(record: Record, index: int) -> bool:
    """Return whether the match was over before this round."""
    return index > 0 and any([isinstance(event, Finished) for _, event in record.rounds[index - 1].lines])


def _before(rules: Rules, dealt: Dealt) -> State:
    """Return a state in which this could be dealt.

    Any seat stands for the last winner and leader, who may lead any tile.
    """
    eliminated = tuple([0 if hand else 1 for hand in dealt.hands])
    return rules.start()._replace(round=dealt.round - 1, eliminated_round=eliminated, opener=0, round_winner=0)
