"""The start: seconds from the command to the first response, and the share of the imports."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from bench.builds import ROOT
from bench.figures import spread
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.stand import Stand

MAX_SECONDS: Final = 3.0
MAX_IMPORT_SECONDS: Final = 0.5
COSTLIEST: Final = 8
_TIMED: Final = (
    "import time; began = time.perf_counter(); import service.bootstrap.web; "
    "taken = time.perf_counter() - began; print(taken)"
)


def run(stand: Stand, scale: Scale) -> Section:
    """Start the whole service repeatedly, each time with a new data folder, and measure its imports separately."""
    answers = []
    for _ in range(scale.starts):
        candidate = stand.start([sys.executable, "-m", "service"], {})
        answers.append(candidate.wait("/v1/variants"))
        candidate.stop()
    imports = [float(_python("-c", _TIMED).stdout) for _ in range(scale.starts)]
    start, imported = spread(answers), spread(imports)
    return Section(
        title="Start",
        text="With everything installed and compiled: `python -m service` with its own embedded server, until "
        "`/v1/variants` is answered; and `import service.bootstrap.web`, as a worker does it.",
        tables=[
            Table(
                "Seconds", ("what", "seconds"), [("start to first answer", start.show()), ("import", imported.show())]
            ),
            Table("The costliest packages to import, each without the others", ("module", "ms"), _costliest()),
        ],
        goals=[
            Goal("seconds to the first answer", f"≤ {MAX_SECONDS:.0f}", start.show(), start.median <= MAX_SECONDS),
            Goal(
                "seconds to import the service",
                f"≤ {MAX_IMPORT_SECONDS}",
                imported.show(),
                imported.median <= MAX_IMPORT_SECONDS,
            ),
        ],
    )


def _costliest() -> list[tuple[str, str]]:
    """Return the packages whose modules took longest by themselves, from ``-X importtime``."""
    taken: dict[str, int] = {}
    for line in _python("-X", "importtime", "-c", "import service.bootstrap.web").stderr.splitlines():
        own, _, module = line.removeprefix("import time:").split("|")
        if own.strip().isdecimal():
            package = ".".join(module.strip().split(".")[: 2 if module.strip().startswith("service.") else 1])
            taken[package] = taken.get(package, 0) + int(own)
    ordered = sorted(taken.items(), key=lambda each: -each[1])
    return [(package, f"{microseconds / 1000:.0f}") for package, microseconds in ordered[:COSTLIEST]]


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
