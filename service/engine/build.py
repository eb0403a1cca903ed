"""The build of the engine that this process runs."""

from __future__ import annotations

from typing import Final, Literal

Build = Literal["pure", "compiled"]

BUILD: Final[Build] = "pure" if __file__.endswith(".py") else "compiled"
"""``pure``: the Python sources; ``compiled``: the modules that ``tools.wheel_compiled`` compiled from them."""
