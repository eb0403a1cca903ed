"""The packages of Node that programs of the tests use: those of ``tools/page/package.json``."""

from __future__ import annotations

from tests.support.serving import ROOT

NODE_MODULES = ROOT / "tools" / "page" / "node_modules"
"""Where ``make install-dev`` puts them."""
