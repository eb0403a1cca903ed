"""Part 6: growth. Late moves in a long match, moves beside many games, bytes per game, memory per worker."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, Final

from bench.bursts import STATUS, Work, prepared_by
from bench.costs import cost
from bench.driver import Connection, burst
from bench.figures import Spread, ratios, spread, take_turns
from bench.hosted import Hosted, create_game, measure, play
from bench.plot import can_plot, line_with_band
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import LONGEST, SETUPS, USUAL, Setup, long_matches, matches
from bench.stand import Candidate, Stand
from service.redis import keys
from service.redis.connection import connect

EARLY: Final = 10
WINDOW: Final = 5
"""Neighbours on each side that are averaged with a move, as a single one may end a turn or draw."""
MAX_GROWTH: Final = 2.0
LEAST_BESIDE_MANY: Final = 0.95
KIB: Final = 1024
SMALL_GAME: Final = 4 * KIB
LARGE_GAME: Final = 40 * KIB
BATCH: Final = 1000
PLOT: Final = "cost-by-move.svg"


def run(stand: Stand, scale: Scale) -> Section:
    """Measure all four."""
    fresh = stand["service"].worker_bytes()
    costs, growth, longest = _by_number(stand, scale)
    beside, most_beside = _beside_many(stand, scale)
    sizes, largest_small, largest = _sizes(stand, scale, longest)
    used = stand["service"].worker_bytes()
    title = f"A move of {LONGEST.name} by its number: median, and half of all moves"
    svg = line_with_band(costs, title=title, across="move", up="ms for one client") if can_plot() else None
    memory = [
        (when, ", ".join(f"{size / KIB / KIB:.0f}" for size in found) or "not known here")
        for when, found in (("as found", fresh), ("after all that", used))
    ]
    late = scale.long_moves - WINDOW + 2
    return Section(
        title="Growth",
        text="What a long match, many games and a long life cost.",
        tables=[
            _milestones(costs),
            beside,
            sizes,
            Table("Resident memory of each worker of the service", ("when", "MiB"), memory),
        ],
        goals=[
            Goal(
                f"move {late} of double-18, times move {EARLY}",
                f"≤ {MAX_GROWTH:.0f}",
                growth.show(),
                growth.median <= MAX_GROWTH,
            ),
            Goal(
                f"POST move beside {scale.stored_games[-1]:,} games, of one beside {scale.stored_games[0]:,}",
                f"≥ {LEAST_BESIDE_MANY}",
                most_beside.show(),
                most_beside.median >= LEAST_BESIDE_MANY,
            ),
            Goal(
                "a finished double-six game in Redis, median of the game that needs most",
                "≤ 4 KiB",
                f"{largest_small / KIB:.1f} KiB",
                largest_small <= SMALL_GAME,
            ),
            Goal("the largest double-18 game", "≤ 40 KiB", f"{largest / KIB:.1f} KiB", largest <= LARGE_GAME),
        ],
        plots={} if svg is None else {PLOT: svg},
        left_out=[] if svg else ["the plot: matplotlib is not installed (make bench installs it)"],
    )


def _by_number(stand: Stand, scale: Scale) -> tuple[list[Spread], Spread, list[Hosted]]:
    """Return the milliseconds of a move by its number; how the late ones compare with the early; the games."""
    taken: list[list[float]] = []
    games = []
    with Connection(stand["service"].address) as connection:
        for match in long_matches(LONGEST, scale.long_matches, scale.long_moves):
            game = create_game(connection, match)
            games.append(game)
            requests = [game.move(step) for step in match.steps]
            times = []
            for asked in requests:
                began = perf_counter()
                connection.send(asked)
                times.append((perf_counter() - began) * 1e3)
            taken.append(times)
    shortest = min(map(len, taken))
    costs = [spread([times[place] for times in taken]) for place in range(shortest)]
    late = scale.long_moves - WINDOW + 2
    growth = spread([_around(times, late) / _around(times, EARLY) for times in taken])
    return costs, growth, games


def _around(times: list[float], number: int) -> float:
    """Return the median of a move, numbered from 1, and those around it."""
    return median(times[number - 1 - WINDOW : number + WINDOW])


def _milestones(costs: list[Spread]) -> Table:
    numbers = [*range(EARLY, len(costs) - WINDOW, 2 * EARLY), len(costs) - WINDOW]
    rows = [(str(number), f"{_around([each.median for each in costs], number):.2f}") for number in numbers]
    return Table(f"A move of {LONGEST.name} by its number, one client", ("move", "ms"), rows)


def _beside_many(stand: Stand, scale: Scale) -> tuple[Table, Spread]:
    """Processor time of moves beside many games, each number of games on its own server."""
    played = matches(USUAL, scale.matches, scale.longest)
    measures = measure(stand["service"].address, stand.redis, played[0])
    work = Work(played, measures, scale.clients, scale.reads)
    services: dict[str, Candidate] = {}
    clients: dict[str, Any] = {}
    stored: dict[str, int] = {}
    for many in scale.stored_games:
        name = f"{many:,}"
        server = stand.server()
        services[name] = stand.service(server.url)
        clients[name] = connect(server.url)
        stored[name] = _fill(clients[name], services[name], many)

    def seconds(name: str) -> float:
        scripts = prepared_by("service", "POST move", work, services[name].address)
        return cost(services[name], clients[name], "POST move", scripts).seconds

    names = list(services)
    taken = take_turns(names, scale.turns, seconds, Random("growth"))  # noqa: S311 # only the order of turns
    for name, service in services.items():
        service.stop()
        clients[name].close()
    beside = {name: ratios(taken, names[0], name) for name in names}
    rows = [
        (name, f"{spread(taken[name]).median * 1e6:.0f}", beside[name].show(), f"{stored[name] / KIB / KIB:.0f}")
        for name in names
    ]
    head = ("games in Redis", "µs of a move", "the first row's over it", "MiB of the server")
    title = f"Moves beside many games (and those of the bursts), {USUAL.name}: processor time of workers and Redis"
    return Table(title, head, rows), beside[names[-1]]


def _fill(client: Any, service: Candidate, many: int) -> int:
    """Fill a server with copies of a game in its middle; returns the memory of the server."""
    (match,) = matches(USUAL, 1)
    with Connection(service.address) as connection:
        game = create_game(connection, match)
        play(connection, game, match.steps[: len(match.steps) // 2])
    names = [f"copy-{number}" for number in range(many - 1)]
    for first in range(0, len(names), BATCH):
        pipeline: Any = client.pipeline(transaction=False)
        for name in names[first : first + BATCH]:
            pipeline.copy(keys.state(game.id), keys.state(name))
            pipeline.copy(keys.part(b"events", game.id), keys.part(b"events", name))
        pipeline.execute()
    info: Any = client.info("memory")
    return int(info["used_memory"])


def _sizes(stand: Stand, scale: Scale, longest: list[Hosted]) -> tuple[Table, float, int]:
    """Bytes of finished games; of the double-six ones the largest median, of the double-18 ones the largest."""
    ids: dict[Setup, list[str]] = {LONGEST: [game.id for game in longest]}
    for setup in SETUPS[: scale.setups]:
        scripts = []
        with Connection(stand["service"].address) as connection:
            for match in matches(setup, scale.sized_games):
                game = create_game(connection, match)
                ids.setdefault(setup, []).append(game.id)
                scripts.append([game.move(step) for step in match.steps])
        burst(stand["service"].address, scripts, STATUS["POST move"])
    stored = _bytes_by_game(stand.redis)
    sizes = {setup: [stored[game] for game in games] for setup, games in ids.items()}
    ordered = sorted(sizes, key=SETUPS.index)
    rows = [
        (setup.name, f"{median(sizes[setup]) / KIB:.1f}", f"{max(sizes[setup]) / KIB:.1f}", f"{len(sizes[setup])}")
        for setup in ordered
    ]
    small = [median(sizes[setup]) for setup in ordered if setup.highest in (None, 6)]
    table = Table("A finished match in Redis, events included", ("game", "median KiB", "largest KiB", "games"), rows)
    return table, max(small), max(sizes[LONGEST])


def _bytes_by_game(client: Any) -> dict[str, int]:
    """Return the memory of all keys of each game, according to Redis."""
    sizes: dict[str, int] = defaultdict(int)
    found = list(client.scan_iter(match=keys.state("*") + b"*", count=BATCH))
    for first in range(0, len(found), BATCH):
        some = found[first : first + BATCH]
        pipeline = client.pipeline(transaction=False)
        for key in some:
            pipeline.memory_usage(key, samples=0)
        for key, size in zip(some, pipeline.execute(), strict=True):
            game = key.partition(b"{")[2].partition(b"}")[0].decode()
            sizes[game] += size or 0
    return sizes
