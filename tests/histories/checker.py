"""The judge of a history: every made operation is in its game once, every other one is not, and nothing else is.

What is in a game is read from its events alone, in *batches*: the events of one operation with its consequences. A
batch may belong to an operation if its kind and its seat match, the version of the answer if it has one, and the
version that the operation required, after which only tokens may have changed. Where several match (two equal moves
whose answers were lost), any assignment in which all are matched will do. Does not depend on where games are stored, or
who requested them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from service.engine.events import Dealt, Done, Drew, Flipped, Passed, Played, RoundEnded
from service.engine.moves import Action
from service.engine.presence import ALL_PRESENT, Claimed, Left, PresenceEvent, Returned, TimedOut, ends_turn
from service.engine.referee import apply
from service.games.model.game import Game
from service.games.model.game_events import Created, EventEnvelope, GameEvent, HostingEvent, Joined, TokenChanged
from service.games.model.seats import BOT
from service.games.ports import Store
from service.games.store.codec import decode_event, decode_game
from service.games.store.history import rebuild_game
from tests.histories.history import History, MoveRequest, Operation, Outcome

_PAGE = 1000
_STARTS = (
    Created | Joined | TokenChanged | Played | Drew | Passed | Done | Flipped | TimedOut | Left | Returned | Claimed
)
_DEADLINE = re.compile(rb'"deadline":"[^"]*"')
_SIMPLE: dict[type[GameEvent], Action] = {Drew: "draw", Passed: "pass", Done: "done", Flipped: "flip"}


class Batch(NamedTuple):
    """The events of one write: their first and last version, and what they are.

    ``expected`` is the lowest version for which the operation may have been meant: since then only tokens had changed.
    ``by_service``: no client requested it, but a computer player moved or a time was over.
    """

    first: int
    last: int
    events: tuple[GameEvent, ...]
    expected: int
    by_service: bool = False


@dataclass
class Verdict:
    """The operations counted by outcome, and every complaint, as a sentence with its game."""

    outcomes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Gaps, replays that differ, a state that its events do not lead to, keys that were mixed up."""

    @property
    def figures(self) -> Counter[str]:
        """All of it as numbers."""
        return Counter(
            {**self.outcomes, "lost": len(self.lost), "doubled": len(self.doubled), "otherwise wrong": len(self.wrong)}
        )

    @property
    def complaints(self) -> list[str]:
        """All of them; none in a good history."""
        return [*self.lost, *self.doubled, *self.wrong]


def check_answers(operations: Iterable[Operation], verdict: Verdict) -> None:
    """Judge what clients were told: one answer under a key, as often as they ask."""
    for family in _families(operations):
        _check_answers(family, verdict)


def check(history: History, store: Store, games: Collection[str]) -> Verdict:
    """Judge a history by the ``games`` of the store, which are all that were made in it."""
    verdict = Verdict()
    families = _families(history.operations)
    for operation in history.operations:
        verdict.outcomes[operation.outcome.value] += 1
    check_answers(history.operations, verdict)
    by_game: dict[str, list[list[Operation]]] = defaultdict(list)
    creations: list[list[Operation]] = []
    for family in families:
        (creations if family[0].kind == "create" else by_game[family[0].game]).append(family)
    stored = {}
    for game_id in games:
        read = read_game(store, game_id, verdict)
        if read is not None:
            stored[game_id] = read
    for game_id in by_game.keys() - stored.keys():
        verdict.lost.append(f"{game_id}: the whole game")
    _check_creations(creations, [game for game, _ in stored.values()], verdict)
    for game_id, (game, envelopes) in stored.items():
        _check_game(game_id, _batches(game, envelopes), by_game.get(game_id, []), verdict)
    return verdict


# What the clients were answered


def _families(operations: Iterable[Operation]) -> list[list[Operation]]:
    """The operations grouped by key: of each family one may be made."""
    keyed: dict[tuple[object, ...], list[Operation]] = defaultdict(list)
    alone = []
    for operation in operations:
        if operation.key is None:
            alone.append([operation])
        else:
            keyed[operation.kind, *operation.scope, operation.key].append(operation)
    return [*alone, *keyed.values()]


