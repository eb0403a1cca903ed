"""What a player may ask for who learns: the hint on the running turn, and the review of the finished match.

Owns who may have which of them, and how long a request waits. Neither is computed here: it is asked for in the store,
and a bot worker computes it (``service.workers.learning``).
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
from service.learning.store import LearningStore, decode_hint, decode_review, position_of

WAIT_SECONDS: Final = 1.5
"""Seconds that a request waits for a hint, which usually takes half a second."""
LOOK_SECONDS: Final = 0.1
MAX_WAITING: Final = 32
"""Requests of a process that wait for hints at a time; the others are told to come again."""
HINT_BYTES: Final = 1000
REVIEW_BYTES_PER_EVENT: Final = 40
"""Bytes counted in the share of the tenant of the game: about what is stored, or some more."""


class HintFound(NamedTuple):
    """A hint for a version of the game; ``None`` while it is being computed."""

    version: int
    hint: Hint | None


class ReviewFound(NamedTuple):
    """The review of a match with so many seats; ``None`` while it is being computed."""

    seats: int
    review: Review | None


class Learning:
    """Hints and reviews of the games of a repository. Every method raises ``StorageUnavailable``."""

    def __init__(self, repository: GameRepository, store: LearningStore) -> None:
        self._repository = repository
        self._store = store
        self._waiting = BoundedSemaphore(MAX_WAITING)

    def hint(self, access: Access) -> HintFound:
        """Return the hint for the seat of this access, on whose turn the game is.

        Of as many requests as there are for the same version, one has it computed. Raises ``Forbidden`` if another
        person is in the match, ``MoveRefused`` if it is not the turn of the seat, ``Unauthorized`` if its token was
        revoked, ``NotFound`` when the game has expired.
        """
        waits = self._waiting.acquire(blocking=False)
        try:
            return self._hint(access, monotonic() + (WAIT_SECONDS if waits else 0.0))
        finally:
            if waits:
                self._waiting.release()

    def _hint(self, access: Access, deadline: float) -> HintFound:
        game = self._on_turn(access)
        while True:
            found = self._store.ask_hint(game.id, game.tenant, position_of(game))
            if isinstance(found, bytes):
                return HintFound(game.version, decode_hint(found))
            if found == "asked":
                self._repository.transactions.admission.count(game, HINT_BYTES)
            if monotonic() >= deadline:
                return HintFound(game.version, None)
            if found == "moved":
                game = self._on_turn(access)
            else:
                sleep(LOOK_SECONDS)

    def _on_turn(self, access: Access) -> Game:
        """Return the stored game, if its seat may have a hint now."""
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
        """Have the match reviewed, unless it is already.

        Raises ``NotFinished``, ``ShareUsedUp``, and ``NotFound`` when the game has expired.
        """
        game = access.game
        if game.status != "finished":
            raise NotFinished("not_finished")
        if self._store.review(game.id, game.tenant) is None:
            self._repository.transactions.admission.take(game, HINT_BYTES + REVIEW_BYTES_PER_EVENT * game.version)
            if self._store.ask_review(game.id, game.tenant) is None:
                raise NotFound("game_expired")

    def review(self, access: Access) -> ReviewFound:
        """Return the review of the match. Raises ``NotFound`` if nobody has asked for it."""
        game = access.game
        found = self._store.review(game.id, game.tenant)
        if found is None:
            raise NotFound("no_review")
        return ReviewFound(len(game.seats), decode_review(found.data) if found.is_complete else None)
