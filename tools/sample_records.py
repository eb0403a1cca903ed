"""Write the sample records of ``docs/records``: a match of each game, as others may use them for readers of their own.

``python -m tools.sample_records``. The matches follow from their names, so that the same files are written again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from service.engine.options import Value
from service.library import GAMES, Match
from service.records.writer import FILE_SUFFIX

FOLDER: Final = Path(__file__).parents[1] / "docs" / "records"
_DATE: Final = "2026-01-06T19:33:20.000Z"
_NAMES: Final = ("Ada", "Bo", "Cleo", "Dörte", "Émile", "Fürst", "Ġorġ", "Hà", "Iñaki")


class Sample(NamedTuple):
    """A match: the seats, those of computer players with their levels, house rules, and a seed if it is arranged."""

    game: str
    seats: int
    bots: Mapping[int, str]
    options: Mapping[str, Value]
    seed: str | None = None


def samples() -> dict[str, Sample]:
    """Return every sample by its name: each game with its fewest players, and some that have what these have not."""
    found = {
        key: Sample(key, variant.players[0], {variant.players[0] - 1: "greedy"}, {}) for key, variant in GAMES.items()
    }
    return found | {
        "by-wins": Sample("by-wins", 2, {1: "greedy"}, {"table": "brazilian"}),  # the usual table may take hours
        "block-four-in-teams": Sample("block", 4, {}, {"teams": 2}),
        "domino-arranged": Sample("domino", 3, {}, {}, seed="a rainy evening"),
        "draw-computer-players-alone": Sample("draw", 2, {0: "random", 1: "greedy"}, {"target": 50}),
        "fido-double-twelve": Sample("fido", 4, {1: "greedy"}, {"set": 12, "rounds": 1}),
        "latin-cuban": Sample("latin", 4, {3: "greedy"}, {"table": "cuban"}),
    }


def text_of(name: str, sample: Sample) -> str:
    """Return the record of a sample: people play as the computer players do."""
    secret = None if sample.seed else sha256(f"sample {name}".encode()).digest()
    options = dict(sample.options)
    match = Match(
        sample.game, _NAMES[: sample.seats], options=options, bots=sample.bots, seed=sample.seed, secret=secret
    )
    while not match.is_over:
        seat = match.to_act[0]
        match.play(seat, match.choose(seat))
    return match.record("" if sample.seed else _DATE)


def main() -> int:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob(f"*{FILE_SUFFIX}"):
        old.unlink()
    for name, sample in samples().items():
        (FOLDER / f"{name}{FILE_SUFFIX}").write_text(text_of(name, sample), "utf-8", newline="\n")
    print(f"{FOLDER} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
