"""Build the record of a match, and write a record as text (``docs/record.md``).

A text has a head of tags, and a section for every round. Owns the order and the form of the tags; ``notation`` formats
the events. Does not depend on whether a record is correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from service.engine.events import Dealt, Event, Finished, RoundEnded
from service.engine.options import Value, format_value
from service.engine.presence import PresenceEvent
from service.engine.variant import Rules, Variant
from service.engine.view import view_for_record
from service.records.notation.events import format_event
from service.records.notation.scanner import quote
from service.records.record import SPECTATOR, Record, RecordedRound, VersionedEvent, Viewer

MEDIA_TYPE: Final = "text/vnd.domino-record"
"""The media type of a record, which is encoded in UTF-8."""
FILE_SUFFIX: Final = ".domino"
NOTATION_VERSION: Final = "1"
HEAD: Final = -1

Location = tuple[int, str | int]
"""A place in a record: first the index of a round, or ``HEAD``; then the name of a tag, or the index of a line.

The name of a player's tag includes the seat: ``Player 0``.
"""


def format_record(record: Record) -> str:
    """Return the text of a record, with a line feed at its end."""
    return "".join([f"{line}\n" for line in _lines(record)])


def line_numbers(record: Record) -> dict[Location, int]:
    """Return the line number of every place in the text of the record, counted from 1."""
    return {place: number for number, place in enumerate(_places(record), 1) if place is not None}


def _places(record: Record) -> Iterator[Location | None]:
    """Yield the place of every line; ``None`` for an empty line."""
    yield from [(HEAD, name) for name, _ in _head(record)]
    for index, recorded in enumerate(record.rounds):
        yield None
        yield from [(index, name) for name, _ in tags_of_round(recorded)]
        yield from [(index, line_index) for line_index in range(len(recorded.lines))]


def _lines(record: Record) -> Iterator[str]:
    for _, tag in _head(record):
        yield tag
    for recorded in record.rounds:
        yield ""
        for _, tag in tags_of_round(recorded):
            yield tag
        for version, event in recorded.lines:
            yield f"{version}. {format_event(event)}"


def _head(record: Record) -> Iterator[tuple[str, str]]:
    yield _tag("Record", NOTATION_VERSION)
    if record.game:
        yield _tag("GameId", record.game)
    yield _tag("Variant", record.variant)
    yield _tag("Edition", record.edition)
    yield _tag("Options", " ".join([f"{key}={format_value(value)}" for key, value in record.options]))
    for seat, name in enumerate(record.players):
        bot = record.bot_at(seat)
        kind = "" if bot is None else f" bot={bot.level} edition={bot.edition}"
        yield f"Player {seat}", f"[Player {seat} {quote(name)}{kind}]"
    if record.clock is not None:
        turn, bank, increment, absence = record.clock
        yield _tag("Clock", f"bank={bank} increment={increment}" if turn is None else f"turn={turn}")
        yield _tag("Absence", absence)
    if record.date:
        yield _tag("Date", record.date)
    yield _tag("Fairness", record.fairness)
    if record.viewer is not None:
        yield _tag("Seen", record.viewer)
    yield _tag("Result", "*" if record.result is None else " ".join(map(str, record.result)))


def tags_of_round(recorded: RecordedRound) -> Iterator[tuple[str, str]]:
    """Yield the name of each tag of a round, and its line."""
    yield "Round", f"[Round {recorded.number}]"
    if recorded.commitment is not None:
        yield _tag("Commitment", recorded.commitment.hex())
    if recorded.client_seeds is not None:
        yield "ClientSeeds", f"[ClientSeeds {' '.join(map(quote, recorded.client_seeds))}]"
    if recorded.attempt is not None:
        yield "Attempt", f"[Attempt {recorded.attempt}]"
    if recorded.seed is not None:
        yield _tag("Seed", recorded.seed.hex())


def _tag(name: str, value: str | int) -> tuple[str, str]:
    return name, f"[{name} {quote(str(value))}]"


# Building the record of a match.


def resolved_options(variant: Variant, rules: Rules) -> tuple[tuple[str, Value], ...]:
    """Return each option of the variant with its value in these rules, in the order of the variant."""
    return tuple([(option.key, rules.settings[option.key]) for option in variant.options])


def build_record(
    head: Record,
    events: Iterable[tuple[int, Event | PresenceEvent]],
    *,
    commitment: bytes | None = None,
    seeds: Mapping[int, bytes] | None = None,
    viewer: Viewer | None = None,
) -> Record:
    """Return the record of a match; its ``head`` is a record without rounds.

    ``events``: the events of the match with their versions.
    ``commitment``: the commitment to the seed of round 1; each deal has the commitment of the next round.
    ``seeds``: the seeds by the number of their round.
    ``viewer``: a running round is redacted for this viewer; ``None``: nothing is redacted.
    """
    played_rounds = _by_round(events)
    last_round = played_rounds[-1] if played_rounds else []
    running = bool(last_round) and not any([isinstance(event, RoundEnded | Finished) for _, event in last_round])
    last = last_round[-1][1] if last_round else None
    result = last.winners if isinstance(last, Finished) else None
    seat = None if viewer == SPECTATOR else viewer
    rounds = []
    for number, played in enumerate(played_rounds, 1):
        over = number < len(played_rounds) or not running
        seed = (seeds or {}).get(number) if over else None
        is_visible = viewer is None or over
        lines = [VersionedEvent(version, view_for_record(event, seat, over=is_visible)) for version, event in played]
        dealt = played[0][1]
        proof = dealt.proof if isinstance(dealt, Dealt) else None
        recorded = RecordedRound(number, commitment, seed=seed, lines=tuple(lines))
        commitment = None
        if proof is not None:
            recorded = recorded._replace(client_seeds=proof.client_seeds, attempt=proof.attempt if over else None)
            commitment = proof.next_commitment
        rounds.append(recorded)
    if commitment is not None:
        next_round = len(played_rounds) + 1
        seed = None if result is None else (seeds or {}).get(next_round)
        rounds.append(RecordedRound(next_round, commitment, seed=seed))
    return replace(head, viewer=viewer if running else None, result=result, rounds=tuple(rounds))


def _by_round(events: Iterable[tuple[int, Event | PresenceEvent]]) -> list[list[tuple[int, Event | PresenceEvent]]]:
    """Return the events of each round, its deal first; events between two rounds belong to the earlier one."""
    rounds: list[list[tuple[int, Event | PresenceEvent]]] = []
    for version, event in events:
        if isinstance(event, Dealt):
            rounds.append([])
        rounds[-1].append((version, event))
    return rounds
