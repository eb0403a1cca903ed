"""How honest players fare in calm and under an attack, and what the attack costs the service.

Owns what is measured, and when. Does not depend on what the attackers do, nor on the form of a table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import redis

from bench.processes import free_port
from service.devserver.embedded import EmbeddedServer
from tools.attack.attackers import ATTACKERS, Attackers, Done
from tools.attack.attacks import Attack
from tools.attack.bot_tables import BotTables, Waited, fraction_of
from tools.attack.honest import Fared, HonestPlayers, Victim
from tools.attack.hosts import Hosts
from tools.attack.shares import MAX_MEMORY_MB, Holding, Stage, others_of
from tools.attack.target import Refused, Target

WATCHDOG_SECONDS: Final = 3
"""gunicorn ends a worker that has been blocked for so long; by default 30 s, which is longer than an attack."""
CREATES_PER_MINUTE: Final = 3000
"""The default, by which no address can create more."""
_CALM_SECONDS: Final = 1.5
_WARM_UP_SECONDS: Final = 0.5
_RECOVERY_SECONDS: Final = 5.0
_TABLES: Final = {"greedy": 1, "expert": 1}
_MORE_TABLES: Final = {"greedy": 2, "expert": 2}
_LONG_CALM_SECONDS: Final = 4.0
_WHILE_SECONDS: Final = 10.0
_MAX_SECONDS: Final = 20.0
"""Within which attackers have taken all that they want, or were refused."""
_CUT_SECONDS: Final = 2.0
_SETTLE_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 0.1
_DAY_MINUTES: Final = 1440


class Seen(NamedTuple):
    """How the honest fared in a time, and the processor time of the service in it."""

    fared: Fared
    waited: Mapping[str, Waited]
    cpu_seconds: float


class Result(NamedTuple):
    """What an attack did; ``calm`` is before it, and after it if the service was ready then."""

    calm: list[Seen]
    attacked: Seen
    killed: int
    done: Done
    notes: list[str]

    @property
    def moves(self) -> float:
        """The moves of honest players in a second, as a fraction of calm."""
        rate = fmean(each.fared.rate for each in self.calm)
        return self.attacked.fared.rate / rate if rate else 0.0

    @property
    def bots(self) -> float | None:
        """The answers of computer players to honest people in a second, as a fraction of calm."""
        return fraction_of([each.waited for each in self.calm], self.attacked.waited)

    @property
    def cpu_seconds(self) -> float | None:
        """The processor time of the service for one request of an attacker: beyond what the honest cost in calm."""
        requests = requests_in(self.done)
        if not requests:
            return None
        calm = fmean(each.cpu_seconds / each.fared.seconds for each in self.calm)
        honest = calm * self.attacked.fared.seconds * min(1.0, self.moves)
        return max(0.0, self.attacked.cpu_seconds - honest) / requests


class Held(NamedTuple):
    """What an attack on what is held did; ``others_calm`` and ``others`` are in words."""

    result: Result
    others_calm: str
    others: str
    stored: str
    """What one address stores in a day, in words."""


class Crowd:
    """Honest players, and people at tables with computer players, while the context lasts."""

    def __init__(self, target: Target, tables: Mapping[str, int]) -> None:
        self._target = target
        self._players = HonestPlayers(target.address)
        self._tables = BotTables(target.address, tables)
        self._cpu_seconds = 0.0

    def __enter__(self) -> Crowd:
        self._players.start()
        self._tables.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._players.stop()
        self._tables.stop()

    def settle(self, seconds: float) -> None:
        """Wait until everybody at a table has had an answer, as the bot worker starts last; at most so long."""
        until = time.monotonic() + seconds
        while not self._tables.all_answered() and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)

    def mark(self) -> None:
        """Note in ``seen`` what happens from now on."""
        self._players.mark()
        self._tables.mark()
        self._cpu_seconds = self._target.service_seconds()

    def seen(self) -> Seen:
        """Return what has happened since ``mark``."""
        cpu = self._target.service_seconds() - self._cpu_seconds
        return Seen(self._players.fared(), self._tables.waited(), max(0.0, cpu))

    def observe(self, seconds: float) -> Seen:
        """Return what happens from now on for so many seconds."""
        self.mark()
        time.sleep(seconds)
        return self.seen()


def requests_in(done: Done) -> int:
    """Return how many requests the attackers have sent: what they did, but for the amounts that are counted beside."""
    if "connections" in done:
        return done["connections"]
    return sum(many for name, many in done.items() if name != "MiB")


def attacked(target: Target, attack: Attack, sources: Sequence[str], seconds: float) -> Result | str:
    """Return the result of one attack by attackers with these addresses, or why it was not possible."""
    try:
        order = attack.prepare(target)
    except Refused as refusal:
        return f"could not be prepared: {refusal}"
    attackers = Attackers(target.address, order, sources)
    victim_facts = order.facts[: len(sources)] if attack.has_victims else ()
    victims = [Victim(target.address, fact["path"], fact["victim"]) for fact in victim_facts]
    killed = target.killed_workers
    calm_seconds = min(_CALM_SECONDS, seconds)
    try:
        with Crowd(target, _TABLES) as crowd:
            time.sleep(min(_WARM_UP_SECONDS, seconds))
            calm = [crowd.observe(calm_seconds)]
            attackers.go(seconds)
            for victim in victims:
                victim.start()
            during = crowd.observe(seconds)
            for victim in victims:
                victim.stopping.set()
            done = attackers.stop()
            is_ready = target.is_ready(_RECOVERY_SECONDS)
            if is_ready:
                calm.append(crowd.observe(calm_seconds))
    finally:
        attackers.stop()
    killed = target.killed_workers - killed
    notes = []
    if victims:
        for victim in victims:
            victim.join()
        made, stale = sum(victim.made for victim in victims), sum(victim.stale for victim in victims)
        notes.append(f"victims: {made} moves made, {stale} stale (412)")
    if not is_ready:
        target.restart()
        notes.append(f"not ready {_RECOVERY_SECONDS:.0f} s later")
    return Result(calm, during, killed, done, notes)


def held(checkout: Path, holding: Holding, source: str, scale: float) -> Held | str:
    """Return the result of an attack on what is held by one address, in a service of its own; times are scaled."""
    with ExitStack() as stack:
        settings, store = dict(holding.settings), None
        if holding.has_named_store:
            store, url = stack.enter_context(_named_store())
            settings |= {"REDIS_URL": url, "SECRET_KEY": "x" * 40}
        hosts = stack.enter_context(Hosts())
        target = stack.enter_context(Target(checkout, settings=settings))
        try:
            stage = Stage(target, hosts, target.create_key("hostile"), target.create_key("honest"), {})
            order = holding.order(stage)
        except Refused as refusal:
            return f"could not be prepared: {refusal}"
        tables = {} if holding.has_named_store else _MORE_TABLES  # beside that store no bot worker runs
        crowd = stack.enter_context(Crowd(target, tables))
        crowd.settle(_SETTLE_SECONDS)
        crowd.mark()
        others_calm = others_of(holding, stage)
        time.sleep(scale * _LONG_CALM_SECONDS)
        calm = crowd.seen()
        before = target.stored_bytes() if holding.fills else 0
        attackers = Attackers(target.address, order, [source] * ATTACKERS)
        stack.callback(attackers.stop)
        during, done, others, seconds = _hold(crowd, attackers, holding, stage, scale=scale, store=store)
        stored = _stored_in_a_day(target.stored_bytes() - before, done, seconds) if holding.fills else "–"
        return Held(Result([calm], during, 0, done, []), others_calm, others, stored)


def _hold(
    crowd: Crowd, attackers: Attackers, holding: Holding, stage: Stage, *, scale: float, store: redis.Redis | None
) -> tuple[Seen, Done, str, float]:
    """Let the attackers take what they can, and ask for others meanwhile; also the seconds of that."""
    began = time.monotonic()
    seconds = scale * (_WHILE_SECONDS if holding.asks_meanwhile else _MAX_SECONDS)
    crowd.mark()
    attackers.go(seconds)
    others = "–"
    if holding.asks_meanwhile:
        time.sleep(scale * _CUT_SECONDS)
        if store is not None:
            store.client_kill_filter(_type="normal", skipme=True)
        others = others_of(holding, stage)
    attackers.wait(began + seconds - time.monotonic())
    taken = time.monotonic() - began
    done = attackers.stop()
    if not holding.asks_meanwhile:
        others = others_of(holding, stage)
    time.sleep(scale * holding.holds_seconds)
    return crowd.seen(), done, others, taken


def _stored_in_a_day(stored: int, done: Done, seconds: float) -> str:
    """Return what one address can store in a day, as a part of the store, and of each request.

    Where a limit of what is held was reached, it is that. Else it goes on at this rate, but for the limit in a minute.
    """
    made = done["201"]
    if not made:
        return "nothing"
    each = stored / made
    if any(name.endswith("limit_reached") for name in done):
        a_day = float(stored)
    else:
        was_limited = any(name.endswith("rate_limited") for name in done)
        a_minute = made if was_limited else min(CREATES_PER_MINUTE, 60 * made / max(seconds, 1.0))
        a_day = each * a_minute * _DAY_MINUTES
    percent = 100 * a_day / (MAX_MEMORY_MB << 20)
    return f"{a_day / (1 << 20):,.1f} MiB ({percent:,.0f} %), {each:,.0f} B each"


@contextmanager
def _named_store() -> Iterator[tuple[redis.Redis, str]]:
    """Yield a server that is reached by a host name, and its URL."""
    port = free_port()
    with TemporaryDirectory(prefix="domino-attack-store-") as folder:
        server = EmbeddedServer(Path(folder), options={"port": str(port), "bind": "127.0.0.1"})
        with server, redis.Redis(port=port, protocol=2) as client:
            yield client, f"redis://127-0-0-1.ip.example:{port}/0"
