"""The build of the engine that runs.

Owns the two names.
"""

from __future__ import annotations

from typing import Final, Literal

Build = Literal["pure", "compiled"]

BUILD: Final[Build] = "pure" if __file__.endswith(".py") else "compiled"
"""``pure``: Python runs the sources; ``compiled``: it runs what ``tools.wheel_compiled`` has made of them."""
