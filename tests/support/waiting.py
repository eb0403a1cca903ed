"""How long tests wait."""

from __future__ import annotations

from typing import Final

PATIENCE: Final = 60.0
"""Seconds that a test waits for a process or a thread before it fails: long, as a machine may have other work."""
