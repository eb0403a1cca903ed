"""The record of a match from its events.

Owns which facts of the events a record contains. ``view`` decides what a viewer may know of a running round. A seed is
included only if its round is over, or if the match ended before the round it was committed to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from service.engine.events import Dealt, Event, Finished, RoundEnded
from service.engine.options import Value
from service.engine.presence import PresenceEvent
from service.engine.variant import Rules, Variant
from service.engine.view import RecordedEvent, view_for_record
from service.records.record import SPECTATOR, Record, RecordedRound, VersionedEvent, Viewer


def resolved_options(variant: Variant, rules: Rules) -> tuple[tuple[str, Value], ...]:
    """Return every option of the variant with its value in these rules, in the order of the variant."""
    return tuple([(option.key, rules.settings[option.key]) for option in variant.options])


def build_record(
    head: Record,
    events: Iterable[tuple[int, Event | PresenceEvent]],
    *,
    commitment: bytes | None = None,
    seeds: Mapping[int, bytes] | None = None,
    viewer: Viewer | None = None,
) -> Record:
    """Return the record of a match: its ``head``, a record without rounds, with all that follows from these events.

    ``events`` are those of the match with their versions. ``commitment``: to the seed of round 1; the deals have those
    to later ones. ``seeds``: by number of the round. ``viewer``: for whom the running round is redacted, ``None`` for
    nobody; without a running round nothing is hidden and the record is complete.
    """
    played_rounds = _by_round(events)
    running = bool(played_rounds) and not any(
        [isinstance(event, RoundEnded | Finished) for _, event in played_rounds[-1]]
    )
    last = played_rounds[-1][-1][1] if played_rounds else None
    result = last.winners if isinstance(last, Finished) else None
    rounds = []
    for number, played in enumerate(played_rounds, 1):
        over = number < len(played_rounds) or not running
        seed = (seeds or {}).get(number) if over else None
        lines = tuple([VersionedEvent(version, _redacted(event, viewer, over=over)) for version, event in played])
        dealt = played[0][1]
        proof = dealt.proof if isinstance(dealt, Dealt) else None
        if proof is None:
            rounds.append(RecordedRound(number, commitment, seed=seed, lines=lines))
            commitment = None
        else:
            attempt = proof.attempt if over else None
            rounds.append(RecordedRound(number, commitment, proof.client_seeds, attempt, seed, lines))
            commitment = proof.next_commitment
    if commitment is not None:
        next_round = len(played_rounds) + 1
        seed = None if result is None else (seeds or {}).get(next_round)
        rounds.append(RecordedRound(next_round, commitment, seed=seed))
    return replace(head, viewer=viewer if running else None, result=result, rounds=tuple(rounds))


def _by_round(
    events: Iterable[tuple[int, Event | PresenceEvent]],
) -> list[list[tuple[int, Event | PresenceEvent]]]:
    """Return the events of each round, its deal first; what happens between two rounds belongs to the first of them."""
    rounds: list[list[tuple[int, Event | PresenceEvent]]] = []
    for version, event in events:
        if isinstance(event, Dealt):
            rounds.append([])
        rounds[-1].append((version, event))
    return rounds


def _redacted(event: Event | PresenceEvent, viewer: Viewer | None, *, over: bool) -> RecordedEvent:
    """Return the event as this viewer may know it; ``over``: whether its round is over."""
    return view_for_record(event, None if viewer == SPECTATOR else viewer, over=viewer is None or over)
