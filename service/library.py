"""The engine as a library: matches without a server, and their records.

Owns the stable interface: the names in ``__all__`` with their results stay the same between releases
(``docs/library.md``). Needs nothing but Python's standard library. Does not depend on hosting.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from service.bots.choice import EDITIONS, LEVELS, choose_move
from service.bots.knowledge import observe
from service.engine.deal import Deck, round_seed, seed_from_text, seed_of_decision
from service.engine.errors import IllegalMove, InvalidSetup, Reason, Refusal
from service.engine.events import Dealt, Event
from service.engine.moves import DEAL, DONE, DRAW, FLIP, PASS, Move, play
from service.engine.options import Value
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import FINISHED, State
from service.engine.tiles import Tile, parse_tile
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.engine.view import View, view
from service.reasons import sentence
from service.records import verification
from service.records.bot_checks import ALL_DECISIONS
from service.records.parser import decode_record, parse_record
from service.records.record import ARRANGED, PROVABLE, InvalidRecord, Record, RecordedBot
from service.records.report import Report
from service.records.writer import build_record, format_record, resolved_options
from service.render.transcript import render_transcript

__all__ = [
    "DEAL",
    "DONE",
    "DRAW",
    "FLIP",
    "GAMES",
    "LEVELS",
    "PASS",
    "Dealt",
    "Event",
    "IllegalMove",
    "InvalidRecord",
    "InvalidSetup",
    "Match",
    "Move",
    "Record",
    "Refusal",
    "Report",
    "Rules",
    "State",
    "Tile",
    "Variant",
    "View",
    "explain",
    "parse_tile",
    "play",
    "read_record",
    "tell",
    "verify",
]

GAMES: Final[Mapping[str, Variant]] = MappingProxyType(variants())
"""The variants by their keys; each has the possible numbers of players and the options."""


class Match:
    """A match, dealt and ready for its first move. Not safe for several threads.

    ``game``: a key of ``GAMES``.
    ``players``: the names in the order of the seats.
    ``options``: house rules; missing ones have their defaults.
    ``bots``: the level of each seat that is a computer player. ``choose`` computes its move; the caller plays it.
    ``secret``: 32 bytes from which the deals are derived, by default random; the record of the match proves the deals.
    ``seed``: a text from which the deals are derived instead; then they prove nothing.

    Raises ``InvalidSetup`` with all errors.
    """

    def __init__(
        self,
        game: str,
        players: Sequence[str],
        *,
        options: Mapping[str, Value] | None = None,
        bots: Mapping[int, str] | None = None,
        seed: str | None = None,
        secret: bytes | None = None,
    ) -> None:
        self.players = tuple(players)
        self.bots = dict(bots or {})
        self.variant = _variant_of(game, self.players, self.bots)
        self.rules: Rules = self.variant.rules(options or {}, len(self.players))
        if seed is None:
            secret = secret or secrets.token_bytes(32)
            self._deck = Deck(secret, game=_name_of(secret), client_seeds=("",) * len(self.players))
        else:
            self._deck = Deck(seed_from_text(seed))
        dealt, self._state = deal(self.rules, self._deck, self.rules.start())
        self._events: list[Event] = [dealt]

    @property
    def state(self) -> State:
        """The complete state, with every hand and the stock. A player must only get a ``view``."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Return whether somebody has won."""
        return self._state.phase == FINISHED

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that have won; empty until the match is over."""
        return self._state.winners

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat so far."""
        return self._state.running_totals()

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that can move: one seat in a round; between rounds, every seat in the match (each can deal)."""
        return self._state.to_act

    def legal_moves(self, seat: int) -> tuple[Move, ...]:
        """Return the moves that this seat can make now."""
        return legal_moves(self.rules, self._state, seat)

    def view(self, seat: int | None = None) -> View:
        """Return the match, redacted for this seat; ``None``: for a spectator."""
        return view(self.rules, self._state, seat)

    def play(self, seat: int, move: Move) -> tuple[Event, ...]:
        """Make a move; return its event and those that follow from it, such as the result of a round.

        Raises ``Refusal``, for example ``IllegalMove``. Then nothing has changed, and ``explain`` returns the reason.
        """
        events, self._state = advance(self.rules, self._deck, self._state, seat, move=move)
        self._events += events
        return events

    def choose(self, seat: int, level: str | None = None) -> Move:
        """Return the move that a computer player would make, using only what its seat knows.

        ``level`` is by default the level of the seat, or ``greedy``. Raises ``ValueError`` if the seat cannot move now.
        """
        if seat not in self.to_act:
            raise ValueError(f"seat {seat} is not to act")
        level = level or self.bots.get(seat, "greedy")
        deck, number = self._deck, self._state.round
        seed = deck.seed if deck.game is None else round_seed(deck.seed, number)
        observation = observe(self.rules, self._state, self._round_events(), seat)
        return choose_move(self.rules, observation, level, seed_of_decision(seed, seat, len(self._events) + 1))

    def record(self, date: str = "") -> str:
        """Return the record of the match as text (``docs/record.md``), including all hands of a running round."""
        deck, played = self._deck, self._state.round
        seeds = {number: round_seed(deck.seed, number) for number in range(1, played + 2)}
        head = Record(
            variant=self.variant.key,
            edition=self.variant.edition,
            options=resolved_options(self.variant, self.rules),
            players=self.players,
            bots=tuple([RecordedBot(seat, level, EDITIONS[level]) for seat, level in sorted(self.bots.items())]),
            game=deck.game or "",
            date=date,
            fairness=ARRANGED if deck.game is None else PROVABLE,
        )
        record = build_record(
            head, enumerate(self._events, 2), commitment=deck.commitment(1), seeds=None if deck.game is None else seeds
        )
        return format_record(record)

    def _round_events(self) -> list[Event]:
        """Return the events of the current round, its deal first."""
        deal = max([index for index, event in enumerate(self._events) if isinstance(event, Dealt)])
        return self._events[deal:]


def _name_of(secret: bytes) -> str:
    """Return a game id that is derived from the secret and does not reveal it."""
    return urlsafe_b64encode(sha256(b"domino-match-1" + secret).digest()[:16]).rstrip(b"=").decode()


def _variant_of(game: str, players: Sequence[str], bots: Mapping[int, str]) -> Variant:
    """Return the variant with the key ``game``. Raises ``InvalidSetup`` for an unknown key, level or seat."""
    variant = GAMES.get(game)
    if variant is None:
        raise InvalidSetup({"game": [Reason("not_one_of", {"allowed": list(GAMES)})]})
    wrong = {
        f"bots.{seat}": [Reason("not_one_of", {"allowed": list(LEVELS)})]
        for seat, level in bots.items()
        if level not in LEVELS or seat not in range(len(players))
    }
    if wrong:
        raise InvalidSetup(wrong)
    return variant


def read_record(data: bytes | str) -> Record:
    """Parse a record, as text or as the bytes of a file. Raises ``InvalidRecord``."""
    return parse_record(data if isinstance(data, str) else decode_record(data))


def verify(record: Record) -> Report:
    """Return the report about a record; all moves of computer players with a known seed are computed again."""
    return verification.verify(record, bots=ALL_DECISIONS)


def tell(record: Record) -> Iterator[str]:
    """Yield the lines of an English transcript of a match."""
    return render_transcript(record)


def explain(refusal: Refusal, language: str = "en") -> str:
    """Return the reason of a refusal as a sentence for people."""
    return sentence(refusal.reason, language)
