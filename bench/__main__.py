"""``python -m bench [--smoke] [part …]``: measure, print, and write RESULTS.md when everything was measured.

``python -m bench load`` is the load run, and writes LOAD.md.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench import report
from bench.builds import ROOT
from bench.parts import LOAD, PARTS, part
from bench.scale import FULL, SMOKE, Scale
from bench.stand import Stand, server_version

KEPT: Final = ROOT / ".cache" / "bench"
"""What parts have measured, until all have: a machine may not be idle for as long as all take together."""


def main(argv: Sequence[str]) -> int:
    """Run the parts that are asked for, all of them by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures the service beside its floor.")
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"which parts: {', '.join(PARTS)} (all); or {LOAD} alone"
    )
    parser.add_argument("--smoke", action="store_true", help="only see that everything runs; the figures mean nothing")
    parser.add_argument("--turns", type=int, help=f"bursts of each candidate ({FULL.turns})")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="where RESULTS.md or LOAD.md is written; bench/ if all of it is measured, else nowhere",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep what is measured in .cache/bench; without any part, write RESULTS.md from what is kept of all",
    )
    arguments = parser.parse_args(argv)
    is_load = arguments.parts == [LOAD]
    unknown = [name for name in arguments.parts if name not in PARTS]
    if unknown and not is_load:
        parser.error(f"no such part: {', '.join(unknown)}")
    scale = SMOKE if arguments.smoke else FULL
    if arguments.turns is not None:
        scale = scale._replace(turns=arguments.turns)
    folder: Path | None = arguments.results
    if folder is None and (is_load or not arguments.parts) and not arguments.smoke:
        folder = Path(__file__).parent
    if arguments.keep and not arguments.parts:
        measured = report.kept(KEPT, PARTS)
    else:
        measured = _measure(arguments, scale)
    if folder is not None:
        page = report.LOAD if is_load else report.RESULTS
        report.write(folder, measured, server_version(unix=not is_load), page)
        print(f"Written: {folder / page.name}")
    return 0


def _measure(arguments: argparse.Namespace, scale: Scale) -> list[report.Kept]:
    """Run the parts, print what they say, and keep it if that is asked for."""
    if not Path("/proc/self/stat").exists():
        sys.exit("bench: processor time is read from /proc, which is only there on Linux")
    measured = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing that was started is left behind
    with Stand(scale.workers) as stand:
        for name in arguments.parts or PARTS:
            section = part(name)(stand, scale)
            measured.append(report.now(section))
            print(report.show(section, goals=not arguments.smoke), flush=True)
            if arguments.keep:
                report.keep(KEPT, name, measured[-1])
    return measured


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
