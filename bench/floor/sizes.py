"""How long a value, an event and an answer are, and how an id of the floor says it. The peers read it alike."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Lengths in bytes."""

    value: int
    event: int
    reply: int

    def id(self, number: int) -> str:
        """Return the id of a game of the floor with these lengths."""
        return f"{self.value}-{self.event}-{self.reply}-{number}"


def sizes_of(game: str) -> Sizes:
    """Return the lengths that an id says."""
    value, event, reply, _ = game.split("-")
    return Sizes(int(value), int(event), int(reply))
