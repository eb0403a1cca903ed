"""Examples for the document, taken from the running application: a short session, played for real.

The session is deterministic if the clock and the random bytes of the application are, so that the document does not
change from one run to the next. It is a match of one short round, and the example of a variant is shortened, so that
each example stays readable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Flask

from service.engine.errors import Reason
from service.reasons import REASONS
from service.web.fields.moves import MAX_VERSION
from service.web.http.body import MAX_BODY_BYTES
from service.web.http.errors import ENVIRON
from service.web.http.responses import JSON, SVG, TEXT
from service.web.http.streams import NDJSON, SSE
from service.web.problems.answers import PROBLEMS, problem
from tools.openapi.application_examples import use_an_application
from tools.openapi.learning_examples import learn
from tools.openapi.session import Example, Examples, Session

_MAX_MOVES: Final = 100
_REJECTED_AT_VERSION: Final = 10
_MAX_VARIANTS: Final = 4
_MAX_TILES: Final = 2
_MAX_PARAGRAPHS: Final = 2
_MAX_OPTIONS: Final = 2
_MAX_DEAL_ROWS: Final = 2
_MAX_REASONS: Final = 2
_MAX_STREAMED: Final = 2
_MAX_STEPS: Final = 4
_MAX_PLACED: Final = 2
_TABLE_VERSION: Final = 8
"""With a few tiles on the table."""
_RETRY_SECONDS: Final = 5
_TURN_SECONDS: Final = 60
_MAX_TABLES: Final = 20


def record_examples(app: Flask, advance_clock: Callable[[int], None], create_key: Callable[[str], str]) -> Examples:
    """Play a session and keep an example of everything that comes up, and of the problems that no request provokes.

    ``advance_clock`` lets so many seconds pass for the application, in which what is told of games is told, and an
    endpoint gets its first messages. ``create_key`` makes the key of a new application of this name.
    """
    session = Session(app)
    send = session.send
    _look_around(session)
    game_created = send(
        "POST",
        "/v1/games",
        {
            "variant": "menschenwolf",
            "players": [{"name": "Ada", "client_seed": "three blind mice"}, {"open": True}],
            "options": {"limit": 10},
        },
    )
    send("POST", "/v1/games", {"variant": "domino", "players": [{"name": "Ada"}], "options": {"hand": 9}})
    game = f"/v1/games/{game_created['game']['id']}"
    tokens = {0: game_created["seats"][0]["token"]}
    send("POST", f"{game}/players", {"name": "Bo", "join_code": "ACDEFGHJ"})
    code = game_created["join_code"]
    send("POST", "/v1/seats", {"name": "Bo", "join_code": "ACDEFGHJ"})
    joined = send("POST", "/v1/seats", {"name": "Bo", "join_code": f"{code[:4]} {code[4:]}"})
    send("POST", f"{game}/players", {"name": "Cleo", "join_code": code})
    tokens[1] = joined["token"]
    for method, path in (("GET", game), ("GET", f"{game}/moves"), ("GET", f"{game}/score"), ("POST", f"{game}/moves")):
        send(method, path, {"action": "pass"} if method == "POST" else None, "seat_with_an_unknown_token")
    for path in ("", "/moves", "/score", "/board.json", "/events", "/fairness", "/record"):
        send("GET", f"/v1/games/{'A' * 24}{path}")
    send("POST", f"{game}/players", {"join_code": code})
    _play(session, game, tokens)
    _play_against_the_clock(session, advance_clock)
    use_an_application(session, advance_clock, create_key("Checkers Club"))
    _help_players(session, create_key("Checkers Club"))
    _wait_for_players(session)
    _begin_rematch(session, game, tokens[1])
    learn(session, advance_clock, game, tokens[1])
    _add_unprovoked_problems(app, session.problems)
    return Examples(session.examples, session.problems)


def _look_around(session: Session) -> None:
    """Ask for all that there is without a game, and send bodies that are none."""
    send = session.send
    for path in ("/v1/variants", "/v1/variants/menschenwolf", "/problems", "/version"):
        send("GET", path)
    _shorten_variants(session.examples["listVariants", 200, JSON].response)
    _shorten_variant(session.examples["getVariant", 200, JSON].response)
    _shorten_problems(session.examples["listProblems", 200, JSON].response)
    send("GET", "/v1/variants", Accept="text/html")
    for body, media_type in (('{"variant": domino}', JSON), ("variant=domino", "application/x-www-form-urlencoded")):
        send("POST", "/v1/games", body, Content_Type=media_type)
    send("POST", "/v1/games", {"variant": "domino".ljust(MAX_BODY_BYTES)})


def _shorten_problems(catalogue: Any) -> None:
    """Keep one problem and the first of its reasons."""
    (problem,) = [each for each in catalogue["problems"] if each["code"] == "illegal_move"]
    catalogue["problems"] = [problem]
    del problem["reasons"][_MAX_REASONS:]


def _shorten_variants(catalogue: Any) -> None:
    del catalogue["variants"][_MAX_VARIANTS:]
    for variant in catalogue["variants"]:
        del variant["example"][_MAX_TILES:]


def _shorten_variant(variant: dict[str, Any]) -> None:
    del variant["example"][_MAX_TILES:]
    paragraphs = variant["rules"].split("\n\n")[:_MAX_PARAGRAPHS]
    variant["rules"] = "\n\n".join([*paragraphs, "…"])
    options = variant["options"]
    options["properties"] = dict(list(options["properties"].items())[:_MAX_OPTIONS])
    del variant["deals"][_MAX_DEAL_ROWS:]


def _play_against_the_clock(session: Session, advance_clock: Callable[[int], None]) -> None:
    """In a game with a computer player and a clock, let one person leave, come back, and claim the other's seat.

    This game is the example of how games are created and joined.
    """
    del session.examples["createGame", 201, JSON]
    players = [{"name": "Ada", "client_seed": "three blind mice"}, {"open": True}, {"bot": "greedy"}]
    body = {
        "variant": "domino",
        "players": players,
        "options": {"limit": 50},
        "clock": {"turn": _TURN_SECONDS},
        "absence": {"then": "claim"},
        "pace": 1.5,
    }
    for _ in range(_MAX_TABLES):
        created = session.send("POST", "/v1/games", body)
        game = f"/v1/games/{created['game']['id']}"
        joined = session.send("POST", f"{game}/players", {"name": "Bo", "join_code": created["join_code"]})
        late = joined["game"]["turn"]["seat"]
        if late < 2:  # not the computer player
            break
    tokens = created["seats"][0]["token"], joined["token"]
    session.send("GET", game, token=tokens[late])
    claim, other = {"seat": late}, 1 - late
    presence = f"{game}/players/{other}/presence"
    session.send("PUT", presence, {"away": True}, tokens[late])
    for away in ("yes", True, False, False):
        session.send("PUT", presence, {"away": away}, tokens[other])
    session.send("POST", f"{game}/claims", claim, tokens[other])
    session.send("POST", f"{game}/claims", {"seat": other}, tokens[other])
    advance_clock(_TURN_SECONDS + 2)
    session.send("POST", f"{game}/claims", claim, tokens[other])
    for seat, by in ((late, other), (late, late), (other, other), (other, other)):
        session.send("POST", f"{game}/players/{seat}/resignation", {}, tokens[by])


def _play(session: Session, game: str, tokens: dict[int, str]) -> None:
    view = session.send("GET", game, token=tokens[0])
    session.send("GET", f"{game}?wait=600", token=tokens[0])
    for _ in range(_MAX_MOVES):
        if view["status"] == "finished":
            break
        seat = view["turn"]["seat"] if "turn" in view else 0
        legal = session.send("GET", f"{game}/moves", token=tokens[seat])["legal_moves"]
        if view["version"] == _REJECTED_AT_VERSION:
            for rejected in ({"action": "flip"}, {**legal[0], "version": 3}, {"action": "play"}):
                session.send("POST", f"{game}/moves", rejected, tokens[seat])
        view = session.send("POST", f"{game}/moves", legal[0], tokens[seat])
    session.send("GET", f"{game}/events?after=2&limit=2&text=true", token=tokens[0])
    session.send("GET", f"{game}/events?after=first", token=tokens[0])
    for media_type, separator in ((SSE, "\n\n"), (NDJSON, "\n")):
        session.send("GET", f"{game}/events?after=2", token=tokens[0], Accept=media_type)
        _shorten_stream(session.examples, media_type, separator)
    session.send("POST", f"{game}/players/1/token", token=tokens[0])
    session.send("POST", f"{game}/players/0/token", {"token": tokens[0]}, tokens[0])
    session.send("POST", f"{game}/players/0/token", token=tokens[0])
    session.send("GET", f"{game}/score")
    session.send("GET", f"{game}/fairness")
    _look_at_table(session, game)
    session.send("GET", f"{game}/record", Accept="application/json")
    record = session.send("GET", f"{game}/record", Accept=TEXT)
    session.send("POST", "/v1/verifications", record, Content_Type=TEXT)
    session.send("POST", "/v1/verifications", record.replace('[Edition "1"]', "[Edition 1]"), Content_Type=TEXT)
    session.send("POST", "/v1/replays", record, Content_Type=TEXT)
    _shorten_replay(session.examples["replayRecord", 200, JSON].response)


def _help_players(session: Session, key: str) -> None:
    """In a game of an application with an open seat, rename a player, change the join code, and take the seat."""
    send = session.send
    players = [{"name": "Ada", "ref": "player-4711"}, {"open": True}]
    created = send("POST", "/v1/games", {"variant": "domino", "players": players, "ref": "match-17"}, key)
    game = f"/v1/games/{created['game']['id']}"
    for fields in ({}, {"name": "Ada L.", "ref": "player-4712"}):
        send("PATCH", f"{game}/players/0", fields, key)
    send("POST", f"{game}/join-code", {"join_code": created["join_code"]}, key)
    send("POST", f"{game}/join-code", token=key)
    send("POST", f"{game}/players", {"name": "Bo", "ref": "player-4713"}, key)
    send("POST", f"{game}/join-code", token=key)


_FILL: Final = {"after": 60, "bot": "casual"}


def _wait_for_players(session: Session) -> None:
    """In a game with open seats, let a player leave, give a seat to a computer player, and begin without the others."""
    players = [{"name": "Ada"}, {"name": "Bo"}, {"open": True}, {"open": True}]
    created = session.send("POST", "/v1/games", {"variant": "domino", "players": players})
    game = f"/v1/games/{created['game']['id']}"
    ada, bo = [each["token"] for each in created["seats"]]
    session.send("DELETE", f"{game}/players/0", token=bo)
    session.send("POST", f"{game}/start", {"seat": 0}, ada)
    session.send("DELETE", f"{game}/players/1", token=bo)
    for level in ("best", "casual", "greedy"):
        session.send("PUT", f"{game}/players/3", {"bot": level}, ada)
    for _ in range(2):
        session.send("POST", f"{game}/start", token=ada)
    session.send("DELETE", f"{game}/players/0", token=ada)
    for name in ("", "Ada", "Bo"):
        session.send("POST", "/v1/seeks", {"variant": "domino", "players": 3, "name": name, "fill": _FILL})


def _begin_rematch(session: Session, game: str, token: str) -> None:
    """Ask for the rematch of a finished game, and of the new one; then change the token there, and ask once more."""
    path = f"{game}/rematch"
    session.send("POST", path, {"seat": 0}, token)
    rematch = session.send("POST", path, token=token)
    new, seat, token_there = f"/v1/games/{rematch['game']['id']}", rematch["seat"], rematch["token"]
    session.send("POST", f"{new}/rematch", token=token_there)
    session.send("POST", f"{new}/players/{seat}/token", token=token_there)
    session.send("POST", path, token=token)


def _look_at_table(session: Session, game: str) -> None:
    """Get the table in each of its forms; the example of the picture is its beginning."""
    version = f"version={_TABLE_VERSION}"
    session.send("GET", f"{game}/board.json?version={MAX_VERSION}")
    for path in ("board.json", "board.svg", "board.txt"):
        session.send("GET", f"{game}/{path}?{version}{'&text=true' if path == 'board.json' else ''}")
    example = session.examples["getBoardAsSvg", 200, SVG]
    start, _, _ = example.response.partition("<style>")
    session.examples["getBoardAsSvg", 200, SVG] = Example(None, f"{start}…</svg>")


def _shorten_replay(replay: dict[str, Any]) -> None:
    """Keep the first round, without the end of its lists."""
    del replay["rounds"][1:]
    (first,) = replay["rounds"]
    del first["steps"][_MAX_STEPS:]
    for name in ("tiles", "ends"):
        del first["board"][name][_MAX_PLACED:]


def _shorten_stream(examples: dict[tuple[str, int, str], Example], media_type: str, separator: str) -> None:
    key = "getEvents", 200, media_type
    events = [each for each in examples[key].response.split(separator) if "version" in each]
    examples[key] = Example(None, "".join(event + separator for event in events[:_MAX_STREAMED]))


def _add_unprovoked_problems(app: Flask, problems: dict[str, Any]) -> None:
    """Add the problems that depend on the load and on the store, made as their error handlers make them."""
    with app.test_request_context() as context:
        current = ENVIRON.set(context.request.environ)
        for code, described in PROBLEMS.items():
            if described.status == 503:
                word = next(word for word, its_code in REASONS.items() if its_code == code)
                problems[code] = problem(Reason(word), retry_after=_RETRY_SECONDS).get_json()
        problems["share_used"] = problem(Reason("share_used"), retry_after=_RETRY_SECONDS).get_json()
        for shown in (Reason("rate_limited", {"limit": "create"}), Reason("too_many_games_of_bots", {"max": 50})):
            problems[shown.word] = problem(shown, retry_after=_RETRY_SECONDS).get_json()
        problems["internal"] = problem(Reason("internal")).get_json()
        ENVIRON.reset(current)
