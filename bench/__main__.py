"""``python -m bench [--smoke] [part …]``: measure, print, and write RESULTS.md when everything was measured.

``python -m bench load`` is the load run, and writes LOAD.md.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.parts import LOAD, PARTS, part
from bench.scale import FULL, SMOKE
from bench.stand import Stand, server_version


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
    arguments = parser.parse_args(argv)
    is_load = arguments.parts == [LOAD]
    unknown = [name for name in arguments.parts if name not in PARTS]
    if unknown and not is_load:
        parser.error(f"no such part: {', '.join(unknown)}")
    scale = SMOKE if arguments.smoke else FULL
    if arguments.turns is not None:
        scale = scale._replace(turns=arguments.turns)
    folder = arguments.results
    if folder is None and (is_load or not arguments.parts) and not arguments.smoke:
        folder = Path(__file__).parent
    sections = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing that was started is left behind
    with Stand(scale.workers) as stand:
        for name in arguments.parts or PARTS:
            sections.append(part(name)(stand, scale))
            print(report.show(sections[-1], goals=not arguments.smoke), flush=True)
    if folder is not None:
        page = report.LOAD if is_load else report.RESULTS
        report.write(folder, sections, server_version(unix=not is_load), page)
        print(f"Written: {folder / page.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
