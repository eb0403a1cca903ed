"""What is allowed in the same turn after a draw."""

from __future__ import annotations

from typing import Final

from service.engine.variant import Drawing

UNTIL_IT_FITS: Final = Drawing(again=True, place=True, keep=False)
"""Draw until a tile fits, which then must be placed (rules 1.6, 2.7)."""

ONE_AND_WAIT: Final = Drawing(again=False, place=False, keep=False)
"""Draw one, and do not place it in this turn (rules 3.7)."""

ONE_AND_GO_ON: Final = Drawing(again=False, place=True, keep=False)
"""Buy one; if it fits it is placed and the turn continues (rules 4.5)."""

ONE_TO_PLACE_OR_KEEP: Final = Drawing(again=False, place=True, keep=True)
"""Draw one; if it fits it may be placed at once, or kept (rules 5.5)."""
