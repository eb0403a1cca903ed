"""The facade of this package: access to games, the commands that change them, and the queries that read them."""

from __future__ import annotations

from service.games.access import AccessControl
from service.games.automation.due import LostReminders
from service.games.commands.context import CommandContext
from service.games.commands.create import create_game
from service.games.commands.join import join, rotate_token
from service.games.commands.move import make_move
from service.games.commands.owner import change_join_code, change_token, delete_game, rename
from service.games.commands.presence import claim_seat, resign, set_presence
from service.games.commands.rematch import Rematches
from service.games.commands.seek import seek
from service.games.commands.validation import BotsAlone
from service.games.commands.waiting_room import fill_seat, free_seat, start_game
from service.games.ports import EventFeed, Runtime
from service.games.queries.games import GameQueries
from service.games.reminders import ReminderQueue
from service.games.store.idempotency import Idempotency
from service.games.store.repository import GameRepository
from service.games.store.stats import ReusedResult


class GameCommands(CommandContext):
    """The commands of players and of applications that own games.

    Each attribute is a function from ``service.games.commands``, whose first argument ``context`` is this object. The
    modules of these functions must stay interpreted, because a compiled function does not become a method
    (``tools.wheel_compiled``).

    Every command can also raise ``StorageUnavailable`` (nothing was changed) and ``OutcomeUnknown`` (the change may be
    committed). All except moves can raise ``SecretChanged``: an earlier request was committed, but its tokens cannot be
    derived again.
    """

    create = create_game
    join = join
    make_move = make_move
    set_presence = set_presence
    resign = resign
    claim = claim_seat
    rotate_token = rotate_token
    rename = rename
    change_token = change_token
    change_join_code = change_join_code
    delete = delete_game
    seek = seek
    free_seat = free_seat
    fill_seat = fill_seat
    start = start_game


class GamesFacade:
    """All that can be done with the games of a repository; ``feed`` and ``reminders`` are of the same store."""

    def __init__(
        self,
        repository: GameRepository,
        feed: EventFeed,
        reminders: ReminderQueue,
        runtime: Runtime,
        *,
        idempotency: Idempotency,
        bots_alone: BotsAlone,
    ) -> None:
        self.access = AccessControl(repository, LostReminders(reminders, runtime).check)
        self.commands = GameCommands(repository, idempotency, runtime, bots_alone, reminders)
        self.rematches = Rematches(self.commands)
        self.queries = GameQueries(repository, feed)
        self.clock = runtime.clock
        self.check_store = ReusedResult(repository.store.check, runtime.clock).get
        self.forget = repository.cache.forget
