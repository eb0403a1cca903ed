"""Public programs as levels: the players of the package dominoes, in Latin, and agents of OpenSpiel, in Block.

Each is asked in a game of its own library, with the same deal and the same moves, and its choice is made at our table:
our engine plays and counts. The two games are the same as ours (``tests/differential``). A choice that is not legal
here raises ``LookupError``. Both packages belong to the development environment; without one, its rows are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from random import Random, seed
from typing import Any, Final

from service.bots.knowledge import Observation
from service.engine.events import Played
from service.engine.layout import RIGHT
from service.engine.moves import Move
from service.engine.state import Hand, State
from service.engine.tiles import double_set
from service.engine.variant import Rules

Play = tuple[int, int, int | None]
"""The halves of a tile, and the number that it is laid to."""
Program = Callable[[Rules, State, Observation, bytes], Move]

SEARCHED_FROM: Final = 14
"""The number of the move from which searches begin: earlier ones would take minutes."""
SAMPLES: Final = 20
"""How many deals ``probabilistic_alphabeta`` samples."""
SIMULATIONS: Final = 200
"""How many playouts a decision of OpenSpiel's MCTS has."""


def installed() -> tuple[str, ...]:
    """Return the names of the programs whose package is installed."""
    return tuple([name for name in PROGRAMS if find_spec(_PACKAGES[name.partition(" ")[0]]) is not None])


def left_out() -> list[str]:
    """Return a line for each package that is not installed, whose programs are left out."""
    return [
        f"Left out are {owner} programs: {module} is not installed (make install-dev installs it)."
        for owner, module in _PACKAGES.items()
        if find_spec(module) is None
    ]


def dealt(state: State) -> tuple[Hand, ...]:
    """Return the hands as they were dealt, of a round without a draw."""
    hands = [list(hand) for hand in state.hands]
    for placement in state.layout.placements:
        hands[placement.seat].append(placement.tile)
    return tuple(map(tuple, hands))


def _leader(state: State) -> int:
    """Return the seat that leads the round, or has led it."""
    leader = state.layout.placements[0].seat if state.layout.placements else state.turn
    assert leader is not None
    return leader


# Players of the package dominoes


def game_of_dominoes(state: State, observation: Observation) -> Any:
    """Return the same position in the package, with its own list of legal moves."""
    package, leader = import_module("dominoes"), _leader(state)
    hands = [package.Hand([package.Domino(tile.low, tile.high) for tile in hand]) for hand in dealt(state)]
    lead = tuple([(domino, True) for domino in hands[leader]])
    game = package.Game(package.Board(), hands, [], leader, lead, leader, None)
    for event in observation.events:
        if isinstance(event, Played):
            game.make_move(package.Domino(event.tile.low, event.tile.high), event.end != RIGHT)
    return game


def _player_of_dominoes(
    rules: Rules,  # noqa: ARG001
    state: State,
    observation: Observation,
    decision_seed: bytes,
    *,
    name: str,
) -> Move:
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    game = game_of_dominoes(state, observation)
    seed(decision_seed)  # the package uses the generator of the module
    for player in _players_of_dominoes()[name]:
        player(game)
    domino, left = game.valid_moves[0]
    return _found(moves, (domino.first, domino.second), None if left else RIGHT)


@cache
def _players_of_dominoes() -> Mapping[str, tuple[Any, ...]]:
    """Return the players by name; of several the last one decides, where it prefers any move."""
    players = import_module("dominoes").players
    searching = players.probabilistic_alphabeta(SEARCHED_FROM, SAMPLES, players.bota_gorda)
    return {
        "identity": (players.identity,),
        "random": (players.random,),
        "reverse": (players.reverse,),
        "double": (players.double,),
        "bota_gorda": (players.bota_gorda,),
        "probabilistic_alphabeta": (players.bota_gorda, searching),
        "omniscient": (players.bota_gorda, players.omniscient(SEARCHED_FROM, players.bota_gorda)),
    }


