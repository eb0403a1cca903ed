"""The commands of players, and those by which games begin and end; each is a module of its own.

Owns only how they are put together. The commands on what an application calls its players are in
``service.games.commands.owner``, the reading side is ``service.games.queries.games``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from service.games.commands.claim import claim_seat
from service.games.commands.context import CommandContext
from service.games.commands.create import create_game
from service.games.commands.delete import delete_game
from service.games.commands.join import join
from service.games.commands.move import make_move
from service.games.commands.presence import set_presence
from service.games.commands.rotate import rotate_token
from service.games.reminders import JudgedTime


class GameCommands:
    """The commands, each the function of its name with the ``context`` given; ``judged`` is that of ``ReminderQueue``.

    Every command may also raise ``StorageUnavailable`` (nothing was changed) and ``OutcomeUnknown`` (it may have been
    committed); all but moves, ``SecretChanged`` (an earlier request was committed, but its tokens cannot be derived
    again).
    """

    def __init__(self, context: CommandContext, judged: Callable[[str], JudgedTime]) -> None:
        self.create = partial(create_game, context)
        self.join = partial(join, context)
        self.make_move = partial(make_move, context)
        self.set_presence = partial(set_presence, context)
        self.claim = partial(claim_seat, context, judged)
        self.rotate_token = partial(rotate_token, context)
        self.delete = partial(delete_game, context)
