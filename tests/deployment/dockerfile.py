"""The instructions of the Dockerfile, read from its text."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.serving import ROOT


class Instruction(NamedTuple):
    """One instruction of a Dockerfile, its continuation lines joined."""

    name: str
    text: str


def instructions() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = [line.split(maxsplit=1) for line in text.replace("\\\n", " ").splitlines() if line]
    return [Instruction(name, rest.strip()) for name, rest in lines]


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, the first of which is FROM."""
    found: list[list[Instruction]] = []
    for instruction in instructions():
        if instruction.name == "FROM":
            found.append([])
        if found:
            found[-1].append(instruction)
    return found


def final(name: str) -> list[str]:
    """The texts of these instructions in the final stage."""
    return [instruction.text for instruction in stages()[-1] if instruction.name == name]


def commands(stage: list[Instruction]) -> list[str]:
    """The single commands of a stage's RUN instructions."""
    return [part.strip() for run in stage if run.name == "RUN" for part in run.text.split("&&")]