def _found(moves: tuple[Move, ...], halves: tuple[int, int], end: str | None) -> Move:
    """Our move with a tile of these halves, on the right or on the other end."""
    for move in moves:
        if (
            move.tile is not None
            and {move.tile.low, move.tile.high} == set(halves)
            and (move.end == RIGHT) == bool(end)
        ):
            return move
    raise LookupError(f"no legal move: {halves} {end}")


# Agents of OpenSpiel


def state_of_open_spiel(state: State, observation: Observation) -> tuple[Any, dict[int, Play]]:
    """Return the same position in OpenSpiel, whose player 0 leads, and the plays by its legal actions.

    Its game for two deals one hand after the other, that for two teams of two a tile to each player in turn.
    """
    name = "block_dominoes" if len(state.hands) == 2 else "team_dominoes"
    games = import_module(f"open_spiel.python.games.{name}")
    actions, leader = games.create_possible_actions(), _leader(state)
    theirs = import_module("pyspiel").load_game(f"python_{name}").new_initial_state()
    hands = dealt(state)
    hands = hands[leader:] + hands[:leader]
    for tile in chain(*hands) if len(hands) == 2 else chain(*zip(*hands, strict=True)):
        theirs.apply_action(double_set(6).index(tile))
    ends: list[int] = []
    for event in observation.events:
        if isinstance(event, Played):
            tile = event.tile
            covered = None if event.end is None else ends[event.end == RIGHT]
            known = {_play(actions[action]): action for action in theirs.legal_actions()}
            theirs.apply_action(known[tile.low, tile.high, covered])
            if covered is None:
                ends = [tile.low, tile.high]
            else:
                ends[event.end == RIGHT] = tile.low + tile.high - covered
    return theirs, {action: _play(actions[action]) for action in theirs.legal_actions()}


def _play(action: Any) -> Play:
    low, high = map(int, action.tile)
    return low, high, None if action.edge is None else int(action.edge)


def _agent_of_open_spiel(
    rules: Rules,  # noqa: ARG001
    state: State,
    observation: Observation,
    decision_seed: bytes,
    *,
    name: str,
) -> Move:
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    theirs, plays = state_of_open_spiel(state, observation)
    low, high, covered = plays[_AGENTS[name](theirs, Random(decision_seed))]  # noqa: S311 # not a secret
    for move in moves:
        if move.tile is not None and (move.tile.low, move.tile.high) == (low, high):
            end = None if move.end is None else state.layout.end(move.end)
            if covered is None or (end is not None and end.number == covered):
                return move
    raise LookupError(f"no legal move: {low}-{high} on {covered}")


def _uniformly(theirs: Any, random: Random) -> int:
    chosen: int = random.choice(theirs.legal_actions())
    return chosen


def _by_tree_search(theirs: Any, random: Random) -> int:
    search = import_module("open_spiel.python.algorithms.mcts")
    state = import_module("numpy").random.RandomState(random.getrandbits(32))
    playouts = search.RandomRolloutEvaluator(1, state)
    bot = search.MCTSBot(theirs.get_game(), 2.0, SIMULATIONS, playouts, random_state=state)
    chosen: int = bot.step(theirs)
    return chosen


_AGENTS: Final[Mapping[str, Callable[[Any, Random], int]]] = {"random": _uniformly, "MCTSBot": _by_tree_search}

_PACKAGES: Final = {"dominoes'": "dominoes", "OpenSpiel's": "pyspiel"}
_PLAYERS: Final = ("identity", "random", "reverse", "double", "bota_gorda", "probabilistic_alphabeta", "omniscient")
LATIN_PROGRAMS: Final = tuple([f"dominoes' {name}" for name in _PLAYERS])
BLOCK_PROGRAMS: Final = tuple([f"OpenSpiel's {name}" for name in _AGENTS])
PROGRAMS: Final[Mapping[str, Program]] = {
    **{name: partial(_player_of_dominoes, name=name.removeprefix("dominoes' ")) for name in LATIN_PROGRAMS},
    **{name: partial(_agent_of_open_spiel, name=name.removeprefix("OpenSpiel's ")) for name in BLOCK_PROGRAMS},
}
"""By name. ``omniscient`` and ``MCTSBot`` see all hands."""