def _check_answers(family: list[Operation], verdict: Verdict) -> None:
    made = [operation for operation in family if operation.made]
    if len(made) > 1:
        verdict.doubled.append(f"{_name(made[0])}: and under the same key {_name(made[1])}")
    fresh = sum(not result.replayed for operation in made for result in operation.made)
    if fresh > 1:
        verdict.doubled.append(f"{_name(made[0])}: answered {fresh} times as if it were the first")
    for operation in made:
        first = operation.made[0]
        if any((_kept(result.body), result.version) != (_kept(first.body), first.version) for result in operation.made):
            verdict.wrong.append(f"{_name(operation)}: a replayed answer differs from the first")
    for operation in family:
        reused = any(each.result.code == "key_reused" for each in operation.attempts)
        if reused and all(other is operation or other.outcome is Outcome.NOT_MADE for other in family):
            verdict.wrong.append(f"{_name(operation)}: its key was rejected as reused, but nothing else used it")


def _kept(body: bytes) -> bytes:
    """What a repeated request is told again: all but deadlines, which an outage since the first answer postpones."""
    return _DEADLINE.sub(b"", body)


# What is in the games


def read_game(store: Store, game_id: str, verdict: Verdict) -> tuple[Game, list[EventEnvelope]] | None:
    """The game and its events; reports gaps in the versions, and events that do not lead to the state.

    A game that goes on while it is read is read again: its state and its events come from two reads.
    """
    stored = store.read(game_id)
    if stored is None:
        return None
    game = decode_game(game_id, stored.version, stored.state)
    envelopes: list[EventEnvelope] = []
    while len(envelopes) < game.version:
        page = store.event_range(game_id, len(envelopes), _PAGE)
        if page is None or page.first != len(envelopes) + 1 or not page.events:
            verdict.wrong.append(f"{game_id}: no event {len(envelopes) + 1}, though the version is {game.version}")
            return game, envelopes
        envelopes += [
            _named(game, decode_event(version, game.created_at, data))
            for version, data in enumerate(page.events, page.first)
        ]
    if len(envelopes) != game.version:
        later = store.read(game_id)
        if later is not None and later.version > game.version:
            return read_game(store, game_id, verdict)
        verdict.wrong.append(f"{game_id}: {len(envelopes)} events, though the version is {game.version}")
    elif not _leads_to(game, envelopes) or game.round_ends != tuple(
        [each.version for each in envelopes if isinstance(each.event, RoundEnded)]
    ):
        verdict.wrong.append(f"{game_id}: its events do not lead to its state")
    return game, envelopes


def _named(game: Game, envelope: EventEnvelope) -> EventEnvelope:
    """The event with the name of who has joined, which is kept with the seat alone."""
    event = envelope.event
    if not isinstance(event, Joined):
        return envelope
    seat = event.seat if game.room is None else game.room.seat_now(event.seat, envelope.version)
    return envelope._replace(event=replace(event, name="" if seat is None else game.seats[seat].name or ""))


def _leads_to(game: Game, envelopes: Sequence[EventEnvelope]) -> bool:
    """Whether a replay of the events gives the game."""
    try:
        return rebuild_game(game, envelopes, game.version) == game and envelopes[-1].to_act == game.to_act
    except (ValueError, AssertionError):  # an illegal sequence: a move is missing
        return False


def _batches(game: Game, envelopes: Sequence[EventEnvelope]) -> list[Batch]:
    """The events grouped by write: each begins with the action of a player, or of the service."""
    starts: list[int] = []
    for place, (_, _, event, _) in enumerate(envelopes):
        before = envelopes[place - 1].event if place else None
        starts_batch = isinstance(event, _STARTS) and not isinstance(before, Returned)
        if starts_batch or (isinstance(event, Dealt) and not isinstance(before, Created | Joined)):
            starts.append(place)
    automatic = _made_by_service(game, envelopes)
    batches = []
    expected = 0
    for start, end in zip(starts, [*starts[1:], len(envelopes)], strict=True):
        events = tuple([each.event for each in envelopes[start:end]])
        batches.append(Batch(start + 1, end, events, expected, start in automatic))
        if not isinstance(envelopes[start].event, TokenChanged):
            expected = end
    return batches


def _made_by_service(game: Game, envelopes: Sequence[EventEnvelope]) -> set[int]:
    """The places of the events that follow from a time, or are moves of a seat that the service plays then.

    So are all deals where there is a clock: no client deals there.
    """
    if not game.is_automatic:
        return set()
    found = set()
    presence, state = ALL_PRESENT, game.rules.start()
    for place, (_, _, event, _) in enumerate(envelopes):
        if isinstance(event, PresenceEvent):
            presence = presence.after(event)
            if isinstance(event, TimedOut):
                found.add(place)
        elif not isinstance(event, HostingEvent):
            seat = getattr(event, "seat", state.turn)
            if isinstance(event, Dealt):
                if game.clock is not None or not game.seats.people:
                    found.add(place)
            elif seat is not None and (game.seats[seat].kind == BOT or not presence.plays(seat)):
                found.add(place)
            state = apply(game.rules, state, event)
            if ends_turn(event, state):
                presence = presence.turn_ended()
    return found


