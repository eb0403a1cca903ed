"""Requests for hints on a running turn, and for reviews of a finished match.

Owns who may get a hint or a review, and how long a request waits. Nothing is computed here: a request is stored, and a
bot worker computes the result (``service.workers.learning``).
"""

from __future__ import annotations

from threading import BoundedSemaphore
from time import monotonic, sleep
from typing import Final, NamedTuple

from service.engine.errors import GameOver, NotYourTurn, Refusal, RoundOver
from service.games.access import Access
from service.games.model.errors import Forbidden, MoveRefused, NotFinished, NotFound, unauthorized
from service.games.model.game import Game
from service.games.model.seats import BOT
from service.games.model.views import legal_moves_for
from service.games.store.repository import GameRepository
from service.learning.review import Hint, Review
from service.learning.store import RedisLearning, decode_hint, decode_review, position_of

WAIT_SECONDS: Final = 1.5
"""The maximum wait of a request for a hint, which usually takes half a second to compute."""
POLL_SECONDS: Final = 0.1
"""The interval of polling for the hint."""
MAX_WAITING: Final = 32
"""The maximum number of requests of a process that wait for hints; other requests return without one at once."""
HINT_BYTES: Final = 1000
"""The bytes of a hint that are charged to the tenant of the game: about the stored size, or slightly more."""
REVIEW_BYTES_PER_EVENT: Final = 40
"""The same for each event of a reviewed match."""


class HintResult(NamedTuple):
    """The hint for a version of the game; ``None`` until it is computed."""

    version: int
    hint: Hint | None


class Learning:
    """Hints and reviews of the games in a repository. Every method can raise ``StorageUnavailable``."""

    def __init__(self, repository: GameRepository, store: RedisLearning) -> None:
        self._repository = repository
        self._store = store
        self._waiting = BoundedSemaphore(MAX_WAITING)

    def hint(self, access: Access) -> HintResult:
        """Return the hint for the seat of this access, whose turn it must be; wait for it up to ``WAIT_SECONDS``.

        Requests for the same version share one computation. Raises ``Forbidden`` if another person is in the match,
        ``MoveRefused`` if it is not the turn of the seat, ``Unauthorized`` if its token was revoked, ``NotFound`` if
        the game has expired.
        """
        waits = self._waiting.acquire(blocking=False)
        try:
            return self._hint(access, monotonic() + (WAIT_SECONDS if waits else 0.0))
        finally:
            if waits:
                self._waiting.release()

    def _hint(self, access: Access, deadline: float) -> HintResult:
        game = self._on_turn(access)
        while True:
            answer = self._store.request_hint(game.id, game.tenant, position_of(game))
            if isinstance(answer, bytes):
                return HintResult(game.version, decode_hint(answer))
            if answer == "requested":
                self._repository.transactions.admission.count(game, HINT_BYTES)
            if monotonic() >= deadline:
                return HintResult(game.version, None)
            if answer == "moved":
                game = self._on_turn(access)
            else:
                sleep(POLL_SECONDS)

    def _on_turn(self, access: Access) -> Game:
        """Return the stored game if its seat may get a hint now; raises otherwise, as ``hint`` does."""
        seat = access.seat
        if seat is None:
            raise unauthorized()
        game = self._repository.reader.reload(access.game.id)
        if seat >= len(game.seats) or game.seats[seat].token_hash != access.game.seats[seat].token_hash:
            raise unauthorized()
        if any([player.kind != BOT for other, player in enumerate(game.seats) if other != seat]):
            raise Forbidden("hint_among_people")
        refusal: Refusal | None = None
        if game.status == "finished":
            refusal = GameOver("game_over")
        elif game.status == "round_over":
            refusal = RoundOver("round_over")
        elif game.state.turn is not None and game.state.turn != seat:
            refusal = NotYourTurn("not_your_turn", seat=game.state.turn)
        if refusal is not None:
            raise MoveRefused(refusal, game.version, game.to_act, legal_moves_for(game, seat))
        return game

    def begin_review(self, access: Access) -> None:
        """Request the review of the match, unless it was requested before.

        Raises ``NotFinished``, ``ShareUsedUp``, and ``NotFound`` if the game has expired.
        """
        game = access.game
        if game.status != "finished":
            raise NotFinished("not_finished")
        if self._store.review(game.id, game.tenant) is None:
            self._repository.transactions.admission.take(game, HINT_BYTES + REVIEW_BYTES_PER_EVENT * game.version)
            if self._store.review(game.id, game.tenant, begin=True) is None:
                raise NotFound("game_expired")

    def review(self, access: Access) -> Review | None:
        """Return the review of the match; ``None`` until it is computed. Raises ``NotFound`` if nobody asked for it."""
        game = access.game
        stored = self._store.review(game.id, game.tenant)
        if stored is None:
            raise NotFound("no_review")
        return decode_review(stored.data) if stored.is_complete else None
