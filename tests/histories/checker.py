"""The judge of a history: every made wish is in its game once, every other one is not, and nothing else is.

What is in a game is read from its events alone, in *batches*: what one wish made, its consequences included. That
a batch and a wish belong together is seen by what it is and who did it, by the version of the answer if it tells
one, and by the version that the wish was for. Where several fit (two equal moves whose answers were lost), any
assignment in which all come out will do. Must not know where the games are kept, or by whom they were asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from service.engine.events import Dealt, Done, Drew, Flipped, Passed, Played, RoundEnded
from service.engine.moves import Action
from service.games.codec import decode_event, decode_game
from service.games.game import Created, EventEnvelope, Game, GameEvent, Joined, TokenChanged
from service.games.ports import Store
from service.games.repository import rebuild_game
from tests.histories.history import Asked, History, Outcome, Wish

_PAGE = 1000
_SIMPLE: dict[type[GameEvent], Action] = {Drew: "draw", Passed: "pass", Done: "done", Flipped: "flip"}


class Batch(NamedTuple):
    """The events of one write: their first and last version, and what they are."""

    first: int
    last: int
    events: tuple[GameEvent, ...]


@dataclass
class Verdict:
    """What was found: how many wishes were told what, and every complaint, as a sentence with its game."""

    told: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Gaps, replays that differ, a state that its events do not lead to, keys that were mixed up."""

    @property
    def figures(self) -> Counter[str]:
        """All of it as numbers."""
        return Counter(
            {**self.told, "lost": len(self.lost), "doubled": len(self.doubled), "otherwise wrong": len(self.wrong)}
        )

    @property
    def complaints(self) -> list[str]:
        """All of them; none in a good history."""
        return [*self.lost, *self.doubled, *self.wrong]


def check(history: History, store: Store, games: Collection[str]) -> Verdict:
    """Judge a history by the ``games`` of the store, which are all that were made in it."""
    verdict = Verdict()
    families = _families(history.wishes)
    for wish in history.wishes:
        verdict.told[wish.outcome.value] += 1
    for family in families:
        _check_answers(family, verdict)
    by_game: dict[str, list[list[Wish]]] = defaultdict(list)
    creations: list[list[Wish]] = []
    for family in families:
        (creations if family[0].kind == "create" else by_game[family[0].game]).append(family)
    found = {}
    for game_id in games:
        read = _read(store, game_id, verdict)
        if read is not None:
            found[game_id] = read
    for game_id in by_game.keys() - found.keys():
        verdict.lost.append(f"{game_id}: the whole game")
    _check_creations(creations, [game for game, _ in found.values()], verdict)
    for game_id, (_, happened) in found.items():
        _check_game(game_id, _batches(happened), by_game.get(game_id, []), verdict)
    return verdict


# What the clients were told


def _families(wishes: Iterable[Wish]) -> list[list[Wish]]:
    """The wishes, those with the same key together: of each family one may be made."""
    keyed: dict[tuple[object, ...], list[Wish]] = defaultdict(list)
    alone = []
    for wish in wishes:
        if wish.key is None:
            alone.append([wish])
        else:
            keyed[wish.kind, *wish.scope, wish.key].append(wish)
    return [*alone, *keyed.values()]


def _check_answers(family: list[Wish], verdict: Verdict) -> None:
    made = [wish for wish in family if wish.made]
    if len(made) > 1:
        verdict.doubled.append(f"{_name(made[0])}: and under the same key {_name(made[1])}")
    fresh = sum(not told.replayed for wish in made for told in wish.made)
    if fresh > 1:
        verdict.doubled.append(f"{_name(made[0])}: answered {fresh} times as if it were the first")
    for wish in made:
        first = wish.made[0]
        if any((told.answer, told.version) != (first.answer, first.version) for told in wish.made):
            verdict.wrong.append(f"{_name(wish)}: a replayed answer differs from the first")
    for wish in family:
        reused = any(each.told.code == "key_reused" for each in wish.attempts)
        if reused and all(other is wish or other.outcome is Outcome.NOT_MADE for other in family):
            verdict.wrong.append(f"{_name(wish)}: its key is said to be taken, but by whom?")


# What is in the games


def _read(store: Store, game_id: str, verdict: Verdict) -> tuple[Game, list[EventEnvelope]] | None:
    """The game and all that happened in it; its versions have no gap, and lead to its state."""
    stored = store.read(game_id)
    if stored is None:
        return None
    game = decode_game(game_id, stored.version, stored.state)
    happened: list[EventEnvelope] = []
    while len(happened) < game.version:
        passage = store.event_range(game_id, len(happened), _PAGE)
        if passage is None or passage.first != len(happened) + 1 or not passage.events:
            verdict.wrong.append(f"{game_id}: no event {len(happened) + 1}, though the version is {game.version}")
            return game, happened
        happened += [
            decode_event(version, game.created_at, data) for version, data in enumerate(passage.events, passage.first)
        ]
    if len(happened) != game.version:
        verdict.wrong.append(f"{game_id}: {len(happened)} events, though the version is {game.version}")
    elif not _leads_to(game, happened) or game.round_ends != tuple(
        [version for version, _, event in happened if isinstance(event, RoundEnded)]
    ):
        verdict.wrong.append(f"{game_id}: its events do not lead to its state")
    return game, happened


