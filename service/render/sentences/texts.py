"""The sentences, each in English and German, and the only place that has any.

Owns wording and grammar: whatever depends on a number or a case is given to a sentence already in its right form.
Which sentence is said when is decided by the other modules of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.engine.options import LocalizedText
from service.games.catalogue import Language, localize

LEFT: Final = "left"
RIGHT: Final = "right"
UP: Final = "up"
DOWN: Final = "down"


def text(key: str, language: Language, **values: str) -> str:
    """The text with this key in this language; ``{name}`` in it stands for a value."""
    return localize(TEXTS[key], language).format_map(values)


def _texts(texts: Mapping[str, tuple[str, str]]) -> dict[str, LocalizedText]:
    return {key: LocalizedText(*pair) for key, pair in texts.items()}


TEXTS: Final[Mapping[str, LocalizedText]] = _texts(
    {
        # The directions of the arms of the lead
        "direction.left": ("left", "links"),
        "direction.right": ("right", "rechts"),
        "direction.up": ("up", "oben"),
        "direction.down": ("down", "unten"),
        # A place on the table
        "place.half": ("the {number} of {host}", "die {number} von {host}"),
        "place.double": ("{host}", "{host}"),
        "place.long": ("the long side of {host}", "die lange Seite {host_genitive}"),
        "place.short": ("the {ordinal} short side of {host}", "die {ordinal} kurze Seite {host_genitive}"),
        "place.shorts": ("both short sides of {host}", "beide kurzen Seiten {host_genitive}"),
        "ordinal.first": ("first", "erste"),
        "ordinal.second": ("second", "zweite"),
        # The half of a tile with this number, as a noun
        "noun.blank": ("blank", "blanke Hälfte"),
        # The table
        "board.empty": ("No tile lies on the table.", "Noch liegt kein Stein."),
        "board.count_one": ("One tile lies on the table.", "Ein Stein liegt."),
        "board.count": ("{number} tiles lie on the table.", "{number} Steine liegen."),
        "board.ends": ("Ends: {ends}.", "Enden: {ends}."),
        "board.all_closed": ("All ends are closed.", "Alle Enden sind zu."),
        "board.sum": ("Sum {number}.", "Summe {number}."),
        "board.line": ("From left to right: {tiles}.", "Von links nach rechts: {tiles}."),
        "board.lead": ("The first tile is {tile}.", "Der erste Stein ist {tile}."),
        "board.arm": ("{place}: {tiles}.", "{place}: {tiles}."),
        "board.more_one": ("And one more tile.", "Und ein weiterer Stein."),
        "board.more": ("And {number} more tiles.", "Und {number} weitere Steine."),
        "end.open": ("{direction} {number}", "{direction} {number}"),
        "end.gated": ("{direction} {number} not open yet", "{direction} {number} noch nicht offen"),
        "end.closed": ("{direction} closed", "{direction} zu"),
        "end.place_gated": ("{place} not open yet", "{place} noch nicht offen"),
        "end.place_closed": ("{place} closed", "{place} zu"),
        "tile.face_down": ("{tile} face down", "{tile} verdeckt"),
    }
)
"""Every text by its key, English and German side by side."""
