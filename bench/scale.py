"""How much is measured: all of it, or just enough to see that everything still runs."""

from __future__ import annotations

from typing import Final, NamedTuple


class Scale(NamedTuple):
    """The sizes of all parts."""

    workers: int
    """Of each candidate."""
    turns: int
    """Bursts of each candidate."""
    setups: int | None
    """Setups that are measured over HTTP; ``None``: all."""
    clients: int
    reads: int
    """Requests a client in a burst of reads."""
    crowd: int
    """Clients in the measurement of the slowest moves."""
    longest: int
    """Moves of a match at most, in a burst."""
    matches: int
    """Different matches of each setup."""
    long_moves: int
    """Moves of a long match at least; its last ones are compared with its tenth."""
    engine_seconds: float
    """Length of a burst of the engine."""
    stored_games: tuple[int, ...]
    """How many games lie in Redis."""
    sized_games: int
    """Finished games of each setup whose size is taken."""
    long_matches: int
    """Matches over which the cost by move number is taken."""
    streams: tuple[int, ...]
    stream_seconds: float
    stream_rate: int
    """Moves a second while streams are open."""
    starts: int
    load_tables: tuple[int, ...]
    """Tables at a time in the load run, step by step; the first step is idle."""
    load_seconds: float
    """Length of a step."""
    load_think: float
    """Seconds that people think in the load run."""
    decisions: int
    """Situations in which an expert decides, of each measured game."""
    compiled: bool
    """Whether the compiled build is measured too."""


FULL: Final = Scale(
    workers=2,
    turns=7,
    setups=None,
    clients=8,
    reads=50,
    crowd=16,
    longest=170,
    matches=4,
    long_moves=183,
    engine_seconds=0.3,
    stored_games=(1, 1_000, 100_000),
    sized_games=12,
    long_matches=20,
    streams=(100, 1_000, 4_000),
    stream_seconds=10.0,
    stream_rate=50,
    starts=5,
    load_tables=(0, 25, 50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800),
    load_seconds=62.0,
    load_think=1.0,
    decisions=12,
    compiled=True,
)

SMOKE: Final = Scale(
    workers=1,
    turns=1,
    setups=1,
    clients=2,
    reads=2,
    crowd=3,
    longest=12,
    matches=1,
    long_moves=150,
    engine_seconds=0.01,
    stored_games=(3,),
    sized_games=1,
    long_matches=1,
    streams=(4,),
    stream_seconds=0.2,
    stream_rate=20,
    starts=1,
    load_tables=(0, 6, 12),
    load_seconds=1.5,
    load_think=0.01,
    decisions=1,
    compiled=True,
)