def _leads_to(game: Game, happened: Sequence[EventEnvelope]) -> bool:
    """Whether what has happened made the game what it is."""
    try:
        return rebuild_game(game, happened, game.version) == game
    except (ValueError, AssertionError):  # so cannot happen at all: somebody's move is missing
        return False


def _batches(happened: Sequence[EventEnvelope]) -> list[Batch]:
    """The events by the writes they came from: each begins with what somebody did."""
    starts: list[int] = []
    for place, (_, _, event) in enumerate(happened):
        before = happened[place - 1].event if place else None
        opens = isinstance(event, Created | Joined | TokenChanged | Played | Drew | Passed | Done | Flipped)
        if opens or (isinstance(event, Dealt) and not isinstance(before, Created | Joined)):
            starts.append(place)
    return [
        Batch(start + 1, end, tuple([each.event for each in happened[start:end]]))
        for start, end in zip(starts, [*starts[1:], len(happened)], strict=True)
    ]


def _check_creations(families: list[list[Wish]], games: list[Game], verdict: Verdict) -> None:
    """Every game was asked for, by the name of its first player, and once."""
    by_name: dict[str | None, list[str]] = defaultdict(list)
    for game in games:
        by_name[game.seats[0].name].append(game.id)
    for family in families:
        for wish in family:
            ids = by_name.pop(str(wish.what), [])
            for told in wish.made:
                if told.game not in ids:
                    verdict.lost.append(f"{_name(wish)}: the game {told.game}")
            if len(ids) > (0 if wish.outcome is Outcome.NOT_MADE else 1):
                verdict.doubled.append(f"{_name(wish)}: {len(ids)} games")
    verdict.doubled += [f"{ids[0]}: a game that nobody asked for" for ids in by_name.values()]


def _check_game(game_id: str, batches: list[Batch], families: list[list[Wish]], verdict: Verdict) -> None:
    own = [batch for batch in batches if not isinstance(batch.events[0], Created)]
    fitting: list[list[int]] = []  # of every family, the batches it may have made
    required = []
    for place, family in enumerate(families):
        made = [wish for wish in family if wish.outcome is Outcome.MADE]
        maybe = made or [wish for wish in family if wish.outcome is Outcome.UNKNOWN]
        fitting.append([number for number, batch in enumerate(own) if any(_fits(wish, batch) for wish in maybe)])
        if made:
            required.append(place)
    for place in _left_over(required, fitting.__getitem__):
        verdict.lost.append(_name(families[place][0]))
    makers: list[list[int]] = [[] for _ in own]
    for place, numbers in enumerate(fitting):
        for number in numbers:
            makers[number].append(place)
    for number in _left_over(range(len(own)), makers.__getitem__):
        verdict.doubled.append(f"{game_id}: {own[number]} is there, but nobody was told so")


def _fits(wish: Wish, batch: Batch) -> bool:
    """Whether this may be what the wish made."""
    if batch.first <= wish.floor or (wish.at is not None and batch.first != wish.at + 1):
        return False
    if wish.made and wish.made[0].version not in (None, batch.last):
        return False
    event = batch.events[0]
    match wish.kind:
        case "join":
            return isinstance(event, Joined) and event.name == wish.what
        case "token":
            return isinstance(event, TokenChanged) and event.seat == wish.seat
        case _:
            made = _asked_by(event)
            if made is None or not isinstance(wish.what, Asked) or getattr(event, "seat", wish.seat) != wish.seat:
                return False
            # Who names no end means the only one there is.
            return wish.what in (made, made._replace(end=None))


def _asked_by(event: GameEvent) -> Asked | None:
    """The move that leads to this event."""
    if isinstance(event, Played):
        return Asked("play", event.tile.name, event.end, event.face_down)
    if isinstance(event, Dealt):
        return Asked("deal")
    return Asked(_SIMPLE[type(event)]) if type(event) in _SIMPLE else None


def _left_over(these: Iterable[int], partners: Callable[[int], list[int]]) -> list[int]:
    """Those who get no partner when as many as can be get one, each another (Kuhn's matching).

    That all of one side and the required ones of the other get one, each taken by itself, means that both can at
    once (Mendelsohn and Dulmage).
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


def _name(wish: Wish) -> str:
    where = f"{wish.game} seat {wish.seat} at {wish.at}" if wish.game else "a new game"
    answers = [each.told.code or each.told.version or each.told.outcome.value for each in wish.attempts]
    return f"{where}: {wish.kind} {wish.what}, told {answers}"
