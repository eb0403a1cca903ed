"""Shares in the storage: how many bytes a holder may have written, by the day.

Owns the port by which the writes of games are counted, and what is said of a write that is put off.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol


class Holder(NamedTuple):
    """Whose share something counts in: an application by its id, or the network of an address by a digest."""

    id: str
    is_app: bool = False


class ShareUsed(Exception):
    """The holder has used its share up; after ``retry_after`` seconds it has one again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("share used")
        self.retry_after = retry_after


class Shares(Protocol):
    """The shares of all holders. A fault of the storage admits what cannot be counted.

    ``counts_writes``: whether writes to games that exist have to be admitted, because there is little memory left; it
    is looked at before each of them, and costs nothing. ``is_reserved``: whether only the reserve is left.
    """

    counts_writes: bool
    is_reserved: bool

    def take(self, holder: Holder, size: int) -> None:
        """Count so many bytes of something new in the share of its holder. Raises ``ShareUsed``, and counts nothing."""

    def limit(self, holder: Holder) -> int | None:
        """Return the bytes that a holder may store in a day; ``None`` for any number."""

    def give_back(self, holder: Holder, size: int) -> None:
        """Count so many bytes less: what they were taken for was not stored."""

    def admit(self, holder: Holder, size: int) -> None:
        """Admit a write of so many bytes to a game that exists. Raises ``ShareUsed``."""

    def count(self, holder: Holder, size: int) -> None:
        """Count what was written to games that exist."""


class Unlimited(Shares):
    """Everybody may write everything."""

    counts_writes = False
    is_reserved = False

    def take(self, holder: Holder, size: int) -> None:
        """Admit it."""

    def limit(self, holder: Holder) -> int | None:  # noqa: ARG002 # as the port has it
        """Any number."""
        return None

    def give_back(self, holder: Holder, size: int) -> None:
        """Do nothing."""

    def admit(self, holder: Holder, size: int) -> None:
        """Admit it."""

    def count(self, holder: Holder, size: int) -> None:
        """Do nothing."""


UNLIMITED: Final = Unlimited()


class GamesOfBots(Protocol):
    """Notes of the games that computer players may go on with alone, by holder; also of some that have ended.

    Times are in milliseconds since 1970. Every method raises ``StorageUnavailable``, those that write also
    ``OutcomeUnknown``.
    """

    def add(self, holder: str, game: str, at: int) -> bool:
        """Note a game at this time; returns whether it was not noted before, else the note stays as it is."""

    def all(self, holder: str) -> dict[str, int]:
        """Return the games of this holder that were noted, with when."""

    def remove(self, holder: str, games: list[str]) -> None:
        """Forget games of this holder."""
