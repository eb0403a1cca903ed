"""From the events of a match to its record.

Owns what a record takes from where. Who may know what of a running round is asked of ``view``; a seed is told of a
round that is over, and of the one that a match that is over has committed to in vain: of no other, whatever is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from service.engine.events import Dealt, Event, Finished, RoundEnded
from service.engine.options import Value
from service.engine.variant import Rules, Variant
from service.engine.view import RecordedEvent, view_for_record
from service.records.record import SPECTATOR, Fairness, Record, RecordedRound, VersionedEvent, Viewer


def resolved_options(recipe: Variant, rules: Rules) -> tuple[tuple[str, Value], ...]:
    """Every option of the recipe with the value that it has in these rules, in the recipe's order."""
    return tuple([(option.key, rules.settings[option.key]) for option in recipe.options])


def build_record(
    recipe: Variant,
    rules: Rules,
    events: Iterable[tuple[int, Event]],
    *,
    players: Sequence[str],
    fairness: Fairness,
    edition: int | None = None,
    game: str = "",
    date: str = "",
    commitment: bytes | None = None,
    seeds: Mapping[int, bytes] | None = None,
    viewer: Viewer | None = None,
) -> Record:
    """The record of a match from its events with their versions.

    ``commitment`` is that to the seed of round 1; those to later ones are told by the deals. ``seeds`` are the rounds'
    seeds by number. ``viewer`` is who is to read it, ``None`` somebody who may know everything; while no round runs,
    nothing is hidden from anybody and the record is whole.
    """
    played = _by_round(events)
    running = bool(played) and not any([isinstance(event, RoundEnded) for _, event in played[-1]])
    last = played[-1][-1][1] if played else None
    result = last.winners if isinstance(last, Finished) else None
    rounds = []
    for number, happened in enumerate(played, 1):
        over = number < len(played) or not running
        dealt = happened[0][1]
        luck = dealt.proof if isinstance(dealt, Dealt) else None
        seed = (seeds or {}).get(number) if over else None
        rounds.append(
            RecordedRound(
                number,
                commitment,
                None if luck is None else luck.client_seeds,
                luck.attempt if luck is not None and over else None,
                seed,
                tuple([VersionedEvent(version, _told(event, viewer, over=over)) for version, event in happened]),
            )
        )
        commitment = None if luck is None else luck.next_commitment
    if commitment is not None:
        following = len(played) + 1
        seed = None if result is None else (seeds or {}).get(following)
        rounds.append(RecordedRound(following, commitment, seed=seed))
    return Record(
        variant=recipe.key,
        edition=recipe.edition if edition is None else edition,
        options=resolved_options(recipe, rules),
        players=tuple(players),
        game=game,
        date=date,
        fairness=fairness,
        viewer=viewer if running else None,
        result=result,
        rounds=tuple(rounds),
    )


def _by_round(events: Iterable[tuple[int, Event]]) -> list[list[tuple[int, Event]]]:
    rounds: list[list[tuple[int, Event]]] = []
    for version, event in events:
        if isinstance(event, Dealt):
            rounds.append([])
        rounds[-1].append((version, event))
    return rounds


def _told(event: Event, viewer: Viewer | None, *, over: bool) -> RecordedEvent:
    whole = viewer is None or over
    return view_for_record(event, None if viewer == SPECTATOR else viewer, over=whole)
