"""A whole match, or what one viewer has seen of it, as a value.

Owns the form of a record. Must not know whether what it tells can be so (``verification``), nor how it is written
(``text``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.deal import SCHEME
from service.engine.options import Value
from service.engine.view import RecordedEvent

Fairness = Literal["domino-deal-1", "arranged"]
"""What is claimed of the deals: drawn by the method of that name, or set by somebody."""

PROVABLE: Final = SCHEME
ARRANGED: Final = "arranged"

SPECTATOR: Final = "spectator"
Viewer = int | Literal["spectator"]


class VersionedEvent(NamedTuple):
    """An event with its version in the game; a deal has no luck here, its round has it."""

    version: int
    event: RecordedEvent


class RecordedRound(NamedTuple):
    """A round as it was dealt and played, or one that has been committed to and not been dealt (no ``lines``).

    Where deals can be proven, it has the ``commitment``; once dealt, what the seats gave to the luck; and once over,
    how many deals were dealt again, and the ``seed``.
    """

    number: int
    commitment: bytes | None = None
    client_seeds: tuple[str, ...] | None = None
    attempt: int | None = None
    seed: bytes | None = None
    lines: tuple[VersionedEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A match: what was played by whom, and every round."""

    variant: str
    edition: int
    options: tuple[tuple[str, Value], ...]
    """Every option as settled, in the order of the recipe."""
    players: tuple[str, ...]
    """The names in seat order; empty for an open seat."""
    game: str = ""
    """The id of the hosted game; empty if it was none."""
    date: str = ""
    """When the game was made: UTC with milliseconds, as 2026-11-21T21:16:28.123Z; empty if unknown."""
    fairness: Fairness
    viewer: Viewer | None = None
    """Whose view it is; ``None``: it is whole."""
    result: tuple[int, ...] | None = None
    """The winners; ``None`` while it goes on."""
    rounds: tuple[RecordedRound, ...] = ()
