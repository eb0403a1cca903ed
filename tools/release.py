"""Builds all that a release consists of: ``python -m tools.release`` writes it into ``dist``.

* the wheel and the source distribution of the service, and the packages of ``clients``;
* the wheel with a compiled engine for this platform, where there is a C compiler;
* a bill of materials (CycloneDX, JSON): what ``locks/run.txt`` installs here beside the wheel, with licences;
* ``SHA256SUMS``, of all of these;
* the image ``domino-service:VERSION``, where there is a program that builds one; it stays in the store of that program.

All files are built twice, in two folders; it fails if a byte differs. Times in them are that of the last commit. The
image is not compared: its layers have the times at which files were installed.

``--tag v1.2.3`` first checks that this is the version, that the changelog has it with a date, and that everything is
committed. Needs what ``make install-dev`` installs, git, and the index of packages.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from gzip import GzipFile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final

from tools import wheel_compiled

ROOT: Final = Path(__file__).parents[1]
CHANGELOG: Final = ROOT / "CHANGELOG.md"
LOCK: Final = "locks/run.txt"
SUMS: Final = "SHA256SUMS"
HEADING: Final = re.compile(r"^## \[([^\]]+)\] - (\S+)$", re.MULTILINE)
"""A version in the changelog and its date, or ``unreleased``."""
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")

_PYTHON: Final = (sys.executable, "-m")
_BUILD: Final = (*_PYTHON, "uv", "build", "--quiet", "--offline", "--no-build-isolation", "--no-create-gitignore")
_INSTALL: Final = (
    *("--disable-pip-version-check", "--quiet", "--no-compile"),
    *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
)


def main() -> int:
    """Build the release; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Builds what a release consists of.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="where it is written")
    parser.add_argument("--tag", help="the tag of the release: check that all is ready for it")
    parser.add_argument("--no-image", action="store_true", help="build no image")
    options = parser.parse_args()
    if options.tag is not None:
        reason = unready(options.tag, CHANGELOG.read_text("utf-8")) or uncommitted()
        if reason:
            parser.error(reason)
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    epoch = run(ROOT, "git", "log", "-1", "--format=%ct").strip()
    os.environ["SOURCE_DATE_EPOCH"] = epoch
    os.umask(0o022)  # the modes of files are in the packages
    with tempfile.TemporaryDirectory() as made:
        first, second = (build(Path(made) / name, int(epoch)) for name in ("first", "second"))
        compare(first, second)
        written = [Path(shutil.copy(file, folder)) for file in sorted(first.iterdir())]
    lines = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in written]
    (folder / SUMS).write_text("".join(lines), "ascii")
    for file in (*written, folder / SUMS):
        say(str(file))
    if reason := wheel_compiled.missing():
        say(f"no wheel with a compiled engine is built: {reason}")
    if not options.no_image:
        build_image()
    return 0


def version() -> str:
    """Return the version of the service: this is the one place where it stands."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def unready(tag: str, changelog: str) -> str:
    """Why the version is not ready to be released under this tag; empty if it is."""
    newest = HEADING.search(changelog)
    if tag != f"v{version()}":
        return f"the tag {tag} is not that of version {version()} in pyproject.toml"
    if newest is None or newest[1] != version() or not DATE.fullmatch(newest[2]):
        return f"the changelog does not begin with version {version()} and the date of its release"
    return ""


def uncommitted() -> str:
    """Why what is built would not be what is committed; empty if it would."""
    return "there are changes that are not committed" if run(ROOT, "git", "status", "--porcelain") else ""


def build(folder: Path, epoch: int) -> Path:
    """Build all files from a copy of those that git knows; returns the folder that they are in."""
    sources, built = folder / "sources", folder / "built"
    copy_sources(sources)
    run(sources, *_BUILD, "--python", sys.executable, "--out-dir", str(built))
    for sdist in built.glob("*.tar.gz"):
        normalise(sdist, epoch)
    if not wheel_compiled.missing():
        run(sources, *_PYTHON, "tools.wheel_compiled", str(built))
    run(sources, *_PYTHON, "tools.build_clients", str(built))
    write_bill(sources, built / f"domino-service-{version()}.cdx.json")
    return built


def copy_sources(folder: Path) -> None:
    """Copy all files that git knows, as they are now, and link the installed packages of Node."""
    for name in run(ROOT, "git", "ls-files", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    modules = Path("tools", "page", "node_modules")
    (folder / modules).symlink_to(ROOT / modules)


def normalise(sdist: Path, epoch: int) -> None:
    """Write a source distribution again without what is of this machine and moment, which setuptools leaves in it."""
    packed = BytesIO()
    with tarfile.open(sdist) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old, key=lambda member: member.name):
            same = tarfile.TarInfo(member.name)
            same.type, same.size, same.mtime = member.type, member.size, epoch
            same.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(same, old.extractfile(member) if member.isfile() else None)
    with sdist.open("wb") as file, GzipFile("", "wb", fileobj=file, mtime=epoch) as compressed:
        compressed.write(packed.getvalue())


def compare(first: Path, second: Path) -> None:
    """Raise ``SystemExit`` unless both folders have the same files with the same bytes."""
    here, there = ({file.name: file.read_bytes() for file in each.iterdir()} for each in (first, second))
    different = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if different:
        raise SystemExit(f"Built twice, these are not the same: {', '.join(different)}")


def write_bill(sources: Path, file: Path) -> None:
    """Write the bill of materials of what the lock file installs in an empty environment."""
    with tempfile.TemporaryDirectory() as made:
        python = str(Path(made) / "bin" / "python")
        run(sources, *_PYTHON, "venv", "--without-pip", made)
        run(sources, *_PYTHON, "pip", "--python", python, "install", *_INSTALL, "-r", LOCK)
        project = ("--pyproject", "pyproject.toml", "--output-reproducible")
        run(sources, *_PYTHON, "cyclonedx_py", "environment", *project, "--output-file", str(file), python)


def build_image() -> None:
    """Build the image with the first program that can, or say that there is none."""
    tag = f"domino-service:{version()}"
    for program in image_builders():
        run(ROOT, program, "build", "--tag", tag, ".")
        say(f"the image {tag}, built by {program}")
        return
    say("no image is built: there is neither buildah nor a docker that runs")


def image_builders() -> Iterator[str]:
    """Yield the programs here that can build an image."""
    for program in ("buildah", "docker"):
        if shutil.which(program):
            asked = subprocess.run([program, "info"], capture_output=True, check=False)
            if asked.returncode == 0:
                yield program


def say(line: str) -> None:
    """Print what was built, when it was."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(folder: Path, *command: str) -> str:
    """Return what a command prints that is run in a folder.

    Raises ``SystemExit`` with all that it said, if it fails.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
