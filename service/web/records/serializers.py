"""Records, verification reports and replays as JSON objects."""

from __future__ import annotations

from collections.abc import Callable

from service.engine.events import Dealt
from service.engine.tiles import Tile
from service.engine.view import DealtView, RecordedDeal
from service.games.model.views import EventView
from service.games.queries.fairness import FairnessReport, RoundFairness
from service.records.record import Record, RecordedClock, RecordedRound, VersionedEvent
from service.records.report import Finding, Report
from service.render.replays import Replay, ReplayedEvent, ReplayedRound
from service.web.board.serializers import board_json
from service.web.events.serializers import event_json
from service.web.fields.strict import JsonObject


def record_json(record: Record, yield_control: Callable[[], None]) -> JsonObject:
    """Return a record, complete or as one viewer has seen it.

    ``yield_control`` is called before each round, to let other requests run.
    """
    result: JsonObject = {}
    if record.game:
        result["game_id"] = record.game
    result |= _match(record)
    if record.clock is not None:
        result |= _clock(record.clock)
    if record.date:
        result["date"] = record.date
    result |= {"fairness": record.fairness, "whole": record.viewer is None}
    if isinstance(record.viewer, int):
        result["seat"] = record.viewer
    if record.result is not None:
        result["winners"] = list(record.result)
    rounds = []
    for recorded in record.rounds:
        yield_control()
        rounds.append(_round(recorded))
    return result | {"rounds": rounds}


def _match(record: Record) -> JsonObject:
    return {
        "variant": record.variant,
        "edition": record.edition,
        "options": dict(record.options),
        "players": [_player(record, seat, name) for seat, name in enumerate(record.players)],
    }


def _player(record: Record, seat: int, name: str) -> JsonObject:
    result: JsonObject = {"seat": seat, "name": name} if name else {"seat": seat}
    bot = record.bot_at(seat)
    return result if bot is None else result | {"bot": bot.level, "edition": bot.edition}


def _clock(clock: RecordedClock) -> JsonObject:
    times = {"bank": clock.bank, "increment": clock.increment} if clock.turn is None else {"turn": clock.turn}
    return {"clock": times, "absence": {"then": clock.absence}}


def _round(recorded: RecordedRound) -> JsonObject:
    result: JsonObject = {"round": recorded.number}
    if recorded.commitment is not None:
        result["commitment"] = recorded.commitment.hex()
    if recorded.client_seeds is not None:
        result["client_seeds"] = list(recorded.client_seeds)
    if recorded.attempt is not None:
        result["attempt"] = recorded.attempt
    if recorded.seed is not None:
        result["seed"] = recorded.seed.hex()
    if recorded.lines:
        dealt, *later = recorded.lines
        result["deal"] = _deal(dealt)
        result["events"] = [_event(line) for line in later]
    return result


def _deal(line: VersionedEvent) -> JsonObject:
    version, dealt = line
    assert isinstance(dealt, Dealt | RecordedDeal)
    return {"version": version, "arranged": dealt.arranged, **_dealt(dealt)}


def _dealt(dealt: Dealt | RecordedDeal) -> JsonObject:
    hands = [{"seat": seat, **_tiles(hand)} for seat, hand in enumerate(dealt.hands)]
    return {"hands": hands, "stock": _tiles(dealt.stock)}


def _tiles(tiles: tuple[Tile, ...] | int) -> JsonObject:
    """Return the number of tiles, and the tiles if they are revealed."""
    if isinstance(tiles, int):
        return {"count": tiles}
    return {"count": len(tiles), "tiles": [tile.name for tile in tiles]}


def _event(line: VersionedEvent) -> JsonObject:
    """Return an event as in the events of a game, but without its time."""
    version, event = line
    assert not isinstance(event, Dealt | RecordedDeal)
    result = event_json(EventView(version, 0, event))
    del result["at"]
    return result


def report_json(report: Report) -> JsonObject:
    """Return the report of a verification: what was checked, and the findings."""
    return {
        "verified": report.verified,
        "finished": report.finished,
        "fairness": report.fairness,
        "moves": report.moves,
        "deals": report.deals,
        "proven": report.proven,
        "decisions": report.decisions,
        "notes": list(report.notes()),
        "findings": [_finding(finding) for finding in report.findings],
        "more_findings": report.omitted,
    }


def _finding(finding: Finding) -> JsonObject:
    result: JsonObject = {"code": finding.code, "text": finding.message}
    for name in ("line", "round", "version"):
        value = getattr(finding, name)
        if value is not None:
            result[name] = value
    return result


def replay_json(record: Record, replay: Replay, aspect: int, yield_control: Callable[[], None]) -> JsonObject:
    """Return a replay.

    ``aspect``: width by height of its tables, in tenths.
    ``yield_control``: called before each round, to let other requests run.
    """
    result = _match(record) | {"finished": replay.winners is not None}
    if replay.winners is not None:
        result["winners"] = list(replay.winners)
    rounds = []
    for replayed in replay.rounds:
        yield_control()
        rounds.append(_replayed_round(replayed, aspect))
    result["rounds"] = rounds
    if replay.fault is not None:
        result["fault"] = _finding(replay.fault)
    return result


def _replayed_round(replayed: ReplayedRound, aspect: int) -> JsonObject:
    dealt = replayed.events[0].line.event
    assert isinstance(dealt, Dealt)
    version = replayed.events[-1].line.version
    board = board_json(version, replayed.number, aspect, replayed.geometry)
    steps = [_step(event) for event in replayed.events]
    return {"round": replayed.number, **_dealt(dealt), "board": board, "steps": steps}


def _step(event: ReplayedEvent) -> JsonObject:
    """Return an event merged with its data; a deal without its tiles, which are in the round."""
    version, happened = event.line
    if isinstance(happened, Dealt):
        shown = event_json(EventView(version, 0, DealtView(happened.round, happened.arranged, None)))
    else:
        assert not isinstance(happened, RecordedDeal)
        shown = event_json(EventView(version, 0, happened))
    del shown["at"]
    data: JsonObject = shown.pop("data")
    return shown | {"tiles": event.tiles, "text": event.text} | data


def fairness_json(fairness: FairnessReport) -> JsonObject:
    """Return the fairness report of a game."""
    result: JsonObject = {
        "game_id": fairness.game,
        "version": fairness.version,
        "provable": fairness.method is not None,
    }
    if fairness.method is not None:
        result["method"] = fairness.method
    result |= {"seats": fairness.seats, "set": fairness.highest}
    if fairness.without:
        result["without"] = [tile.name for tile in fairness.without]
    if fairness.deals_again:
        result["deals_again"] = True
    return result | {"rounds": [_fairness_round(proof) for proof in fairness.rounds]}


def _fairness_round(fairness: RoundFairness) -> JsonObject:
    result: JsonObject = {"round": fairness.number, "commitment": fairness.commitment.hex()}
    if fairness.client_seeds is not None:
        result["client_seeds"] = list(fairness.client_seeds)
    if fairness.seed is not None:
        result["seed"] = fairness.seed.hex()
    if fairness.deal is not None:
        result |= {
            "attempt": fairness.deal.attempt,
            "hands": [[tile.name for tile in hand] for hand in fairness.deal.hands],
            "stock": [tile.name for tile in fairness.deal.stock],
        }
    return result
