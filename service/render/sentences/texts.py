"""The sentences, each in English and German, and the only place that has any.

Owns wording and grammar: whatever depends on a number or a case is given to a sentence already in its right form.
Does not depend on which sentence is said when, which the other modules of this package decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.engine.options import LocalizedText

LEFT: Final = "left"
RIGHT: Final = "right"
UP: Final = "up"
DOWN: Final = "down"


def text(key: str, language: str, **values: str) -> str:
    """The text with this key in this language; ``{name}`` in it stands for a value."""
    template: str = getattr(TEXTS[key], language)
    return template.format_map(values)


def _texts(texts: Mapping[str, tuple[str, str]]) -> dict[str, LocalizedText]:
    return {key: LocalizedText(*pair) for key, pair in texts.items()}


TEXTS: Final[Mapping[str, LocalizedText]] = _texts(
    {
        # Words
        "you": ("You", "Du"),
        "player": ("Player {number}", "Spieler {number}"),
        "list.and": ("{first} and {last}", "{first} und {last}"),
        "list.or": ("{first} or {last}", "{first} oder {last}"),
        "tiles.one": ("one tile", "einen Stein"),
        "tiles": ("{number} tiles", "{number} Steine"),
        "points.none": ("no points", "keine Punkte"),
        "points.one": ("one point", "ein Punkt"),
        "points.minus_one": ("minus one point", "minus ein Punkt"),
        "points": ("{number} points", "{number} Punkte"),
        # Events, to others and to the player
        "deleted": ("The game was deleted.", "Das Spiel wurde gelöscht."),
        "created": ("The game was created.", "Das Spiel ist angelegt."),
        "joined": ("{name} joined the game.", "{name} ist dabei."),
        "joined.you": ("You joined the game.", "Du bist dabei."),
        "token_changed": ("{name} has a new token.", "{name} hat ein neues Token."),
        "token_changed.you": ("You have a new token.", "Du hast ein neues Token."),
        "renamed": ("Player {number} is called {name}.", "Spieler {number} heißt {name}."),
        "renamed.you": ("You are called {name}.", "Du heißt {name}."),
        "renamed.ref": (
            "The application has changed its reference for {name}.",
            "Die Anwendung führt {name} jetzt unter einem anderen Zeichen.",
        ),
        "renamed.ref.you": (
            "The application has changed its reference for you.",
            "Die Anwendung führt dich jetzt unter einem anderen Zeichen.",
        ),
        "join_code_changed": ("There is a new join code.", "Es gibt einen neuen Beitrittscode."),
        "rematched": ("There is a rematch.", "Es gibt eine Revanche."),
        "dealt": ("Round {round} was dealt.", "Runde {round} ist gegeben."),
        "dealt.you": ("Round {round} was dealt. You have {tiles}.", "Runde {round} ist gegeben. Du hast {tiles}."),
        "led": ("{name} opened with {tile}.{more}", "{name} eröffnet mit {tile}.{more}"),
        "led.you": ("You opened with {tile}.{more}", "Du eröffnest mit {tile}.{more}"),
        "played": ("{name} played {tile}{where}{ends}.{more}", "{name} legt {tile}{where}{ends}.{more}"),
        "played.you": ("You played {tile}{where}{ends}.{more}", "Du legst {tile}{where}{ends}.{more}"),
        "played.closed": (
            "{name} played {tile}{where}, face down: this arm is closed.",
            "{name} legt {tile}{where}, verdeckt: dieser Arm ist zu.",
        ),
        "played.closed.you": (
            "You played {tile}{where}, face down: this arm is closed.",
            "Du legst {tile}{where}, verdeckt: dieser Arm ist zu.",
        ),
        "played.end": ("; end {numbers}", "; Ende {numbers}"),
        "played.ends": ("; ends {numbers}", "; Enden {numbers}"),
        "sum": ("Sum {sum}, {points}.", "Summe {sum}, {points}."),
        "drew": ("{name} drew a tile.", "{name} zieht einen Stein."),
        "drew.you": ("You drew a tile.", "Du ziehst einen Stein."),
        "drew.tile": ("{name} drew {tile}.", "{name} zieht {tile}."),
        "drew.tile.you": ("You drew {tile}.", "Du ziehst {tile}."),
        "passed": ("{name} passed.", "{name} setzt aus."),
        "passed.you": ("You passed.", "Du setzt aus."),
        "done": ("{name} ended the turn.", "{name} ist fertig."),
        "done.you": ("You ended your turn.", "Du bist fertig."),
        "flipped": ("{name} turned the opening tile over.", "{name} dreht den Eröffnungsstein um."),
        "flipped.you": ("You turned the opening tile over.", "Du drehst den Eröffnungsstein um."),
        "round_ended": ("Round {round} is over: {reason}.", "Runde {round} ist vorbei: {reason}."),
        "round_ended.out": ("nobody has a tile left", "niemand hat mehr einen Stein"),
        "round_ended.out.name": ("{name} went out", "{name} hat keinen Stein mehr"),
        "round_ended.out.you": ("you went out", "du hast keinen Stein mehr"),
        "round_ended.blocked": ("nothing fits any more", "nichts passt mehr"),
        "round_ended.closed": ("every end is closed", "alle Enden sind zu"),
        "round_ended.flip": ("the opening tile was turned over", "der Eröffnungsstein wurde umgedreht"),
        "round_ended.target": ("the target was reached", "das Ziel ist erreicht"),
        "round_ended.points": ("{points} for {name}.", "{points} für {name}."),
        "round_ended.points.you": ("{points} for you.", "{points} für dich."),
        "round_ended.carried": ("{points} are carried.", "{points} werden übertragen."),
        "round_ended.carried_one": ("{points} is carried.", "{points} wird übertragen."),
        "eliminated": ("{name} is out of the match.", "{name} scheidet aus."),
        "eliminated.you": ("You are out of the match.", "Du scheidest aus."),
        "finished": ("{names} wins the match.", "{names} gewinnt die Partie."),
        "finished.several": ("{names} win the match.", "{names} gewinnen die Partie."),
        "finished.you": ("You win the match.", "Du gewinnst die Partie."),
        "finished.you_and": ("{names} win the match.", "{names} gewinnt die Partie."),
        "finished.forfeit": ("All others have forfeited.", "Alle anderen haben kampflos verloren."),
        "timed_out.bot": (
            "{name} ran out of time; a computer player goes on.",
            "{name} hat keine Zeit mehr; ein Computerspieler macht weiter.",
        ),
        "timed_out.bot.you": (
            "You ran out of time; a computer player goes on.",
            "Du hast keine Zeit mehr; ein Computerspieler macht weiter.",
        ),
        "timed_out.move": (
            "{name} ran out of time; a computer player plays this turn.",
            "{name} hat keine Zeit mehr; ein Computerspieler spielt diesen Zug.",
        ),
        "timed_out.move.you": (
            "You ran out of time; a computer player plays this turn.",
            "Du hast keine Zeit mehr; ein Computerspieler spielt diesen Zug.",
        ),
        "timed_out.forfeit": (
            "{name} ran out of time; a computer player goes on.",
            "{name} hat keine Zeit mehr; ein Computerspieler macht weiter.",
        ),
        "timed_out.forfeit.you": (
            "You ran out of time; a computer player goes on.",
            "Du hast keine Zeit mehr; ein Computerspieler macht weiter.",
        ),
        "left": ("{name} left; a computer player goes on.", "{name} ist gegangen; ein Computerspieler macht weiter."),
        "left.you": ("You left; a computer player goes on.", "Du bist gegangen; ein Computerspieler macht weiter."),
        "returned": ("{name} is back.", "{name} ist wieder da."),
        "returned.you": ("You are back.", "Du bist wieder da."),
        "claimed": (
            "{name} ran out of time; {by} has a computer player go on.",
            "{name} hat keine Zeit mehr; {by} lässt einen Computerspieler weitermachen.",
        ),
        "claimed.you": (
            "You ran out of time; {by} has a computer player go on.",
            "Du hast keine Zeit mehr; {by} lässt einen Computerspieler weitermachen.",
        ),
        "claimed.by_you": (
            "{name} ran out of time; you have a computer player go on.",
            "{name} hat keine Zeit mehr; du lässt einen Computerspieler weitermachen.",
        ),
        "forfeited": ("{name} has forfeited the match.", "{name} hat die Partie kampflos verloren."),
        "forfeited.you": ("You have forfeited the match.", "Du hast die Partie kampflos verloren."),
        # States
        "waiting.none": ("The first round is dealt next.", "Die erste Runde wird jetzt gegeben."),
        "waiting": ("Waiting for {number} more players.", "Es fehlen noch {number} Mitspieler."),
        "waiting.one": ("Waiting for one more player.", "Es fehlt noch ein Mitspieler."),
        "turn": ("It is {name}'s turn.", "{name} ist dran."),
        "turn.you": ("Your turn.", "Du bist dran."),
        "opens": ("You open with one of {number} tiles.", "Du eröffnest mit einem von {number} Steinen."),
        "opens.with": ("You open with {tile}.", "Du eröffnest mit {tile}."),
        "fits": ("{number} tiles fit.", "{number} Steine passen."),
        "fits.one": ("One tile fits.", "Ein Stein passt."),
        "fits.none": ("Nothing fits.", "Nichts passt."),
        "may": ("You may {actions}.", "Du kannst {actions}."),
        "may.also": ("You may also {actions}.", "Du kannst auch {actions}."),
        "action.draw": ("draw", "ziehen"),
        "action.pass": ("pass", "aussetzen"),
        "action.done": ("end your turn", "aufhören"),
        "action.flip": ("turn the opening tile over", "den Eröffnungsstein umdrehen"),
        "action.deal": ("deal the next one", "die nächste geben"),
        "round_over": ("The round is over.", "Die Runde ist vorbei."),
        # Where a tile is laid
        "at.left": ("on the left", "links an"),
        "at.right": ("on the right", "rechts an"),
        "at.up": ("upwards", "oben an"),
        "at.down": ("downwards", "unten an"),
        "at.place": ("on {place}", "an {place}"),
        "at.double": ("on {place}", "an den {place}"),
        # The directions of the arms of the lead
        "direction.left": ("left", "links"),
        "direction.right": ("right", "rechts"),
        "direction.up": ("up", "oben"),
        "direction.down": ("down", "unten"),
        # A place on the table
        "place.half": ("the {number} of {host}", "die {number} von {host}"),
        "place.long": ("the long side of {host}", "die lange Seite {host}"),
        "place.short": ("the {ordinal} short side of {host}", "die {ordinal} kurze Seite {host}"),
        "place.shorts": ("both short sides of {host}", "beide kurzen Seiten {host}"),
        "ordinal.first": ("first", "erste"),
        "ordinal.second": ("second", "zweite"),
        # The half of a tile with this number, as a noun
        "noun.blank": ("blank", "blanke Hälfte"),
        # The table
        "board.empty": ("No tile lies on the table.", "Noch liegt kein Stein."),
        "board.count_one": ("One tile lies on the table.", "Ein Stein liegt."),
        "board.count": ("{number} tiles lie on the table.", "{number} Steine liegen."),
        "board.ends_one": ("End: {ends}.", "Ende: {ends}."),
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
