"""``make help`` is the one list of targets."""

from __future__ import annotations

import re
import subprocess

from tests.support.serving import ROOT

COLUMNS = 120


def test_every_target_has_a_line_that_fits() -> None:
    command = ["make", "--no-print-directory", "help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    declared = re.search(r"^\.PHONY: ((?:.+\\\n)*.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert declared
    assert sorted(line.split()[1] for line in said) == sorted(declared[1].replace("\\\n", "").split())
    assert [line for line in said if len(line) > COLUMNS] == []
