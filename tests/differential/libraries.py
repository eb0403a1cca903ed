"""Libraries of other people, which the group ``differential`` of ``pyproject.toml`` lists."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def library(package: str, module: str) -> Any:
    """The module of this package; without it the tests of the calling module are skipped, and fail with CI=true."""
    if os.environ.get("CI") == "true":
        return import_module(module)
    return pytest.importorskip(module, reason=f"{package} is not installed (make install-dev installs it)")
