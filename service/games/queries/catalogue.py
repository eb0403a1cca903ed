"""The catalogue: the variants with their rule pages in English and German and their deals, and the computer players.

Owns the access to the rule pages, which are beside the modules of the variants, and what is said about the levels of
computer players. Does not depend on HTTP, nor on how a level chooses.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final, Literal, NamedTuple

from service.engine.errors import InvalidSetup
from service.engine.options import LocalizedText, Value
from service.engine.variant import Variant
from service.engine.variants import modules, variants
from service.games.model.errors import NotFound
from service.games.queries.strength import measured_strength

Language = Literal["en", "de"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "de")


class DealRow(NamedTuple):
    """The deal for a number of players; ``highest`` is the pips on each half of the set's highest double.

    The others are numbers of tiles: ``hand`` of each player, ``stock`` left over, ``drawable`` from it under the rules.
    """

    highest: int
    players: int
    hand: int
    stock: int
    drawable: int


class BotLevel(NamedTuple):
    """A level of computer players: how it chooses its moves, and how strong it is in any game, in a sentence each."""

    key: str
    summary: LocalizedText
    strength: LocalizedText


BOT_LEVELS: Final = (
    BotLevel(
        "random",
        LocalizedText("Makes any legal move.", "Macht irgendeinen erlaubten Zug."),
        LocalizedText(
            "Does not try to win: for a first game, and for tests.",
            "Will nicht gewinnen: für die erste Partie und für Tests.",
        ),
    ),
    BotLevel(
        "greedy",
        LocalizedText(
            "Scores, sheds heavy tiles, stays able to follow and hinders the next player.",
            "Punktet, wird schwere Steine los, bleibt anlegefähig und behindert den Nächsten.",
        ),
        LocalizedText(
            "Of medium strength; it also plays for people who are away.",
            "Mittelstark; spielt auch für alle, die abwesend sind.",
        ),
    ),
    BotLevel(
        "expert",
        LocalizedText(
            "Plays its best moves on over many deals that agree with all it has seen, and takes the best of them.",
            "Spielt seine besten Züge über viele Verteilungen weiter, die zu allem Gesehenen passen, und nimmt den "
            "besten.",
        ),
        LocalizedText(
            "The strongest level; by how much depends on the game and the number of players.",
            "Die stärkste Stufe; wie deutlich, hängt vom Spiel und von der Zahl der Spieler ab.",
        ),
    ),
)
"""The levels of computer players (``game.LEVELS``), from weak to strong."""


def find_variant(key: str) -> Variant:
    """The variant of that key. Raises ``NotFound``."""
    variant = variants().get(key)
    if variant is None:
        raise NotFound("no_such_variant", allowed=list(variants()))
    return variant


def localize(text: LocalizedText, language: Language) -> str:
    """The text in that language."""
    return text.de if language == "de" else text.en


@cache
def level_strength(level: BotLevel, variant: Variant, language: Language) -> str:
    """How strong a level of computer players is in this variant: in general, and as measured, if it was."""
    general = localize(level.strength, language)
    shares = [row for row in measured_strength() if row.variant == variant.key and row.stronger == level.key]
    if not shares:
        return general
    labels = {option.key: localize(option.label, language) for option in variant.options}
    players = "Spieler" if language == "de" else "players"
    figures = []
    for row in shares:
        table = ", ".join(
            [f"{row.players} {players}", *[f"{labels[key]} {value}" for key, value in row.options.items()]]
        )
        figures.append(f"{100 * row.share:.0f} % ({table})")
    weaker = shares[0].weaker.capitalize()
    first, *others = figures
    if language == "de":
        cases = ", ".join([first.replace("(", "der Fälle ("), *others])
        return f"{general} Gemessen: Die Runde ist besser als die von {weaker} in {cases}."
    cases = ", ".join([first.replace("(", "of cases ("), *others])
    return f"{general} Measured: its round is better than that of {weaker} in {cases}."


@cache
def rule_page(key: str, language: Language) -> str:
    """The rule page of a variant, in Markdown. Raises ``KeyError`` for an unknown one."""
    page = resources.files("service.engine.variants").joinpath(f"{modules()[key]}.{language}.md")
    return page.read_text("utf-8")


@cache
def deal_table(key: str) -> tuple[DealRow, ...]:
    """The deal for each set and each number of players with which the variant can be played.

    Raises ``KeyError`` for an unknown variant.
    """
    variant = variants()[key]
    sets: list[dict[str, Value]] = [
        {option.key: value} for option in variant.options if option.key == "set" for value in option.values
    ]
    rows = []
    for options in sets or [{}]:
        for players in range(variant.players.low, variant.players.high + 1):
            try:
                rules = variant.rules(options, players)
            except InvalidSetup:
                continue
            hand = rules.hand_size(players)
            stock = len(rules.tiles) - hand * players
            rows.append(DealRow(rules.tiles[-1].high, players, hand, stock, max(0, stock - rules.reserve)))
    return tuple(rows)
