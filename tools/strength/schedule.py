"""Which deals are played, in how many processes and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from time import monotonic
from typing import Final

from tools.strength.results import Results
from tools.strength.rounds import Outcome, play_deals
from tools.strength.rows import Row

_CHUNK_SECONDS: Final = 5
_MAX_IN_A_CHUNK: Final = 200


def play(rows: Sequence[Row], results: Results, label: str, *, jobs: int, seconds: float, deals: int | None) -> None:
    """Play deals of these rows until each has enough, or the time is over; all get the same time."""
    end = monotonic() + seconds
    spent = dict.fromkeys([row.name for row in rows], 0.0)
    pace = dict.fromkeys([row.name for row in rows], float(_CHUNK_SECONDS))
    following = {row.name: max([-1, *[outcome.deal for outcome in results.of(row)]]) + 1 for row in rows}
    running: dict[Future[list[Outcome]], tuple[Row, float, int]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        while True:
            for row in _wanted(rows, following, spent, deals) if monotonic() < end else ():
                if len(running) >= jobs:
                    break
                many = max(
                    1,
                    min(
                        _MAX_IN_A_CHUNK,
                        int(_CHUNK_SECONDS / pace[row.name]),
                        (deals or row.deals) - following[row.name],
                    ),
                )
                start = following[row.name]
                following[row.name] += many
                running[pool.submit(play_deals, row, label, range(start, start + many))] = (row, monotonic(), many)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                row, started, many = running.pop(future)
                taken = monotonic() - started
                spent[row.name] += taken
                pace[row.name] = taken / many
                results.add(row, future.result())


def _wanted(
    rows: Sequence[Row], following: dict[str, int], spent: dict[str, float], deals: int | None
) -> Iterator[Row]:
    """Yield the rows that need deals, those with the least time first; none is stopped early by what was found."""
    rest = [row for row in rows if following[row.name] < (deals or row.deals)]
    yield from sorted(rest, key=lambda row: spent[row.name])
