"""A hosted game: a match with its seats, the hashes of their tokens, and its deck.

Owns the value that the codec encodes and the store holds. Does not depend on how it is stored or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.deal import Deck
from service.engine.options import Value
from service.engine.presence import (
    ALL_PRESENT,
    Presence,
)
from service.engine.state import State
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.games.model.clock import STOPPED, ClockSettings, RunningClock, deadline_of, deferred
from service.games.model.seats import BOT, Room, Seat, Seats
from service.games.reminders import NO_ALLOWANCE, OutageAllowance

GameStatus = Literal["waiting", "playing", "round_over", "finished"]

Viewer = int | Literal["owner"] | None
"""Who looks at a game: a seat, the application that owns the game, or ``None``, a spectator."""

OWNER: Final = "owner"

Audience = Literal["all", "app"]
"""Who finds the open seats of a game in the lobby: everybody, or the application that owns the game alone."""

AUDIENCES: Final[tuple[Audience, ...]] = get_args(Audience)

_MAX_VERSION_DIGITS: Final = 10


class Ownership(NamedTuple):
    """The application that owns a game, and how it calls the game: only the application is told ``ref``.

    ``join_code`` is ``None`` unless seats are open; the application gets it, and anybody who may read a lobby in which
    the game is. ``lobby`` says in which one.
    """

    app: str
    ref: str | None = None
    join_code: str | None = None
    lobby: Audience | None = None


class GameFacts(NamedTuple):
    """The facts of a game at one version, from which all else is derived. Times are in milliseconds since 1970."""

    id: str
    variant: Variant
    options: Mapping[str, Value]
    """As requested; the others have the variant's defaults."""
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
    """The version of the last event that changed what can be played: all but changes of tokens, names and join codes,
    rematches, and players who leave or come back. If a computer player takes over because a time is over, that has
    changed.
    """
    match_write_id: str = ""
    """The id of the write that led to ``match_version``."""
    commitments: tuple[bytes, ...] = ()
    """To the seeds of the last dealt round, if there is one, and of the next; empty if the deals cannot be proven."""
    is_automatic: bool = False
    """Whether anything may happen in this game without a person: a move of a bot, or the end of a time."""
    ownership: Ownership | None = None
    """``None`` for a game that belongs to no application."""
    rematch: str | None = None
    """The id of the game that follows this one."""
    rematch_of: str | None = None
    """The id of the game that this one follows; ``None`` unless it is a rematch."""
    unique_names: bool = False
    """Whether no two players may have the same name."""
    spectators: bool = True
    """Whether anybody may read the game, and not only its seats and its owner."""
    pace: int | None = None
    """Milliseconds between an event and the move of a computer player; ``None``: the default."""
    presence: Presence = ALL_PRESENT
    clock: ClockSettings | None = None
    running_clock: RunningClock = STOPPED
    """Stopped unless anything may happen without a player."""
    network: str = ""
    """What stands for the network of the address that created the game; empty for a game of an application."""
    first_move: int | None = None
    """The version before the first move of a person; ``None`` while there is none."""
    auto: bool = False
    """Whether the draws and passes of people without a choice are made with the move before them."""
    room: Room | None = None
    """What is kept of its time as a waiting room; ``None`` where nothing but joins has happened in it."""
    trace: str = ""
    """The trace of the last request that changed the game (``service.games.ports``)."""
    allowance: OutageAllowance = NO_ALLOWANCE
    """By how much outages postpone its deadlines, as the process last learned it; not stored."""


class Game(GameFacts):
    """A game at one version, with what follows from its facts: each is found out once, when it is first asked for.

    Another version is another value, so that nothing has to be kept up to date.
    """

    @cached_property
    def status(self) -> GameStatus:
        """``waiting`` while a seat is open and before the first deal, else the phase of the match."""
        return "waiting" if self.seats.are_open or not self.state.round else self.state.phase

    @cached_property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may move; none while a seat is open, nor before the first deal, which is nobody's move."""
        return () if self.status == "waiting" else self.state.to_act

    @cached_property
    def deadline(self) -> int | None:
        """When the time for the running turn or deal is over by the clock of the game; after an outage it may be later.

        ``None`` without a clock, and while it does not run.
        """
        if self.clock is None or self.status == "waiting":
            return None
        return deadline_of(self.running_clock, self.clock, self.state, self.presence, seats=self.seats)

    @cached_property
    def shown_deadline(self) -> int | None:
        """The deadline as it will be applied, as far as this process knows of outages."""
        return self.deferred_deadline(self.allowance)

    def deferred_deadline(self, allowance: OutageAllowance) -> int | None:
        """Return the deadline as it is applied with this allowance.

        An outage counts for the turns that began before its end; in a game with banks for all that follow too, as it
        has used up a bank.
        """
        if self.deadline is None or self.clock is None:
            return None
        began = self.created_at if self.clock.turn is None else self.running_clock.started
        return deferred(self.deadline, began, allowance)

    @cached_property
    def is_awaited(self) -> bool:
        """Whether anybody may wait for what comes next: a person who has not forfeited."""
        return self.seats.are_open or not self.seats.people <= self.presence.forfeited

    @property
    def fills_at(self) -> int | None:
        """When the open seats go to computer players, in milliseconds since 1970; ``None``: not by itself."""
        room = self.room
        if room is None or room.fill is None or room.since is None or not self.seats.are_open:
            return None
        return room.since + room.fill.after

    @property
    def tenant(self) -> str:
        """Who is served in turns for the game, and whose share of what the service holds it counts in.

        The application that owns it, or else its ``network``.
        """
        return self.network if self.ownership is None else self.ownership.app

    @property
    def is_set_up_automatic(self) -> bool:
        """Whether the game is automatic from its creation, and not only while somebody is away."""
        if self.room is not None and self.room.fill is not None:
            return True
        return self.clock is not None or self.pace is not None or any([seat.kind == BOT for seat in self.seats])

    @property
    def open_code(self) -> bytes | None:
        """The hash of the join code by which the game is found; ``None`` unless a seat is open."""
        return self.join_hash if self.seats.are_open else None

    def with_seat(self, seat: int, value: Seat) -> Game:
        """Return the game with another value of a seat."""
        return self._replace(seats=self.seats.replaced(seat, value))

    def is_current(self, version: int) -> bool:
        """Return whether a move for ``version`` may be made, as nothing that can be played has changed since."""
        return self.match_version <= version <= self.version

    def etag(self, viewer: Viewer) -> str:
        """Return the ETag of this version for a viewer. Depends on nothing hidden.

        The ids of the writes that led to ``match_version`` and, if it is another, to this version are random: they
        distinguish two writes that led to the same version, the first of which was lost in a failover. A deadline that
        an outage has postponed since the write changes the view, and so it is in the ETag.
        """
        write = "" if self.write_id == self.match_write_id else f".{self.write_id}"
        if self.allowance.until and self.shown_deadline != self.deadline:
            write += f".{self.shown_deadline}"
        return f"{self.version}-{self.match_write_id}{write}-{'s' if viewer is None else viewer}"

    def is_current_tag(self, tag: str, seat: int) -> bool:
        """Return whether this is a version that ``is_current``, or the ETag of such a version for this seat."""
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
    # With the types, as `true` equals 1 but may be refused where 1 is not.
    return _rules(variant, tuple([(key, type(value), value) for key, value in options.items()]), seats)


@lru_cache(maxsize=1024)
def _rules(variant: str, options: tuple[tuple[str, type[Value], Value], ...], seats: int) -> Rules:
    return variants()[variant].rules({key: value for key, _, value in options}, seats)
