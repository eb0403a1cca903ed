"""Stored games of released formats: a file for each format, with a line for each game.

``python -m tools.stored_games`` writes the file of the present format. That of a released one is never written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.api.client import Table
from tests.api.saved_games import Snapshot

FOLDER: Final = Path(__file__).parent / "released"
FILES: Final = sorted(FOLDER.glob("format-*.jsonl"))

DELETED: Final = "deleted"
"""The stage of a game of which only the tombstone is left."""
_BYTES: Final = "latin-1"
"""Stored bytes are written as the characters of these numbers: JSON as it is, a block of events as escapes."""


class ReleasedGame(NamedTuple):
    """A game at one stage; ``created`` has its id, its tokens and its join code, as the answer to its creation had."""

    variant: str
    stage: str
    created: dict[str, Any]
    snapshot: Snapshot


def released_game(variant: str, stage: str, table: Table, snapshot: Snapshot) -> ReleasedGame:
    """This game, with what of the answer to its creation is needed to play on."""
    seats = [{"seat": seat, "token": token} for seat, token in table.tokens.items()]
    code = {} if table.join_code is None else {"join_code": table.join_code}
    return ReleasedGame(variant, stage, {"game": {"id": table.id}, "seats": seats, **code}, snapshot)


def line_of(game: ReleasedGame) -> str:
    """The line of a game, without its end."""
    events = [event.decode(_BYTES) for event in game.snapshot.events]
    line = {**game._asdict(), "snapshot": {"state": game.snapshot.state.decode(_BYTES), "events": events}}
    return json.dumps(line, separators=(",", ":"))


def games_in(file: Path) -> Iterator[ReleasedGame]:
    """The games of a file."""
    for line in file.read_text("ascii").splitlines():
        fields = json.loads(line)
        stored = fields.pop("snapshot")
        events = [event.encode(_BYTES) for event in stored["events"]]
        yield ReleasedGame(**fields, snapshot=Snapshot(stored["state"].encode(_BYTES), events))
