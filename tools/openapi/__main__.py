"""``python -m tools.openapi`` writes the files of the document; with ``--check`` it only says which are out of date.

The exit status of ``--check`` is 1 if there are such files.
"""

from __future__ import annotations

import argparse
import sys

from tools.openapi.files import ROOT, build_files


def main() -> int:
    """Write or check the files; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.openapi", description="Writes the OpenAPI document.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    status = 0
    for path, content in build_files().items():
        if path.is_file() and path.read_bytes() == content:
            continue
        if check:
            sys.stderr.write(f"{path.relative_to(ROOT)} is out of date; run make openapi\n")
            status = 1
        else:
            new = path.with_name(f"{path.name}.new")
            new.write_bytes(content)
            new.replace(path)
            sys.stdout.write(f"{path.relative_to(ROOT)} is written\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
