"""Which games count as games that computer players may go on with alone, and when."""

from __future__ import annotations

import pytest

from service.engine.presence import Absence
from service.games.model.clock import ClockSettings
from service.games.model.errors import TooManyGamesOfBots
from service.games.model.seats import SeatKind, may_go_on_alone
from service.games.ports import GamesOfBots
from tests.support.games import build_games
from tests.workers.tables import TTL, InProcess, request

KINDS: dict[str, SeatKind] = {"p": "human", "b": "bot", "o": "open"}


class Noted(GamesOfBots):
    """Notes in memory."""

    def __init__(self) -> None:
        self.games: dict[str, int] = {}

    def add(self, tenant: str, game: str, at: int) -> bool:
        return self.games.setdefault(game, at) == at

    def all(self, tenant: str) -> dict[str, int]:
        return dict(self.games)

    def remove(self, tenant: str, games: list[str]) -> None:
        for game in games:
            del self.games[game]


@pytest.mark.parametrize(
    ("seats", "absence", "expected"),
    [
        *(("bb", None, True), ("pp", "forfeit", False), ("pb", "forfeit", False)),
        *(("pbb", "forfeit", True), ("obb", "forfeit", True), ("pob", "forfeit", False)),
        *(("pbb", "bot", False), ("pbb", None, False), ("ob", None, False)),
    ],
)
def test_computer_players_go_on_alone_where_nobody_else_has_to_stay(
    seats: str, absence: Absence | None, *, expected: bool
) -> None:
    assert may_go_on_alone([KINDS[each] for each in seats], absence) is expected


def test_a_game_that_all_people_have_forfeited_counts_and_so_does_its_rematch() -> None:
    table, noted = InProcess(), Noted()
    games = build_games(
        table.store, table.store, [b"s"], TTL, clock=table.clock, reminders=table.store, games_of_bots=(noted, 1)
    )
    clock = ClockSettings(turn=5_000, absence="forfeit")
    wanted = request("fido", "pgg", pace=0, network="n", clock=clock)._replace(options={"rounds": 1})
    created = games.commands.create(wanted).answer
    game_id = created.view.id
    with pytest.raises(TooManyGamesOfBots):
        games.commands.create(wanted)
    for _ in range(400):
        if table.game(game_id).status == "finished":
            break
        if table.game(game_id).to_act == (0,):
            table.now += 7_000
            table.automation.time_out(game_id, table.store.read_clock(game_id))
            with pytest.raises(TooManyGamesOfBots):
                games.commands.create(wanted)
        table.now += 1_000
        table.step()
    assert table.game(game_id).presence.forfeited == {0}
    access = games.access.authenticate(game_id, created.seats[0].token)
    table.now += 60_000
    other = games.commands.create(request("domino", "gg", network="n")).answer.view.id
    assert list(noted.games) == [other]
    with pytest.raises(TooManyGamesOfBots):
        games.rematches.begin(access)
