"""What the Dockerfile builds from is fixed; ``make image-check`` builds the image and runs it, before each release."""

from __future__ import annotations

import re

from tests.deployment.dockerfile import commands, instructions, stages
from tests.deployment.pip_commands import assert_locked
from tests.support.serving import ROOT


def test_both_stages_have_one_base_which_is_fixed_by_its_digest() -> None:
    (base,) = (instruction.text for instruction in instructions() if instruction.name == "ARG")
    assert re.fullmatch(r"BASE=python:3\.[0-9]+\.[0-9]+-slim@sha256:[0-9a-f]{64}", base)
    assert [stage[0].text for stage in stages()] == ["${BASE} AS build", "${BASE}"]


def test_the_image_is_built_from_locked_wheels_only() -> None:
    build, last = stages()
    installs = [command.split() for command in commands(build) if " pip " in command]
    assert len(installs) == 3
    for words in installs:
        assert_locked(words)
        if "-r" in words:
            assert words[words.index("--only-binary") + 1] == ":all:"
    assert not any(" pip install" in command or "apt-get" in command for command in commands(last))


def test_the_build_copies_only_what_is_not_ignored() -> None:
    build, _final = stages()
    copied = {name for it in build if it.name == "COPY" for name in it.text.split()[:-1]}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert copied == {line.removeprefix("!") for line in ignored if line.startswith("!")}
