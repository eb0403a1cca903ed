"""The engine as a library: matches without a server, their records, and what is in a record.

Owns the names that stay the same between releases: those in ``__all__``, with what they return (``docs/library.md``).
Needs nothing but Python's standard library. Does not depend on how the service hosts a match.
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
"""Every game by its key, with its numbers of players and its options."""


class Match:
    """A match, dealt and ready for its first move; not for use by two threads at a time.

    ``game`` is a key of ``GAMES``, ``options`` are its house rules, of which missing ones have their defaults. ``bots``
    says which seats are computer players, and their levels; they move by ``choose``, when they are asked. The deals of
    a match follow from a ``secret`` of 32 bytes, and its record proves them; without one it is random. With a ``seed``,
    a text, they are fixed instead, and prove nothing. Raises ``InvalidSetup`` with all errors.
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
        """All of the match, with every hand and the stock: not for the eyes of a player, who gets a ``view``."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Whether somebody has won."""
        return self._state.phase == FINISHED

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that have won; none while the match goes on."""
        return self._state.winners

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat so far."""
        return self._state.running_totals()

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may move: one in a round; between rounds, all that are in the match may deal."""
        return self._state.to_act

    def legal_moves(self, seat: int) -> tuple[Move, ...]:
        """Return the moves that this seat may make now."""
        return legal_moves(self.rules, self._state, seat)

    def view(self, seat: int | None = None) -> View:
        """Return the match as this seat may know it, or a spectator."""
        return view(self.rules, self._state, seat)

    def play(self, seat: int, move: Move) -> tuple[Event, ...]:
        """Make a move; returns its events with what follows, such as the result of a round.

        Raises ``Refusal``, of which ``IllegalMove`` is one: nothing has changed then, and ``explain`` says why.
        """
        events, self._state = advance(self.rules, self._deck, self._state, seat, move=move)
        self._events += events
        return events

    def choose(self, seat: int, level: str | None = None) -> Move:
        """Return what a computer player, of the level of the seat or of ``level``, would do with what its seat knows.

        Raises ``ValueError`` if the seat may not move.
        """
        if seat not in self.to_act:
            raise ValueError(f"seat {seat} is not to act")
        level = level or self.bots.get(seat, "greedy")
        deck, number = self._deck, self._state.round
        seed = deck.seed if deck.game is None else round_seed(deck.seed, number)
        decision_seed = seed_of_decision(seed, seat, len(self._events) + 1)
        return choose_move(
            self.rules, observe(self.rules, self._state, self._round_events(), seat), level, decision_seed
        )

    def record(self, date: str = "") -> str:
        """Return the match as a record (``docs/record.md``); of a round that is not over it has everything, too."""
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
            head,
            enumerate(self._events, 2),
            commitment=deck.commitment(1),
            seeds=None if deck.game is None else seeds,
        )
        return format_record(record)

    def _round_events(self) -> list[Event]:
        """Return the events of the running round, its deal first."""
        at = max([index for index, event in enumerate(self._events) if isinstance(event, Dealt)])
        return self._events[at:]


def _name_of(secret: bytes) -> str:
    """Return the name of the match with this secret, which does not tell it."""
    return urlsafe_b64encode(sha256(b"domino-match-1" + secret).digest()[:16]).rstrip(b"=").decode()


def _variant_of(game: str, players: Sequence[str], bots: Mapping[int, str]) -> Variant:
    """Return the game with this key, for these players. Raises ``InvalidSetup``."""
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
    """Return the record in a text or in the bytes of a file, as an editor may have left it.

    Raises ``InvalidRecord``.
    """
    return parse_record(data if isinstance(data, str) else decode_record(data))


def verify(record: Record) -> Report:
    """Return what is wrong with a record, if anything.

    All decisions of computer players that have a seed are made again.
    """
    return verification.verify(record, bots=ALL_DECISIONS)


def tell(record: Record) -> Iterator[str]:
    """Return a match, told line by line in English."""
    return render_transcript(record)


def explain(refusal: Refusal, language: str = "en") -> str:
    """Return why a move was refused, as a sentence for people."""
    return sentence(refusal.reason, language)
