"""What the workers of pytest-xdist share."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """The folder of this name that all workers of a run share."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # this is a worker, whose own folder lies in the one that they share
        folder = folder.parent
    folder /= name
    folder.mkdir(exist_ok=True)
    return folder
