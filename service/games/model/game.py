"""A hosted game: a match with its seats, the hashes of their tokens, and its deck.

Owns the value that commands change and the store saves. Does not depend on how a game is stored or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.deal import Deck
from service.engine.options import Value
from service.engine.presence import ALL_PRESENT, Presence
from service.engine.state import State
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.games.model.clock import GRACE_MS, STOPPED, ClockSettings, RunningClock, deadline_of
from service.games.model.seats import BOT, Room, Seat, Seats
from service.games.reminders import NO_ALLOWANCE, OutageAllowance

GameStatus = Literal["waiting", "playing", "round_over", "finished"]

Viewer = int | Literal["owner"] | None
"""Who views a game: a seat, the application that owns the game, or ``None``, a spectator."""

OWNER: Final = "owner"

Audience = Literal["all", "app"]
"""Who finds the open seats of a game in a lobby: everybody, or only the application that owns the game."""

AUDIENCES: Final[tuple[Audience, ...]] = get_args(Audience)

_MAX_VERSION_DIGITS: Final = 10


class Ownership(NamedTuple):
    """The application that owns a game, and what it stores about the game.

    ``ref``: its own name for the game; shown to nobody else.
    ``join_code``: while seats are open; shown to the application, and to readers of the lobby with the game.
    ``lobby``: the lobby that lists the game.
    """

    app: str
    ref: str | None = None
    join_code: str | None = None
    lobby: Audience | None = None


class GameFacts(NamedTuple):
    """The stored fields of a game at one version; all else is derived. Times are in milliseconds since 1970."""

    id: str
    variant: Variant
    options: Mapping[str, Value]
    """The requested options; the other options have the defaults of the variant."""
    rules: Rules
    """The rules of the variant for these options and this number of seats."""
    seats: Seats
    join_hash: bytes | None
    arranged: bool
    deck: Deck
    version: int
    created_at: int
    updated_at: int
    round_ends: tuple[int, ...]
    """The versions of the ``RoundEnded`` events, for the score card."""
    state: State
    edition: int = 1
    """The edition of the rules at the creation of the game."""
    write_id: str = ""
    """The id of the write that led to this version; empty before the first one."""
    match_version: int = 0
    """The version of the last event after which an older move is refused: of any type that is not in ``NO_PLAY``
    (``service.games.model.game_events``).
    """
    match_write_id: str = ""
    """The id of the write that led to ``match_version``."""
    commitments: tuple[bytes, ...] = ()
    """The commitments to the seeds of the last dealt round, if any, and of the next; empty if nothing can be proven."""
    is_automatic: bool = False
    """Whether anything can happen in this game without a person: the move of a computer player, or a deadline."""
    ownership: Ownership | None = None
    rematch: str | None = None
    """The id of the game that follows this one."""
    rematch_of: str | None = None
    """The id of the game that this one follows."""
    unique_names: bool = False
    """Whether no two players may have the same name."""
    spectators: bool = True
    """Whether anybody can read the game, and not only its seats and its owner."""
    pace: int | None = None
    """Milliseconds between an event and the move of a computer player; ``None``: the default."""
    presence: Presence = ALL_PRESENT
    clock: ClockSettings | None = None
    running_clock: RunningClock = STOPPED
    """Is ``STOPPED`` unless the game ``is_automatic``."""
    network: str = ""
    """A digest of the network of the address that created the game; empty for a game of an application."""
    first_move: int | None = None
    """The version before the first move of a person."""
    auto: bool = False
    """Whether forced draws and passes of people are made together with the move before them."""
    room: Room | None = None
    """The waiting room of the game; ``None`` if only joins happened in it."""
    trace: str = ""
    """The trace id of the last request that changed the game (``service.games.ports.TRACE``)."""
    allowance: OutageAllowance = NO_ALLOWANCE
    """The outage allowance of the deadlines, as this process last read it; not stored."""


class Game(GameFacts):
    """A game at one version. Each version is a new value, so that no cached property has to be updated."""

    @cached_property
    def status(self) -> GameStatus:
        """``waiting`` while a seat is open or before the first deal, else the phase of the match."""
        return "waiting" if self.seats.are_open or not self.state.round else self.state.phase

    @cached_property
    def to_act(self) -> tuple[int, ...]:
        """The seats that can move; none while a seat is open, nor before the first deal, which the service makes."""
        return () if self.status == "waiting" else self.state.to_act

    @cached_property
    def deadline(self) -> int | None:
        """The deadline of the running turn or deal, without the outage allowance; ``None`` while no clock runs."""
        if self.clock is None or self.status == "waiting":
            return None
        return deadline_of(self.running_clock, self.clock, self.state, self.presence, seats=self.seats)

    @cached_property
    def shown_deadline(self) -> int | None:
        """The deadline with the outage allowance that this process knows."""
        return self.deferred_deadline(self.allowance)

    def deferred_deadline(self, allowance: OutageAllowance) -> int | None:
        """Return the deadline with this allowance: that of a turn that began before the end of an outage is postponed.

        In a game with banks all later turns are postponed, too, because a bank ran down during the outage.
        """
        if self.deadline is None or self.clock is None:
            return None
        began = self.created_at if self.clock.turn is None else self.running_clock.started
        return max(self.deadline, allowance.until - GRACE_MS) if began <= allowance.since else self.deadline

    @cached_property
    def is_awaited(self) -> bool:
        """Return whether a person may be waiting for the next event: a seat is open, or a person has not forfeited."""
        return self.seats.are_open or not self.seats.people <= self.presence.forfeited

    @property
    def fills_at(self) -> int | None:
        """Return when computer players get the open seats, in milliseconds since 1970; ``None`` for never."""
        room = self.room if self.seats.are_open else None
        return None if room is None or room.fill is None or room.since is None else room.since + room.fill.after

    @cached_property
    def tenant(self) -> str:
        """The tenant whose share the game counts in."""
        return self.network if self.ownership is None else self.ownership.app

    @property
    def is_set_up_automatic(self) -> bool:
        """Return whether the settings alone make the game automatic, even if nobody is away."""
        if self.room is not None and self.room.fill is not None:
            return True
        return self.clock is not None or self.pace is not None or any([seat.kind == BOT for seat in self.seats])

    def with_seat(self, seat: int, value: Seat) -> Game:
        """Return the game with a new value for this seat."""
        return self._replace(seats=Seats((*self.seats[:seat], value, *self.seats[seat + 1 :])))

    def is_current(self, version: int) -> bool:
        """Return whether a move for ``version`` is still accepted: no event since then changed what can be played."""
        return self.match_version <= version <= self.version

    def etag(self, viewer: Viewer) -> str:
        """Return the ETag of this version for a viewer. It reveals nothing hidden.

        The random ids of the writes that led to ``match_version`` and to this version distinguish two writes with the
        same version, of which a failover lost the first. A deadline that an outage has postponed changes the view.
        """
        write = "" if self.write_id == self.match_write_id else f".{self.write_id}"
        if self.allowance.until and self.shown_deadline != self.deadline:
            write += f".{self.shown_deadline}"
        return f"{self.version}-{self.match_write_id}{write}-{'s' if viewer is None else viewer}"

    def is_current_tag(self, tag: str, seat: int) -> bool:
        """Return whether the tag is the number of a current version, or its ETag for this seat (``is_current``)."""
        number = tag.partition("-")[0]
        if not number.isdecimal() or len(number) > _MAX_VERSION_DIGITS or not self.is_current(int(number)):
            return False
        of_match, of_seat = f"{number}-{self.match_write_id}", f"-{seat}"
        if tag in (number, of_match + of_seat):
            return True
        return tag.startswith(f"{of_match}.") and tag.endswith(of_seat)


def rules_for(variant: str, options: Mapping[str, Value], seats: int) -> Rules:
    """Return the rules of a variant for these options and this number of seats; cached.

    Raises ``InvalidSetup``, and ``KeyError`` for an unknown variant.
    """
    # The key has the types of the values, because ``True`` equals 1, but an option may accept only one of them.
    return _rules(variant, tuple([(key, type(value), value) for key, value in options.items()]), seats)


@lru_cache(maxsize=1024)
def _rules(variant: str, options: tuple[tuple[str, type[Value], Value], ...], seats: int) -> Rules:
    return variants()[variant].rules({key: value for key, _, value in options}, seats)