def _check_creations(families: list[list[Operation]], games: list[Game], verdict: Verdict) -> None:
    """Every game was requested once, as the name of its first player shows."""
    by_name: dict[str | None, list[str]] = defaultdict(list)
    for game in games:
        by_name[game.seats[0].name].append(game.id)
    for family in families:
        for operation in family:
            ids = by_name.pop(str(operation.what), [])
            for result in operation.made:
                if result.game not in ids:
                    verdict.lost.append(f"{_name(operation)}: the game {result.game}")
            if len(ids) > (0 if operation.outcome is Outcome.NOT_MADE else 1):
                verdict.doubled.append(f"{_name(operation)}: {len(ids)} games")
    verdict.doubled += [f"{ids[0]}: a game that nobody requested" for ids in by_name.values()]


def _check_game(game_id: str, batches: list[Batch], families: list[list[Operation]], verdict: Verdict) -> None:
    own = [batch for batch in batches if not isinstance(batch.events[0], Created) and not batch.by_service]
    fitting: list[list[int]] = []  # of every family, the batches it may have made
    required = []
    for place, family in enumerate(families):
        made = [operation for operation in family if operation.outcome is Outcome.MADE]
        maybe = made or [operation for operation in family if operation.outcome is Outcome.UNKNOWN]
        fitting.append(
            [number for number, batch in enumerate(own) if any(_fits(operation, batch) for operation in maybe)]
        )
        if made:
            required.append(place)
    for place in _left_over(required, fitting.__getitem__):
        verdict.lost.append(_name(families[place][0]))
    makers: list[list[int]] = [[] for _ in own]
    for place, numbers in enumerate(fitting):
        for number in numbers:
            makers[number].append(place)
    for number in _left_over(range(len(own)), makers.__getitem__):
        verdict.doubled.append(
            f"{game_id}: {own[number]} is in the game, but no operation was answered that it was made"
        )


def _fits(operation: Operation, batch: Batch) -> bool:
    """Whether the operation may have made this batch."""
    if batch.first <= operation.floor or (
        operation.at is not None and not batch.expected <= operation.at < batch.first
    ):
        return False
    if operation.made and operation.made[0].version not in (None, batch.last):
        return False
    event = next(each for each in batch.events if not isinstance(each, Returned))  # a move brings its player back
    match operation.kind:
        case "join":
            return isinstance(event, Joined) and event.name == operation.what
        case "token":
            return isinstance(event, TokenChanged) and event.seat == operation.seat
        case _:
            made = _requested_by(event)
            if (
                made is None
                or not isinstance(operation.what, MoveRequest)
                or getattr(event, "seat", operation.seat) != operation.seat
            ):
                return False
            # Without an end, the only one is meant.
            return operation.what in (made, made._replace(end=None))


def _requested_by(event: GameEvent) -> MoveRequest | None:
    """The move that leads to this event."""
    if isinstance(event, Played):
        return MoveRequest("play", event.tile.name, event.end, event.face_down)
    if isinstance(event, Dealt):
        return MoveRequest("deal")
    return MoveRequest(_SIMPLE[type(event)]) if type(event) in _SIMPLE else None


def _left_over(these: Iterable[int], partners: Callable[[int], list[int]]) -> list[int]:
    """Those left without a partner when as many as possible get a different one each (Kuhn's matching).

    If all of one side and the required ones of the other can be matched separately, both can be at once (Mendelsohn and
    Dulmage).
    """
    taken: dict[int, int] = {}

    def place(this: int, tried: set[int]) -> bool:
        for partner in partners(this):
            if partner not in tried:
                tried.add(partner)
                if partner not in taken or place(taken[partner], tried):
                    taken[partner] = this
                    return True
        return False

    return [this for this in these if not place(this, set())]


def _name(operation: Operation) -> str:
    where = f"{operation.game} seat {operation.seat} at {operation.at}" if operation.game else "a new game"
    answers = [each.result.code or each.result.version or each.result.outcome.value for each in operation.attempts]
    return f"{where}: {operation.kind} {operation.what}, answered {answers}"
