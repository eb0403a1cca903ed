"""Plays a whole match of each game on a running service, for an application, with a client of openapi-python-client.

It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON for each match. With
names of games it plays only those.
"""

from __future__ import annotations

import json
import sys
from typing import TypeVar

from domino_client import AuthenticatedClient, Client
from domino_client.api.games import claim_seat, create_game, get_game, get_score, set_presence
from domino_client.api.moves import make_move
from domino_client.api.records import get_record
from domino_client.api.variants import get_variant, list_variants
from domino_client.models import (
    AbsenceIn,
    AbsenceInThen,
    ClaimIn,
    ClockIn,
    CreatedGame,
    Game,
    GameIn,
    MatchRecord,
    PresenceIn,
    Problem,
    Score,
    SeatIn,
    Variant,
    VariantList,
)

T = TypeVar("T")


def expect(kind: type[T], answer: object) -> T:
    """The answer, which has to be of this kind."""
    if not isinstance(answer, kind):
        raise TypeError(f"{answer}")
    return answer


def play(url: str, application: AuthenticatedClient, variant: str, players: int) -> dict[str, object]:
    """Leave and come back, claim too early, play a match to its end, and make the last move again; what was seen."""
    seats = [SeatIn(name=f"P{seat}") for seat in range(players)]
    clock, absence = ClockIn(turn=3600), AbsenceIn(then=AbsenceInThen.CLAIM)
    request = GameIn(players=seats, variant=variant, clock=clock, absence=absence, pace=0.5)
    created = expect(CreatedGame, create_game.sync(client=application, body=request))
    clients = [AuthenticatedClient(url, seat.token) for seat in created.seats]
    views = [set_away(created.game.id, clients[0], away=away) for away in (True, False)]
    away = [view.players[0].away is True for view in views]
    game = views[-1]  # meanwhile a computer player may have moved for seat 0
    late = game.to_act[0]
    early = claim_seat.sync(game.id, client=clients[0 if late else 1], body=ClaimIn(seat=late))
    moves = 0
    while True:
        moves += 1
        client = clients[game.to_act[0]]
        view = expect(Game, get_game.sync(game.id, client=client))
        game = expect(Game, make_move.sync(game.id, client=client, body=view.legal_moves[0]))
        if game.status == "finished":
            break
    refused = expect(Problem, make_move.sync(game.id, client=client, body=view.legal_moves[0]))
    score = expect(Score, get_score.sync(game.id, client=client))
    totals = [standing.total for standing in score.standings]
    record = expect(MatchRecord, get_record.sync(game.id, client=client))
    return {
        "game": game.id,
        "winners": record.winners,
        "totals": totals,
        "away": away,
        "refused": [expect(Problem, early).code, refused.code],
        "moves": moves,
    }


def set_away(game: str, client: AuthenticatedClient, *, away: bool) -> Game:
    """Leave seat 0, or come back; the view after that."""
    return expect(Game, set_presence.sync(game, 0, client=client, body=PresenceIn(away=away)))


def main(url: str, key: str, *games: str) -> None:
    """Play a match of each of these games, or of all, after reading about it in German."""
    anybody, application = Client(url), AuthenticatedClient(url, key)
    for offered in expect(VariantList, list_variants.sync(client=anybody)).variants:
        if games and offered.id not in games:
            continue
        variant = expect(Variant, get_variant.sync(offered.id, client=anybody, accept_language="de"))
        options = list(variant.options.to_dict()["properties"])
        match = play(url, application, variant.id, variant.players.min_)
        print(json.dumps({"variant": variant.id, "language": variant.language, "options": options, **match}))


main(*sys.argv[1:])
