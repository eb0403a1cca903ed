"""Why something is refused, in words: one sentence in English and in German for each reason.

Owns the list of all reasons, with the code that each goes with, and of the values that their sentences name. Which
reason a refusal has is decided where it is raised. Does not depend on HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from service.engine.errors import Param, Reason
from service.engine.options import LocalizedText


class ReasonText(NamedTuple):
    """The code of the problem with this reason, and its sentence; ``{name}`` stands for a value of the reason."""

    code: str
    text: LocalizedText


def sentence(reason: Reason, language: str = "en") -> str:
    """The sentence of a reason in this language, with its values."""
    template: str = getattr(REASONS[reason.word].text, language)
    return template.format_map({name: _written(value) for name, value in reason.params.items()})


def _written(value: Param) -> str:
    return str(value) if isinstance(value, int | str) else ", ".join(value)


PARAMS: Final[Mapping[str, str]] = {
    "tile": "a tile",
    "tiles": "tiles",
    "seat": "a seat; with `not_your_turn` the one whose turn it is",
    "end": "an end, as the request names it",
    "ends": "the ends that there are, or where the tile fits",
    "number": "the number of the end",
    "half": "a half of a tile",
    "halves": "the halves of which either may stay outside",
    "action": "the refused action",
    "allowed": "what is possible instead",
    "field": "the path of the first field in `errors`",
    "line": "a line, from 1",
    "column": "a column, from 1",
    "min": "the lowest possible value",
    "max": "the highest possible value",
    "players": "a number of players",
    "teams": "a number of teams",
    "hand": "a number of tiles in a hand",
    "version": "a version of the game or of the record",
    "key": "the name of a key in the body",
    "header": "the name of a header",
    "deadline": "when the time of the seat is over",
    "place": "where a token was sent: a header, or a parameter of the query",
    "type": "the media type that was sent",
    "message": "more about it, in English",
}
"""The values that reasons have, and what each means."""

_INTEGERS: Final = ("seat", "number", "half", "line", "column", "min", "max", "players", "teams", "hand", "version")
_LISTS: Final = ("tiles", "ends", "halves", "allowed")


def param_type(name: str) -> type:
    """The type of the value of that name: a number, a list of words, or a word."""
    return int if name in _INTEGERS else list if name in _LISTS else str


def _reasons(code: str, texts: Mapping[str, tuple[str, str]]) -> dict[str, ReasonText]:
    return {word: ReasonText(code, LocalizedText(*text)) for word, text in texts.items()}


REASONS: Final[Mapping[str, ReasonText]] = (
    _reasons(
        "malformed",
        {
            "malformed": ("This is not a well-formed request.", "Diese Anfrage ist nicht wohlgeformt."),
            "header_too_long": (
                "The header {header} is longer than {max} characters.",
                "Der Header {header} ist länger als {max} Zeichen.",
            ),
            "body_incomplete": (
                "The body is incomplete or wrongly encoded.",
                "Der Inhalt ist unvollständig oder falsch kodiert.",
            ),
            "body_too_short": (
                "The body is shorter than its Content-Length.",
                "Der Inhalt ist kürzer als sein Content-Length.",
            ),
            "body_empty": (
                "The body is empty; a JSON object is needed.",
                "Der Inhalt ist leer; hier muss ein JSON-Objekt stehen.",
            ),
            "not_utf8": (
                "The body is not UTF-8: line {line}, column {column}.",
                "Der Inhalt ist kein UTF-8: Zeile {line}, Spalte {column}.",
            ),
            "syntax": (
                "The body is not well-formed JSON: line {line}, column {column}.",
                "Der Inhalt ist kein wohlgeformtes JSON: Zeile {line}, Spalte {column}.",
            ),
            "single_quotes": (
                "The body is not well-formed JSON: line {line}, column {column}: texts are in double quotes.",
                (
                    "Der Inhalt ist kein wohlgeformtes JSON: Zeile {line}, Spalte {column}: Texte stehen in doppelten "
                    "Anführungszeichen."
                ),
            ),
            "trailing_comma": (
                "The body is not well-formed JSON: line {line}, column {column}: there is a comma too many.",
                "Der Inhalt ist kein wohlgeformtes JSON: Zeile {line}, Spalte {column}: Hier steht ein Komma zu viel.",
            ),
            "duplicate_key": (
                "The body contains the key {key} twice in one object.",
                "Der Inhalt enthält den Schlüssel {key} zweimal in einem Objekt.",
            ),
            "too_many_containers": (
                "The body has more than {max} objects and lists.",
                "Der Inhalt hat mehr als {max} Objekte und Listen.",
            ),
            "nested_too_deep": (
                "The body is nested deeper than {max} levels.",
                "Der Inhalt ist tiefer als {max} Ebenen verschachtelt.",
            ),
        },
    )
    | _reasons(
        "unauthorized",
        {
            "no_valid_token": (
                "This needs the token of a seat in this game.",
                "Dafür braucht es das Token eines Platzes in diesem Spiel.",
            ),
            "no_valid_key": (
                "This needs a valid key of an application; for a game, one of the application that owns it.",
                "Dafür braucht es einen gültigen Schlüssel einer Anwendung; für ein Spiel einen seiner Anwendung.",
            ),
            "not_a_bearer_token": (
                "A token is sent as `Authorization: Bearer <token>`.",
                "Ein Token wird als `Authorization: Bearer <token>` gesendet.",
            ),
            "token_misplaced": (
                "A token is sent as `Authorization: Bearer <token>`, not in {place}.",
                "Ein Token wird als `Authorization: Bearer <token>` gesendet, nicht in {place}.",
            ),
        },
    )
    | _reasons(
        "forbidden",
        {
            "wrong_join_code": (
                "This is not the join code of the game.",
                "Das ist nicht der Beitrittscode des Spiels.",
            ),
            "token_of_another_seat": (
                "This is not the token of that seat.",
                "Das ist nicht das Token dieses Platzes.",
            ),
            "apps_closed": (
                "The operator of this service makes the keys of applications.",
                "Die Schlüssel von Anwendungen gibt der Betreiber dieses Dienstes aus.",
            ),
            "challenge_not_repeated": (
                'A challenge is not sent again; `{{"status": "active"}}` asks for a new one.',
                'Eine Prüfaufgabe wird nicht noch einmal gesendet; `{{"status": "active"}}` fordert eine neue an.',
            ),
            "rematch_token_changed": (
                "The token of this seat was changed in the rematch; the new one is not given again.",
                "Das Token dieses Platzes ist in der Revanche geändert worden; das neue gibt es nicht noch einmal.",
            ),
            "banned": (
                "Requests from this address are not accepted.",
                "Anfragen von dieser Adresse werden nicht angenommen.",
            ),
        },
    )
    | _reasons(
        "not_found",
        {
            "not_found": ("There is nothing at this address.", "Unter dieser Adresse gibt es nichts."),
            "no_such_game": ("There is no such game.", "Dieses Spiel gibt es nicht."),
            "game_expired": ("This game no longer exists.", "Dieses Spiel gibt es nicht mehr."),
            "no_player": (
                "Seat {seat} has no player: it is open, or a computer player plays it.",
                "Platz {seat} hat keinen Spieler: er ist frei, oder ein Computerspieler spielt ihn.",
            ),
            "rematch_expired": ("The rematch no longer exists.", "Die Revanche gibt es nicht mehr."),
            "no_such_seat": (
                "There is no such seat; the last one is {max}.",
                "Diesen Platz gibt es nicht; der letzte ist {max}.",
            ),
            "no_such_application": ("There is no such application.", "Diese Anwendung gibt es nicht."),
            "no_such_key": ("The application has no such key.", "Diesen Schlüssel hat die Anwendung nicht."),
            "no_such_webhook": (
                "The application has no such endpoint.",
                "Diesen Endpunkt hat die Anwendung nicht.",
            ),
            "no_such_message": (
                "Among the last attempts to deliver to this endpoint there is none of such a message.",
                "Unter den letzten Zustellversuchen an diesen Endpunkt ist keiner einer solchen Nachricht.",
            ),
            "no_such_person": (
                "The application has no player with this ref.",
                "Einen Spieler mit diesem ref hat die Anwendung nicht.",
            ),
            "no_such_variant": (
                "There is no such variant; possible: {allowed}.",
                "Dieses Spiel wird nicht angeboten; möglich: {allowed}.",
            ),
        },
    )
    | _reasons(
        "method_not_allowed",
        {
            "method_not_allowed": (
                "This resource does not support the method; it supports {allowed}.",
                "Diese Ressource kennt die Methode nicht; möglich: {allowed}.",
            )
        },
    )
    | _reasons(
        "not_acceptable",
        {
            "not_acceptable": (
                "None of the types in `Accept` is available; possible: {allowed}.",
                "Keiner der Typen in `Accept` ist verfügbar; möglich: {allowed}.",
            )
        },
    )
    | _reasons(
        "not_your_turn",
        {
            "not_your_turn": (
                "It is not your turn; it is the turn of seat {seat}.",
                "Du bist nicht an der Reihe; an der Reihe ist Platz {seat}.",
            )
        },
    )
    | _reasons(
        "not_in_match",
        {"out_of_match": ("You are out of the match.", "Du bist aus der Partie ausgeschieden.")},
    )
    | _reasons(
        "illegal_move",
        {
            "tile_not_held": ("You do not hold this tile.", "Du hast diesen Stein nicht."),
            "not_in_set": (
                "There is no tile {tile} in this game; the highest number is {max}.",
                "In diesem Spiel gibt es den Stein {tile} nicht; die höchste Zahl ist {max}.",
            ),
            "may_not_lead": (
                "The tile {tile} may not open the round; possible: {allowed}.",
                "Der Stein {tile} darf die Runde nicht eröffnen; möglich: {allowed}.",
            ),
            "may_not_follow": (
                "The tile {tile} may not follow in the same turn.",
                "Der Stein {tile} darf im selben Zug nicht folgen.",
            ),
            "must_lie_face_up": (
                "The tile {tile} may not be laid face down here.",
                "Der Stein {tile} darf hier nicht verdeckt liegen.",
            ),
            "table_empty": (
                "The table is empty, so there is no end {end}; the first tile is played without an end.",
                "Der Tisch ist leer, also gibt es kein Ende {end}; der erste Stein wird ohne Ende gelegt.",
            ),
            "no_such_end": (
                "There is no end {end}; the ends are {ends}.",
                "Das Ende {end} gibt es nicht; die Enden sind {ends}.",
            ),
            "end_gated": (
                "The end {end} is not open yet.",
                "Das Ende {end} ist noch nicht offen.",
            ),
            "end_closed": (
                "The end {end} is closed by a face-down tile.",
                "Das Ende {end} ist durch einen verdeckten Stein geschlossen.",
            ),
            "does_not_fit": (
                "The tile {tile} does not fit the end {end}, which has the number {number}.",
                "Der Stein {tile} passt nicht an das Ende {end}, das die Zahl {number} hat.",
            ),
            "fits_nowhere": (
                "The tile {tile} fits no open end.",
                "Der Stein {tile} passt an kein offenes Ende.",
            ),
            "several_ends": (
                "The tile {tile} has several places; name the end: {ends}.",
                "Der Stein {tile} passt an mehrere Enden; nenne eines: {ends}.",
            ),
            "either_way": (
                "The tile {tile} can lie either way at the end {end}; name the half that stays outside: {halves}.",
                "Der Stein {tile} kann am Ende {end} so oder so liegen; nenne die Hälfte, die außen bleibt: {halves}.",
            ),
            "wrong_half_outside": (
                "The tile {tile} cannot lie at the end {end} with the half {half} outside.",
                "Der Stein {tile} kann am Ende {end} nicht mit der Hälfte {half} außen liegen.",
            ),
            "both_halves_outside": (
                "The tile {tile} leads, so both of its halves are outside; name none.",
                "Der Stein {tile} eröffnet, also sind beide Hälften außen; nenne keine.",
            ),
            "must_play": (
                "You may not {action} now: the tile {tile} fits.",
                "Das geht jetzt nicht ({action}): Der Stein {tile} passt.",
            ),
            "must_draw": (
                "You may not {action} now: you may still draw.",
                "Das geht jetzt nicht ({action}): Du darfst noch ziehen.",
            ),
            "turn_to_end": (
                "You may not {action} now: you have laid a tile; lay another one, or end the turn with done.",
                (
                    "Das geht jetzt nicht ({action}): Du hast einen Stein gelegt; lege noch einen, oder beende den Zug "
                    "mit done."
                ),
            ),
            "already_drew": (
                "You may not {action} now: you have drawn a tile in this turn.",
                "Das geht jetzt nicht ({action}): Du hast in diesem Zug schon gezogen.",
            ),
            "stock_empty": (
                "You may not {action} now: no tile can be drawn any more.",
                "Das geht jetzt nicht ({action}): Es gibt keinen Stein mehr zu ziehen.",
            ),
            "nothing_to_end": (
                "There is no turn of several tiles to end.",
                "Es gibt keinen Zug mit mehreren Steinen zu beenden.",
            ),
            "may_not_flip": (
                "You may not turn the opening tile over now.",
                "Du darfst den ersten Stein jetzt nicht umdrehen.",
            ),
            "round_not_over": (
                "The round is not over; there is nothing to deal.",
                "Die Runde ist nicht zu Ende; es gibt nichts zu geben.",
            ),
        },
    )
    | _reasons(
        "not_started",
        {
            "seats_open": (
                "The game begins when no seat is open.",
                "Das Spiel beginnt, sobald kein Platz mehr frei ist.",
            )
        },
    )
    | _reasons(
        "round_over",
        {
            "round_over": (
                "The round is over; the next one has to be dealt first.",
                "Die Runde ist zu Ende; zuerst muss die nächste gegeben werden.",
            )
        },
    )
    | _reasons("game_over", {"game_over": ("The match is over.", "Die Partie ist zu Ende.")})
    | _reasons("seats_taken", {"seats_taken": ("Every seat is taken.", "Alle Plätze sind besetzt.")})
    | _reasons(
        "not_due",
        {
            "deadline_not_passed": (
                "Seat {seat} can be claimed a second after its deadline, {deadline}, at the earliest.",
                "Platz {seat} kann frühestens eine Sekunde nach Ablauf seiner Frist {deadline} beansprucht werden.",
            ),
            "nothing_to_claim": (
                (
                    "Seat {seat} cannot be claimed: it is not the turn of a player who is there, or this game has no "
                    "claims."
                ),
                (
                    "Platz {seat} kann nicht beansprucht werden: Es ist nicht der Zug eines anwesenden Spielers, oder "
                    "in diesem Spiel wird nichts beansprucht."
                ),
            ),
        },
    )
    | _reasons(
        "limit_reached",
        {
            "too_many_keys": (
                "An application has at most {max} keys at a time; revoke one first.",
                "Eine Anwendung hat höchstens {max} Schlüssel zugleich; zuerst muss einer widerrufen werden.",
            ),
            "too_many_webhooks": (
                "An application has at most {max} endpoints; delete one first.",
                "Eine Anwendung hat höchstens {max} Endpunkte; zuerst muss einer gelöscht werden.",
            ),
            "too_many_repeats": (
                "An application makes at most {max} such requests with an `Idempotency-Key` in 24 hours.",
                "Eine Anwendung stellt höchstens {max} solche Anfragen mit einem `Idempotency-Key` in 24 Stunden.",
            ),
            "too_many_erasures": (
                "{max} people are being erased already; wait until some are.",
                "Schon {max} Personen werden gerade gelöscht; zuerst müssen einige gelöscht sein.",
            ),
            "too_many_asked": (
                "{max} messages that were asked for wait to be sent already.",
                "Schon {max} angeforderte Nachrichten warten darauf, gesendet zu werden.",
            ),
        },
    )
    | _reasons(
        "not_away",
        {
            "not_away": (
                "Seat {seat} is not away, so nobody has to come back.",
                "Platz {seat} ist nicht abwesend, also muss niemand zurückkommen.",
            )
        },
    )
    | _reasons(
        "not_finished",
        {"not_finished": ("The match is not finished yet.", "Die Partie ist noch nicht zu Ende.")},
    )
    | _reasons(
        "stale_version",
        {
            "stale_version": (
                "The game is now at version {version}.",
                "Das Spiel ist inzwischen bei Version {version}.",
            )
        },
    )
    | _reasons(
        "too_large",
        {
            "too_large": ("A body is at most 256 KiB.", "Ein Inhalt hat höchstens 256 KiB."),
            "answer_too_large": (
                "The answer of a remote player is at most 64 KiB.",
                "Die Antwort eines entfernten Spielers hat höchstens 64 KiB.",
            ),
        },
    )
    | _reasons(
        "uri_too_long",
        {
            "uri_too_long": (
                "The address, with its query, is longer than 4,000 characters.",
                "Die Adresse ist mit ihren Parametern länger als 4.000 Zeichen.",
            )
        },
    )
    | _reasons(
        "unsupported_media_type",
        {
            "wrong_content_type": (
                "The body must be {allowed} in UTF-8, but was sent as {type}.",
                "Der Inhalt muss {allowed} in UTF-8 sein, wurde aber als {type} gesendet.",
            ),
            "no_content_type": (
                "The body must be sent with the header `Content-Type: {allowed}`, which is missing.",
                "Der Inhalt muss mit dem Header `Content-Type: {allowed}` gesendet werden, der fehlt.",
            ),
            "compressed_body": ("The body must not be compressed.", "Der Inhalt darf nicht komprimiert sein."),
        },
    )
    | _reasons(
        "invalid",
        {
            # any field
            "required": ("Missing data for required field.", "Dieses Feld fehlt."),
            "null": ("Field may not be null.", "Dieses Feld darf nicht null sein."),
            "unknown_field": (
                "Unknown field; possible: {allowed}.",
                "Dieses Feld gibt es nicht; möglich: {allowed}.",
            ),
            "no_fields": ("This object has no fields.", "Dieses Objekt hat keine Felder."),
            "invalid_value": ("Invalid value.", "Dieser Wert ist nicht gültig."),
            "body_not_an_object": (
                "The body must be a JSON object.",
                "Der Inhalt muss ein JSON-Objekt sein.",
            ),
            "not_an_object": ("Not an object.", "Das ist kein Objekt."),
            "not_a_list": ("Not a list.", "Das ist keine Liste."),
            "url_too_long": ("A URL has at most 500 characters.", "Eine URL hat höchstens 500 Zeichen."),
            "url_malformed": ("This is no URL.", "Das ist keine URL."),
            "url_not_https": ("The URL must begin with https://.", "Die URL muss mit https:// beginnen."),
            "url_credentials": (
                "The URL must not contain a name or a password.",
                "Die URL darf weder Namen noch Passwort enthalten.",
            ),
            "url_port": ("The port must be 443.", "Der Port muss 443 sein."),
            "url_not_public": (
                "The host is not a public address.",
                "Der Host ist keine öffentliche Adresse.",
            ),
            "url_unresolved": ("The host has no address.", "Der Host hat keine Adresse."),
            "not_a_string": ("Not a string.", "Das ist kein Text."),
            "not_an_integer": ("Not an integer.", "Das ist keine ganze Zahl."),
            "not_a_number": ("Not a number.", "Das ist keine Zahl."),
            "not_a_boolean": ("Not a boolean.", "Das ist weder true noch false."),
            "not_one_of": ("Must be one of {allowed}.", "Möglich sind {allowed}."),
            "not_true": (
                "Must be true, or be left out.",
                "Möglich ist nur true; sonst bleibt das Feld weg.",
            ),
            "length": (
                "Length must be between {min} and {max}.",
                "Die Länge muss zwischen {min} und {max} liegen.",
            ),
            "too_short": ("Shorter than minimum length {min}.", "Kürzer als die kleinste Länge {min}."),
            "too_long": ("Longer than maximum length {max}.", "Länger als die größte Länge {max}."),
            "out_of_range": (
                "Must be greater than or equal to {min} and less than or equal to {max}.",
                "Muss von {min} bis {max} sein.",
            ),
            "not_an_aspect": (
                "This must be a number from 0.4 to 2.5 with at most one decimal, such as 1.6.",
                "Hier muss eine Zahl von 0.4 bis 2.5 mit höchstens einer Nachkommastelle stehen, etwa 1.6.",
            ),
            "not_a_time": (
                "This must be a time with its zone, such as 2026-01-06T19:30:00Z.",
                "Hier muss eine Zeit mit Zone stehen, etwa 2026-01-06T19:30:00Z.",
            ),
            "not_a_cursor": (
                "This is not a cursor from an earlier answer.",
                "Das ist kein Cursor aus einer früheren Antwort.",
            ),
            "needs_player_ref": (
                "Say by `player_ref` for whom the games should wait.",
                "`player_ref` muss sagen, auf wen die Spiele warten sollen.",
            ),
            "too_many_fields": ("Must not have more than {max} fields.", "Höchstens {max} Felder sind möglich."),
            # texts and tiles
            "not_a_tile": (
                'A tile is written like "0-6": two halves from 0 to {max}.',
                'Ein Stein wird wie "0-6" geschrieben: zwei Hälften von 0 bis {max}.',
            ),
            "control_characters": ("Must not contain control characters.", "Steuerzeichen sind nicht möglich."),
            "blank": ("Must not be blank.", "Hier muss etwas stehen."),
            "invisible_characters": (
                "Must not contain invisible characters.",
                "Unsichtbare Zeichen sind nicht möglich.",
            ),
            "nothing_visible": ("Must contain something visible.", "Etwas davon muss man sehen können."),
            "too_many_marks": (
                "Must not have more than {max} combining marks on a character.",
                "Ein Buchstabe hat höchstens {max} Zeichen über oder unter sich.",
            ),
            "name_of_open_seat": ("Nobody has taken this seat yet.", "Diesen Platz hat noch niemand."),
            "one_of_name_ref": ("Give a name, a ref, or both.", "Name, ref oder beides ist nötig."),
            "name_taken": (
                "Another player of this game has this name.",
                "Diesen Namen hat in diesem Spiel schon jemand.",
            ),
            # headers and queries
            "idempotency_key": (
                (
                    "A key has {min} to 255 visible ASCII characters except quotes and backslashes; one with a comma "
                    "must be quoted."
                ),
                (
                    "Ein Schlüssel hat {min} bis 255 sichtbare ASCII-Zeichen ohne Anführungszeichen und umgekehrte "
                    "Schrägstriche; einer mit Komma steht in Anführungszeichen."
                ),
            ),
            "token_in_query": (
                "A token goes into the header: `Authorization: Bearer <token>`.",
                "Ein Token gehört in den Header: `Authorization: Bearer <token>`.",
            ),
            "no_parameters": (
                "This operation has no parameters in the query.",
                "Diese Operation hat keine Parameter in der Query.",
            ),
            "unknown_parameter": (
                "Unknown parameter; possible: {allowed}.",
                "Diesen Parameter gibt es nicht; möglich: {allowed}.",
            ),
            "given_twice": (
                "Given more than once; which one counts would be a guess.",
                "Mehrmals angegeben; welcher Wert gilt, wäre geraten.",
            ),
            # a new game
            "not_a_player": (
                'A player is an object with `name`, `open` or `bot`, such as {{"name": "Ada"}}.',
                'Ein Spieler ist ein Objekt mit `name`, `open` oder `bot`, zum Beispiel {{"name": "Ada"}}.',
            ),
            "not_players": (
                'One object for each seat is needed, such as [{{"name": "Ada"}}, {{"open": true}}].',
                'Hier steht ein Objekt für jeden Platz, zum Beispiel [{{"name": "Ada"}}, {{"open": true}}].',
            ),
            "one_of_name_open_bot": (
                "Give exactly one of name, open and bot.",
                "Genau eines von name, open und bot ist nötig.",
            ),
            "needs_key": (
                "Only with the key of an application, sent as `Authorization: Bearer app_…`.",
                "Nur mit dem Schlüssel einer Anwendung möglich, gesendet als `Authorization: Bearer app_…`.",
            ),
            "only_with_open_seats": (
                "Only where a seat is open.",
                "Nur möglich, wenn ein Platz frei ist.",
            ),
            "not_visible": (
                "Only visible characters are possible, and no blanks.",
                "Nur sichtbare Zeichen sind möglich, und keine Leerzeichen.",
            ),
            "only_with_name": ("Goes with a name only.", "Nur zusammen mit name möglich."),
            "not_with_from": ("Not allowed together with from.", "Nicht zusammen mit from möglich."),
            "one_of_turn_bank": (
                "Give exactly one of turn and bank.",
                "Genau eines von turn und bank ist nötig.",
            ),
            "only_with_bank": ("Goes with a bank only.", "Nur zusammen mit bank möglich."),
            "only_with_clock": (
                "Goes with a clock only: without one, nobody can be late.",
                "Nur zusammen mit clock möglich: Ohne Uhr kommt niemand zu spät.",
            ),
            "exact_players": ("This game is for {max} players.", "Dieses Spiel ist für {max} Spieler."),
            "number_of_players": (
                "This game is for {min} to {max} players.",
                "Dieses Spiel ist für {min} bis {max} Spieler.",
            ),
            "unknown_option": (
                "Unknown field; this game has the options {allowed}.",
                "Dieses Feld gibt es nicht; dieses Spiel hat die Optionen {allowed}.",
            ),
            "whole_number": (
                "Must be a whole number from {min} to {max}.",
                "Möglich ist eine ganze Zahl von {min} bis {max}.",
            ),
            "set_too_small": (
                "Double-six is for at most {max} players.",
                "Doppel-Sechs ist für höchstens {max} Spieler.",
            ),
            "hands_too_large": (
                "{players} hands of {hand} are more than the {max} tiles of the set.",
                "{players} Hände mit {hand} Steinen sind mehr als die {max} Steine des Satzes.",
            ),
            "no_such_teams": (
                "{players} players cannot make {teams} teams of 2 to 5.",
                "{players} Spieler ergeben nicht {teams} Teams zu 2 bis 5.",
            ),
            "fixed_deals": (
                "The deals of this game are fixed; a client seed would have no effect.",
                "Was in diesem Spiel gegeben wird, steht fest; ein client_seed hätte keine Wirkung.",
            ),
            # arranged deals
            "number_of_hands": (
                "There are {players} seats, so {players} hands are needed.",
                "Es gibt {players} Plätze, also sind {players} Hände nötig.",
            ),
            "empty_hand": (
                "In the first round no hand may be empty.",
                "In der ersten Runde darf keine Hand leer sein.",
            ),
            "no_such_deal": (
                "This game cannot be dealt to {players} players.",
                "An {players} Spieler kann in diesem Spiel nicht gegeben werden.",
            ),
            "hand_size": (
                "With {players} players, each hand needs {hand} tiles.",
                "Bei {players} Spielern hat jede Hand {hand} Steine.",
            ),
            "tiles_twice": ("{tiles}: given twice.", "{tiles}: zweimal angegeben."),
            "tiles_foreign": ("{tiles}: not in the set.", "{tiles}: nicht im Satz."),
            "tiles_missing": ("{tiles}: missing.", "{tiles}: fehlt."),
            "cannot_open": (
                "No hand can open this deal; the rules require a new one.",
                "Keine Hand kann so eröffnen; nach den Regeln müsste neu gegeben werden.",
            ),
            # records
            "record_syntax": (
                "line {line}, column {column}: {message}",
                "Zeile {line}, Spalte {column}: So geht eine Aufzeichnung hier nicht weiter.",
            ),
            "partial_record": (
                "A partial record cannot be continued: the hidden tiles are not known.",
                (
                    "Eine unvollständige Aufzeichnung kann nicht fortgesetzt werden: Die verdeckten Steine sind nicht "
                    "bekannt."
                ),
            ),
            "faulty_record": (
                "This record cannot be continued: line {line}: {message}",
                "Diese Aufzeichnung kann nicht fortgesetzt werden: In Zeile {line} ist ein Fehler.",
            ),
            "nothing_to_continue": (
                "No round has been dealt yet; there is nothing to continue.",
                "Es wurde noch keine Runde gegeben; es gibt nichts fortzusetzen.",
            ),
            "no_fork_point": (
                (
                    "The match cannot be continued from version {version}; possible are {allowed} nearby, and {max} is "
                    "the last."
                ),
                (
                    "Die Partie kann nicht ab Version {version} fortgesetzt werden; in der Nähe möglich sind "
                    "{allowed}, und {max} ist die letzte."
                ),
            ),
            "players_of_the_record": (
                "The record has {players} players.",
                "Die Aufzeichnung hat {players} Spieler.",
            ),
            "another_seat": (
                "Must be another seat of this game; the last one is {max}.",
                "Möglich ist ein anderer Platz dieses Spiels; der letzte ist {max}.",
            ),
            # moves
            "play_needs_tile": ("A play needs a tile.", "Zum Legen gehört ein Stein."),
            "only_with_play": ("Goes with the action play only.", "Nur zusammen mit der Aktion play möglich."),
            "only_with_deal": ("Goes with the action deal only.", "Nur zusammen mit der Aktion deal möglich."),
        },
    )
    | _reasons("gone", {"game_deleted": ("This game was deleted.", "Dieses Spiel wurde gelöscht.")})
    | _reasons(
        "key_reused",
        {
            "key_reused": (
                "This `Idempotency-Key` was used for another request within the last 24 hours.",
                "Dieser `Idempotency-Key` wurde in den letzten 24 Stunden für eine andere Anfrage benutzt.",
            )
        },
    )
    | _reasons(
        "rate_limited",
        {
            "rate_limited": (
                "The rate limit is exceeded; see `retry_after`.",
                "Das waren zu viele Anfragen; siehe `retry_after`.",
            )
        },
    )
    | _reasons(
        "internal",
        {
            "internal": (
                "An unexpected error occurred. Get the game before you retry.",
                "Ein unerwarteter Fehler ist aufgetreten. Hole das Spiel, bevor du es noch einmal versuchst.",
            )
        },
    )
    | _reasons(
        "storage_unavailable",
        {
            "storage_unavailable": (
                "The store is not available. Nothing has changed; retry later.",
                "Der Speicher ist nicht erreichbar. Nichts hat sich geändert; versuche es später noch einmal.",
            )
        },
    )
    | _reasons(
        "too_many_streams",
        {
            "too_many_streams": (
                "No more streams can be opened now; moves and views are not affected.",
                "Mehr Streams können jetzt nicht geöffnet werden; Züge und Ansichten sind nicht betroffen.",
            )
        },
    )
    | _reasons(
        "outcome_unknown",
        {
            "outcome_unknown": (
                (
                    "It is not known whether the request took effect. Repeat it with the same `Idempotency-Key`, so "
                    "that it takes effect at most once."
                ),
                (
                    "Es ist nicht bekannt, ob die Anfrage gewirkt hat. Wiederhole sie mit demselben `Idempotency-Key`, "
                    "damit sie höchstens einmal wirkt."
                ),
            )
        },
    )
    | _reasons(
        "secret_changed",
        {
            "secret_changed": (
                (
                    "An earlier request with this `Idempotency-Key` took effect, but this server cannot repeat the "
                    "tokens of its response: it has another `SECRET_KEY`. Repeat it later, as another server may have "
                    "the right one."
                ),
                (
                    "Eine frühere Anfrage mit diesem `Idempotency-Key` hat gewirkt, aber dieser Server kann die Token "
                    "ihrer Antwort nicht wiederholen: Er hat einen anderen `SECRET_KEY`. Wiederhole sie später, denn "
                    "ein anderer Server hat vielleicht den richtigen."
                ),
            )
        },
    )
)
"""Every reason, by its word."""
