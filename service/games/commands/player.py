"""The commands: create a game, join it, make a move, change a token.

Owns what each of them decides. All four have the same shape: the idempotency record of the request, a decision that is
a function of the game, one atomic transaction, committed once for the same record, and the result. The reading side is
``service.games.queries.games``. Does not depend on HTTP, Redis, or the rules of any game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from service.engine.errors import GameOver, InvalidSetup, NotInMatch, Reason, Refusal
from service.engine.moves import Move
from service.engine.presence import Claimed, Left, Returned
from service.engine.state import FINISHED
from service.games.access import Access, TokenRotation, join_scope, rotation_scope
from service.games.automation.due import advance_match
from service.games.commands.creation import create_game, deal_if_full
from service.games.commands.validation import FIXED_DEALS, NAME_TAKEN, NEEDS_KEY, GameRequest, check_request, is_taken
from service.games.model.errors import (
    Forbidden,
    MoveRefused,
    NotAway,
    NotDue,
    NotFound,
    NotStarted,
    SeatsTaken,
    StaleVersion,
    unauthorized,
)
from service.games.model.forks import as_arranged, load_fork
from service.games.model.game import HUMAN, OPEN_SEAT, OWNER, Created, Game, Joined, Seat, TokenChanged
from service.games.model.results import CommandResult, CreatedGame, JoinedSeat, SeatToken
from service.games.model.schedule import time_over
from service.games.model.timestamps import format_rfc3339
from service.games.model.tokens import find_hash, hash_secret, new_game_id, new_token
from service.games.model.views import GameView, legal_moves_for, view_game
from service.games.ports import Hold, PriorWrite, Runtime
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed, Decision


class Expected(NamedTuple):
    """The version of the game that a client expects, and the ETags that it accepts; ``None`` for any.

    They guard the match: a version remains the expected one while only tokens are changed.
    """

    version: int | None = None
    etags: frozenset[str] | None = None

    def matches(self, game: Game, seat: int) -> bool:
        """Whether the game, as this seat sees it, is the expected one. A version is accepted in place of an ETag."""
        if self.version is not None and not game.is_current(self.version):
            return False
        return self.etags is None or any([game.is_current_tag(each, seat) for each in self.etags])


class JoinCommand(NamedTuple):
    """Take the first open seat, with this join code and under this player's name.

    The application that owns the game needs no code, and alone may give a ``ref``: what it calls the player.
    """

    join_code: str | None
    name: str
    client_seed: str | None = None
    key: IdempotencyKey | None = None
    ref: str | None = None


class MoveCommand(NamedTuple):
    """Make a move; with a deal, the seat may give a new client seed (``None`` keeps the current one)."""

    move: Move
    expected: Expected | None = None
    client_seed: str | None = None
    key: IdempotencyKey | None = None


class Claim(NamedTuple):
    """The claim of the seat ``by``, with this token, that ``seat`` be played by a computer player, at this time.

    ``hold`` is that of the deadlines of the game.
    """

    seat: int
    by: int
    token_hash: bytes | None
    at: int
    hold: Hold


_NO_TOKEN: Final = b""
"""In place of the hash of a token, for the owner of a game."""


class _Unchanged(Exception):
    """A command would change nothing."""


class GameCommands:
    """The commands on the games of a repository. ``ttl`` in milliseconds.

    ``hold`` is that of the ``ReminderQueue``. Every command may also raise ``StorageUnavailable`` (nothing was changed)
    and ``OutcomeUnknown`` (it may have been committed); all but moves, ``SecretChanged`` (an earlier request was
    committed, but its tokens cannot be derived again).
    """

    def __init__(
        self,
        repository: GameRepository,
        idempotency: Idempotency,
        runtime: Runtime,
        *,
        ttl: int,
        hold: Callable[[str], Hold],
    ) -> None:
        self._repository = repository
        self._idempotency = idempotency
        self._clock, self._random_bytes, self._yield_control, _ = runtime
        self._ttl = ttl
        self._hold = hold

    def create(self, request: GameRequest, key: IdempotencyKey | None = None) -> CommandResult[CreatedGame]:
        """Create a game, and deal its first round if no seat is open. An idempotency key belongs to the application.

        Raises ``InvalidSetup`` if the request cannot be played, ``KeyReused``.
        """
        fork = None
        if request.source is not None:
            fork = load_fork(request.source, len(request.seats), self._yield_control)
            request = request._replace(variant=fork.variant, options=fork.options)
        variant, rules = check_request(request, self._yield_control)
        now = self._clock()  # before the reservation, so that it uses up the retry budget
        game_id = new_game_id(self._random_bytes)
        record, token_bytes = None, self._random_bytes
        if key is not None:
            owner = () if request.app is None else (request.app,)
            record = self._idempotency.record(key, "create", *owner, derives_tokens=True)
            game_id = self._repository.reserve(record.name, game_id)
            token_bytes = self._idempotency.derive_bytes("create", game_id)
        create = partial(
            create_game,
            request,
            variant,
            rules.start() if fork is None else fork.position.state,
            game_id=game_id,
            now=now,
            random_bytes=self._random_bytes,
        )
        new = create(token_bytes=token_bytes, remote_secret=partial(self._remote_secret, request.app))
        forked = [] if fork is None else as_arranged(fork.position.events)
        game, events = deal_if_full(new.game, [Created(new.game.deck.commitment(1)), *forked])
        committed = self._repository.create(game, events, record)
        if committed.prior is not None:
            new = create(
                token_bytes=self._idempotency.derive_bytes("create", game_id, prior=committed.prior),
                remote_secret=partial(self._remote_secret, request.app, prior=committed.prior),
            )
            new = new._replace(tokens=_still_given(new.tokens, committed.after))
        view = view_game(committed.after, None if request.app is None else OWNER, self._ttl)
        if request.app is not None:
            view = view._replace(join_code=new.join_code)  # that of the first answer, also where this one repeats it
        return CommandResult(CreatedGame(view, new.tokens, new.join_code), committed.replayed)

    def _remote_secret(self, app: str | None, url: str, prior: PriorWrite | None = None) -> bytes:
        """The secret by which whoever answers at this URL recognises who asks for moves in the games of an application.

        The same in all of them, so that one program can play in many: 256 bits.
        """
        return self._idempotency.derive_bytes("remote", app or "", url, prior=prior)(32)

    def join(self, access: Access, command: JoinCommand) -> CommandResult[JoinedSeat]:
        """Take the first open seat; if it was the last one, deal the first round.

        An idempotency key belongs to the bearer of the token or key: others may use the same one. Raises
        ``Forbidden`` for a wrong code, ``InvalidSetup`` for what only the owner of the game may do, for a client seed
        where the deals are fixed, and for a name that is taken where names are unique, ``SeatsTaken``, ``KeyReused``;
        ``NotFound`` when the game has expired, and for a request that is repeated when who joined by it was erased.
        """
        game, key = access.game, command.key
        if access.app is None:
            _check_not_as_owner(command)
        if key is None and command.join_code is not None:
            check_join_code(game, command.join_code)  # else a request that is repeated may have the code of its time
        if command.client_seed is not None:
            _check_client_seed(game)
        if key is None:
            record, random_token = None, new_token(self._random_bytes)
        else:
            record = self._idempotency.record(key, *join_scope(access.viewer), derives_tokens=True)

        def token_of(seat: int, prior: PriorWrite | None = None) -> str:
            # Derived from the seat too: after 24 hours the same key may be used to take another seat.
            if key is None:
                return random_token
            return new_token(self._idempotency.derive_bytes("join", game.id, str(seat), key.key, prior=prior))

        committed = self._repository.transact(game, partial(_decide_join, command, token_of), record)
        joined = self._joined(committed)
        if committed.after.seats[joined.seat].token_hash is None:
            raise NotFound("no_player", seat=joined.seat)
        name = committed.after.seats[joined.seat].name or ""  # a player may have another name by now
        seat = SeatToken(joined.seat, name, token_of(joined.seat, committed.prior))
        return CommandResult(JoinedSeat(seat, view_game(committed.after, joined.seat, self._ttl)), committed.replayed)

    def _joined(self, committed: Committed) -> Joined:
        """The event of the join that was committed; with the last seat, the deal and whoever is away follow it."""
        last, events = committed.after.version, committed.events
        if committed.replayed:
            first = max(last - 1 - len(committed.after.seats), 1)
            events = self._repository.events(committed.after, range(first, last + 1))
        return [event for event in events if isinstance(event, Joined)][-1]

    def make_move(self, access: Access, command: MoveCommand) -> CommandResult[GameView]:
        """Make one move for the bearer's seat; the result is the game just after it, as this seat sees it.

        Raises ``MoveRefused``, whose cause is ``StaleVersion``, ``NotStarted`` or a refusal of the rules;
        ``InvalidSetup`` for a client seed where the deals are fixed; ``Unauthorized`` for a spectator, for a token that
        was revoked since its access, and when the game has expired; ``KeyReused``.
        """
        game, seat, from_store = access[:3]
        if seat is None:
            raise unauthorized()
        record = None if command.key is None else self._idempotency.record(command.key, "move", str(seat))
        token_hash = game.seats[seat].token_hash
        decide = partial(_decide_move, seat, token_hash, command)
        try:
            committed = self._repository.transact(game, decide, record, from_store=from_store)
        except NotFound:
            raise unauthorized() from None  # as ``authenticate`` for a game that has expired
        if committed.replayed and committed.after.seats[seat].token_hash != token_hash:
            raise unauthorized()  # the token was revoked after the cached game was loaded
        return CommandResult(view_game(committed.after, seat, self._ttl), committed.replayed)

    def set_presence(self, access: Access, *, away: bool) -> GameView:
        """Have the bearer's seat played by a computer player from now on, or no longer; the game as the bearer sees it.

        The application that owns the game decides it for any seat: the ``target``. For a seat that is away already,
        leaving changes nothing. Raises ``NotStarted``, ``GameOver``, ``NotInMatch``; ``NotAway`` for coming back to a
        seat that is not away; ``NotFound`` for one of a computer player; ``Unauthorized`` as ``make_move``.
        """
        game, by_owner = access.game, access.app is not None
        seat = access.target if by_owner else access.seat
        if seat is None:
            raise unauthorized()
        decide = partial(_decide_presence, seat, _NO_TOKEN if by_owner else game.seats[seat].token_hash, away)
        try:
            game = self._repository.transact(game, decide, from_store=access.from_store).after
        except _Unchanged:
            game = self._repository.reload(game.id)
        except NotFound:
            if by_owner:
                raise
            raise unauthorized() from None
        return view_game(game, access.viewer, self._ttl)

    def claim(self, access: Access, seat: int, key: IdempotencyKey | None = None) -> CommandResult[GameView]:
        """Have ``seat``, whose time is over, played by a computer player; the game as the claimant sees it.

        Raises ``NotDue`` before the deadline, while nobody can be late because the service was away, and where nothing
        can be claimed; ``NotStarted``, ``GameOver``, ``NotInMatch``, ``KeyReused``, ``InvalidSetup`` for a seat that
        does not exist or is the claimant's own, ``Unauthorized`` as ``make_move``.
        """
        game, by, from_store = access[:3]
        if by is None:
            raise unauthorized()
        if seat >= len(game.seats) or seat == by:
            raise InvalidSetup({"seat": [Reason("another_seat", {"max": len(game.seats) - 1})]})
        record = None if key is None else self._idempotency.record(key, "claim", str(by))
        claim = Claim(seat, by, game.seats[by].token_hash, self._clock(), self._hold(game.id))
        try:
            committed = self._repository.transact(game, partial(_decide_claim, claim), record, from_store=from_store)
        except NotFound:
            raise unauthorized() from None
        return CommandResult(view_game(committed.after, by, self._ttl), committed.replayed)

    def delete(self, game: Game) -> None:
        """Delete a game for the application that owns it.

        Raises ``Unauthorized`` for a game that no application owns, ``NotFound`` when it has expired.
        """
        if game.ownership is None:
            raise unauthorized()
        self._repository.delete(game.id, game.ownership.app)

    def rotate_token(self, rotation: TokenRotation, key: IdempotencyKey | None = None) -> CommandResult[SeatToken]:
        """Give the bearer's seat a new token and revoke the old one.

        Raises ``Unauthorized`` if the token was changed since its access, ``KeyReused``, ``NotFound`` when the game has
        expired.
        """
        game_id, seat, old_token, game = rotation.game_id, rotation.seat, rotation.token, rotation.game
        if key is None:
            record, random_token = None, new_token(self._random_bytes)
        else:
            record = self._idempotency.record(key, *rotation_scope(old_token, seat), derives_tokens=True)

        def derived_token(prior: PriorWrite | None = None) -> str:
            if key is None:
                return random_token
            purpose = ("token", game_id, old_token, str(seat), key.key)
            return new_token(self._idempotency.derive_bytes(*purpose, prior=prior))

        if rotation.prior is not None:
            committed = self._repository.replay(game_id, rotation.prior, record)
        else:
            assert game is not None
            decide = partial(_decide_rotation, seat, game.seats[seat].token_hash, derived_token())
            committed = self._repository.transact(game, decide, record)
        if committed.after.seats[seat].token_hash is None:
            raise unauthorized()  # the player was erased after the request that is repeated
        token = SeatToken(seat, committed.after.seats[seat].name or "", derived_token(committed.prior))
        return CommandResult(token, committed.replayed)


def _still_given(tokens: tuple[SeatToken, ...], game: Game) -> tuple[SeatToken, ...]:
    """The tokens of a creation that is repeated, with the names of the players now, and none of who was erased."""
    return tuple(
        [each._replace(name=game.seats[each.seat].name or "") for each in tokens if each.seat not in game.erased]
    )


def check_join_code(game: Game, join_code: str) -> None:
    """Raises ``Forbidden`` unless this is the join code of the game."""
    if find_hash(join_code, [game.join_hash]) is None:
        raise Forbidden("wrong_join_code")


def _check_not_as_owner(command: JoinCommand) -> None:
    """Raises ``InvalidSetup`` for a join as only the application that owns the game may send it."""
    errors = {}
    if command.join_code is None:
        errors["join_code"] = [Reason("required")]
    if command.ref is not None:
        errors["ref"] = [NEEDS_KEY]
    if errors:
        raise InvalidSetup(errors)


def _decide_join(command: JoinCommand, token_of: Callable[[int], str], game: Game) -> Decision:
    if command.join_code is not None:  # else it comes from the owner
        check_join_code(game, command.join_code)
    seat = next((seat for seat, each in enumerate(game.seats) if each.kind == OPEN_SEAT), None)
    if seat is None:
        raise SeatsTaken("seats_taken")
    if game.unique_names and is_taken(command.name, [each.name for each in game.seats]):
        raise InvalidSetup({"name": [NAME_TAKEN]})
    ref = game.seats[seat].ref if command.ref is None else command.ref
    game = game.with_seat(seat, Seat(HUMAN, command.name, hash_secret(token_of(seat)), ref=ref))
    if game.ownership is not None and not game.has_open_seats:
        game = game._replace(ownership=game.ownership._replace(join_code=None))  # nobody needs it any more
    if command.client_seed is not None:
        game = game._replace(deck=game.deck.with_client_seed(seat, command.client_seed))
    return deal_if_full(game, [Joined(seat, command.name)])


def _decide_move(seat: int, token_hash: bytes | None, command: MoveCommand, game: Game) -> Decision:
    if game.seats[seat].token_hash != token_hash:
        raise unauthorized()  # the token was revoked meanwhile
    return decide_move(seat, command, game)


def decide_move(seat: int, command: MoveCommand, game: Game) -> Decision:
    """Make a move for the player of a seat. Raises ``MoveRefused`` and ``InvalidSetup`` as ``make_move``."""
    client_seed, expected = command.client_seed, command.expected
    if client_seed is not None:
        _check_client_seed(game)
    try:
        if expected is not None and not expected.matches(game, seat):
            raise StaleVersion("stale_version", version=game.version)
        if game.has_open_seats:
            raise NotStarted("seats_open")
        seeded = game if client_seed is None else game._replace(deck=game.deck.with_client_seed(seat, client_seed))
        after, events = advance_match(seeded, seat, command.move)
    except Refusal as refusal:
        raise MoveRefused(refusal, game.version, game.to_act, legal_moves_for(game, seat)) from refusal
    return after, events if game.presence.plays(seat) else [Returned(seat), *events]


def _decide_presence(seat: int, token_hash: bytes | None, away: bool, game: Game) -> Decision:
    _check_running(game, seat, token_hash)
    if game.seats[seat].token_hash is None:
        raise NotFound("no_player", seat=seat)
    if away and seat in game.presence.away:
        raise _Unchanged
    if not away and game.presence.plays(seat):
        raise NotAway("not_away", seat=seat)
    return game, [Left(seat) if away else Returned(seat)]


def _decide_claim(claim: Claim, game: Game) -> Decision:
    seat = claim.seat
    _check_running(game, claim.by, claim.token_hash)
    deadline, over = game.deadline, time_over(game, claim.hold)
    if game.clock is None or game.clock.absence != "claim" or seat != game.state.turn or deadline is None:
        raise NotDue("nothing_to_claim", seat=seat)
    if over is None or claim.at < over:
        raise NotDue("deadline_not_passed", seat=seat, deadline=format_rfc3339(deadline))
    return game, [Claimed(seat, claim.by)]


def _check_running(game: Game, seat: int, token_hash: bytes | None) -> None:
    """Raises a ``Refusal`` unless the match is running with this seat in it, which still has the same token.

    ``_NO_TOKEN`` for a bearer who needs none.
    """
    if token_hash != _NO_TOKEN and game.seats[seat].token_hash != token_hash:
        raise unauthorized()
    if game.has_open_seats:
        raise NotStarted("seats_open")
    if game.state.phase == FINISHED:
        raise GameOver("game_over")
    if game.state.eliminated_round[seat]:
        raise NotInMatch("out_of_match", seat=seat)


def _decide_rotation(seat: int, old_hash: bytes | None, token: str, game: Game) -> Decision:
    if game.seats[seat].token_hash != old_hash:
        raise unauthorized()  # another request changed it first
    return game.with_seat(seat, game.seats[seat]._replace(token_hash=hash_secret(token))), [TokenChanged(seat)]


def _check_client_seed(game: Game) -> None:
    """Raises ``InvalidSetup`` where the deals do not depend on client seeds."""
    if game.deck.game is None:
        raise InvalidSetup({"client_seed": [FIXED_DEALS]})
