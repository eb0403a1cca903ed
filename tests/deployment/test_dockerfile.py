"""What the Dockerfile promises, as far as its text shows it; ``make image-check`` builds the image and runs it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from tests.deployment.dockerfile import commands, final, instructions, stages
from tests.deployment.pip_commands import assert_locked
from tests.support.serving import ROOT


def test_both_stages_have_one_base_which_is_fixed_by_its_digest() -> None:
    (base,) = (instruction.text for instruction in instructions() if instruction.name == "ARG")
    assert re.fullmatch(r"BASE=python:3\.[0-9]+\.[0-9]+-slim@sha256:[0-9a-f]{64}", base)
    assert [stage[0].text for stage in stages()] == ["${BASE} AS build", "${BASE}"]


def test_the_image_is_built_from_locked_wheels_only() -> None:
    build, _final = stages()
    installs = [command.split() for command in commands(build) if " pip " in command]
    assert len(installs) == 3
    for words in installs:
        assert_locked(words)
        if "-r" in words:
            assert words[words.index("--only-binary") + 1] == ":all:"


def test_the_engine_of_the_image_is_compiled() -> None:
    build, last = stages()
    assert "python tools/wheel_compiled.py dist" in commands(build)
    assert not any("gcc" in command for command in commands(last))


def test_the_build_copies_only_what_is_not_ignored() -> None:
    build, _final = stages()
    copied = {name for it in build if it.name == "COPY" for name in it.text.split()[:-1]}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert copied == {line.removeprefix("!") for line in ignored if line.startswith("!")}


def test_the_final_image_has_no_pip_and_installs_nothing() -> None:
    build, last = stages()
    assert "python -m venv --without-pip /opt/domino" in commands(build)
    assert "python -m pip uninstall --yes --root-user-action=ignore pip" in commands(last)
    assert any("rmtree(ensurepip" in command for command in commands(last))
    assert not any(word in command.split() for command in commands(last) for word in ("apt-get", "ensurepip", "venv"))
    assert not any(" pip install" in command for command in commands(last))
    assert final("COPY") == ["--from=build /opt/domino /opt/domino"]
    assert not final("ADD")


def test_the_user_is_not_root_and_owns_only_the_data() -> None:
    assert final("USER") == ["10001:10001"]
    _build, last = stages()
    assert any(command.startswith("groupadd ") and "--gid 10001 " in command for command in commands(last))
    assert any(command.startswith("useradd ") and "--uid 10001 " in command for command in commands(last))
    owned = [command.split()[-1] for command in commands(last) if "--owner=domino" in command]
    assert owned == ["/data"] == final("VOLUME")
    assert not any(command.startswith(("chown", "chmod")) for command in commands(last))
    assert "--chown" not in final("COPY")[0]


def test_the_image_has_a_health_check_of_the_service() -> None:
    (check,) = final("HEALTHCHECK")
    command = json.loads(check.partition(" CMD ")[2])
    assert command[0] == "python"
    assert "/healthz" in command[-1]
    compile(command[-1], "HEALTHCHECK", "exec")


def test_image_check_fails_with_one_line_where_there_is_no_buildah(tmp_path: Path) -> None:
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    checked = subprocess.run(
        [tmp_path / "bash", ROOT / ".ci" / "image-check"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1
    assert checked.stdout == ""
    assert checked.stderr.startswith("image-check: buildah was not found")
    assert checked.stderr.count("\n") == 1
