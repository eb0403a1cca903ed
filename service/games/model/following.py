"""The next state of a game: after a move, and after events that change presence or clock.

Owns the effect of an event on presence and clock, not on the match (``service.engine.referee``). Does not depend on who
acts, nor on what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, get_args

from service.engine.events import Dealt, Drew, Event, Finished, Passed, RoundEnded
from service.engine.moves import Move
from service.engine.presence import (
    ALL_PRESENT,
    Claimed,
    Left,
    Presence,
    PresenceEvent,
    Resigned,
    Returned,
    TimedOut,
    consequences,
    ends_turn,
    with_forfeits,
)
from service.engine.referee import advance, apply, forced_move
from service.engine.state import PLAYING, ROUND_OVER, State
from service.games.model.clock import STOPPED, RunningClock, is_counted, present_people, sleeps
from service.games.model.game import Game
from service.games.model.game_events import (
    NO_PLAY,
    Created,
    Filled,
    GameEvent,
    HostingEvent,
    Joined,
    Reminded,
    Started,
    commitments_after,
)
from service.games.model.seats import Room, Seats

_PRESENCE: Final = frozenset(get_args(PresenceEvent))


def advance_match(game: Game, seat: int, move: Move) -> tuple[Game, Sequence[Event]]:
    """Make a move; in a game with ``auto``, make the forced moves that follow, too. Raises ``Refusal``.

    If the match ends, seats that have forfeited do not win.
    """
    events, state = advance(game.rules, game.deck, game.state, seat, move=move)
    deck = game.deck if state.round == game.state.round else game.deck.discard_used(state.round)
    if game.presence.forfeited:
        corrected = with_forfeits(game.rules, state, game.presence.forfeited, events)
        if corrected != events:
            events, state = corrected, apply(game.rules, state, corrected[-1])
    game = game._replace(state=state, deck=deck)
    return _with_forced_moves(game, events) if game.auto else (game, events)


def _with_forced_moves(game: Game, events: Sequence[Event]) -> tuple[Game, Sequence[Event]]:
    """Make the forced draws and passes of people that follow; return the game, and all events. Ends with the round."""
    all_events, latest, presence = list(events), events, game.presence
    game = game._replace(auto=False)  # so that ``advance_match`` makes one move only
    while game.state.phase == PLAYING:
        seat = game.state.turn
        if ends_turn(latest[0], game.state):
            presence = presence.turn_ended()
        if seat is None or seat not in game.seats.people or not presence.plays(seat):
            break
        move = forced_move(game.rules, game.state)
        if move is None:
            break
        game, (first, *others) = advance_match(game, seat, move)
        assert isinstance(first, Drew | Passed)
        latest = (replace(first, auto=True), *others)
        all_events += latest
    return game._replace(auto=True), all_events


def with_consequences(game: Game, event: PresenceEvent) -> tuple[Game, Sequence[GameEvent]]:
    """Return the game after this event, and the event with its consequences: a forfeit, the end of the match."""
    following = consequences(game.rules, game.state, game.presence, event)
    for next_event in following:
        if isinstance(next_event, Finished):
            game = game._replace(state=apply(game.rules, game.state, next_event))
    return game, [event, *following]


def with_events(
    game: Game,
    events: Sequence[GameEvent],
    before: State,
    *,
    at: int,
    write_id: str,
    yielding: Callable[[Sequence[GameEvent]], Iterable[GameEvent]] = iter,
) -> Game:
    """Return the game at the version after these events, written at ``at`` (milliseconds since 1970).

    ``before``: the state of the match. ``yielding`` returns the same events, and lets other requests run between them.
    """
    round_ends, commitments = game.round_ends, game.commitments
    match_version, match_write_id = game.match_version, game.match_write_id
    for version, event in enumerate(events, game.version + 1):
        if type(event) in NO_PLAY:
            continue
        match_version, match_write_id = version, write_id
        if isinstance(event, RoundEnded):
            round_ends = (*round_ends, version)
        if isinstance(event, Dealt | Created) and not game.arranged:
            commitments = commitments_after(commitments, event)
    presence, clock, automatic = game.presence, game.running_clock, False
    if game.is_automatic or type(events[0]) in _PRESENCE:
        timed = [(at, event) for event in yielding(events)]
        presence, clock, automatic, _ = _presence_and_clock(game, before, timed, game.state)
    return game._replace(
        version=game.version + len(events),
        updated_at=at,
        room=None if game.room is None else _room_after(game.room, game.seats, at),
        round_ends=round_ends,
        write_id=write_id,
        match_version=match_version,
        match_write_id=match_write_id,
        presence=presence,
        running_clock=clock,
        is_automatic=automatic,
        commitments=commitments,
    )


def _room_after(room: Room, seats: Seats, at: int) -> Room:
    """Return the waiting room after a write at this time, with ``since`` updated."""
    if room.fill is None or not seats.are_open:
        return room
    if not seats.people:
        return room._replace(since=None)
    return room if room.since is not None else room._replace(since=at)


def replay_timed(game: Game, state: State, events: Iterable[tuple[int, GameEvent]]) -> tuple[Game, State]:
    """Return the game with presence and clock after these events (at ms since 1970), and the ``state`` after them."""
    presence, clock, automatic, after = _presence_and_clock(game, state, events)
    return game._replace(presence=presence, running_clock=clock, is_automatic=automatic), after


def _presence_and_clock(
    game: Game, state: State, events: Iterable[tuple[int, GameEvent]], after: State | None = None
) -> tuple[Presence, RunningClock, bool, State]:
    """Return the presence, the clock, whether the game is automatic, and the state of the match after these events.

    ``after``: the last of these, if the caller has it.
    A ``RoundEnded`` ends the turn of the move before it, which is in the same write.
    """
    settings, presence, clock, by_settings = game.clock, game.presence, game.running_clock, game.is_set_up_automatic
    automatic = by_settings or presence != ALL_PRESENT
    running_seat: int | None = None
    remaining = 0 if after is None else sum([not isinstance(event, HostingEvent) for _, event in events])
    for at, event in events:
        if isinstance(event, PresenceEvent):
            clock = _clock_after(clock, game, event, at=at, state=state, presence=presence)
            presence = presence.after(event)
            automatic = by_settings or presence != ALL_PRESENT
            clock = clock._replace(acted=clock.acted or at) if automatic else STOPPED
        elif isinstance(event, Joined | Filled | Started):
            state = game.rules.start() if isinstance(event, Started) else state
            if automatic:
                clock = clock.turn_begins(at)._replace(acted=at)
        elif isinstance(event, Reminded):
            clock = clock._replace(reminded=at)
        elif not isinstance(event, HostingEvent):
            seat = running_seat if isinstance(event, RoundEnded) else state.turn
            remaining -= 1
            state = after if after is not None and not remaining else apply(game.rules, state, event)
            ended = ends_turn(event, state)
            running_seat = None if ended else seat
            if settings is not None and ended and seat is not None:
                counted = is_counted(seat, presence, game.seats)
                clock = clock.turn_ends(settings, seat, presence, at, counted=counted)
            if automatic:
                begins = settings is not None and (ended or isinstance(event, Dealt))
                clock = (clock.turn_begins(at) if begins else clock)._replace(acted=at)
            if ended:
                presence = presence.turn_ended()
    return presence, clock if automatic else STOPPED, automatic, state


def _clock_after(
    clock: RunningClock, game: Game, event: PresenceEvent, *, at: int, state: State, presence: Presence
) -> RunningClock:
    """Return the clock after this event; ``state`` and ``presence`` are from before the event."""
    seat, seats, settings = event.seat, game.seats, game.clock
    if settings is None:
        return clock
    match event:
        case Returned():
            slept = _waits_for_people(state, presence, seats)
            return clock.resumed(settings, seat, at, to_move=seat == state.turn, slept=slept)
        case Left() | TimedOut() | Claimed() | Resigned():
            running, after = state.turn, presence.after(event)
            if running is not None and is_counted(running, presence, seats):
                return clock if is_counted(running, after, seats) else clock.interrupted(running, at)
    return clock


def _waits_for_people(state: State, presence: Presence, seats: Seats) -> bool:
    """Return whether no clock runs because nobody is present: the game sleeps, or a computer player is to deal."""
    return sleeps(state, presence, seats) or (state.phase == ROUND_OVER and not present_people(state, presence, seats))
