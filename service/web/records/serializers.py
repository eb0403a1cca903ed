"""Records, verification reports and replays as JSON objects."""

from __future__ import annotations

from collections.abc import Callable

from service.engine.events import Dealt
from service.engine.tiles import Tile
from service.engine.view import DealtView, RecordedDeal, RecordedEvent
from service.games.model.views import EventView, without_none
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
    shown: JsonObject = {
        "game_id": record.game or None,
        **_match(record),
        **({} if record.clock is None else _clock(record.clock)),
        "date": record.date or None,
        "fairness": record.fairness,
        "whole": record.viewer is None,
        "seat": record.viewer if isinstance(record.viewer, int) else None,
        "winners": record.result,
        "rounds": [_round(recorded, yield_control) for recorded in record.rounds],
    }
    return without_none(shown)


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


def _round(recorded: RecordedRound, yield_control: Callable[[], None]) -> JsonObject:
    yield_control()
    result = without_none(
        {
            "round": recorded.number,
            "commitment": _hex(recorded.commitment),
            "client_seeds": recorded.client_seeds,
            "attempt": recorded.attempt,
            "seed": _hex(recorded.seed),
        }
    )
    if recorded.lines:
        dealt, *later = recorded.lines
        result |= {"deal": _deal(dealt), "events": [_event(*line) for line in later]}
    return result


def _hex(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()


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


def _event(version: int, event: RecordedEvent | DealtView) -> JsonObject:
    """Return an event as in the events of a game, but without its time."""
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
    code, round_number, version, line, message = finding
    return without_none({"code": code, "text": message, "line": line, "round": round_number, "version": version})


def replay_json(record: Record, replay: Replay, aspect: int, yield_control: Callable[[], None]) -> JsonObject:
    """Return a replay.

    ``aspect``: width by height of its tables, in tenths.
    ``yield_control``: called before each round, to let other requests run.
    """
    shown: JsonObject = {
        **_match(record),
        "finished": replay.winners is not None,
        "winners": replay.winners,
        "rounds": [_replayed_round(replayed, aspect, yield_control) for replayed in replay.rounds],
        "fault": None if replay.fault is None else _finding(replay.fault),
    }
    return without_none(shown)


def _replayed_round(replayed: ReplayedRound, aspect: int, yield_control: Callable[[], None]) -> JsonObject:
    yield_control()
    dealt = replayed.events[0].line.event
    assert isinstance(dealt, Dealt)
    version = replayed.events[-1].line.version
    board = board_json(replayed.geometry, version=version, round_number=replayed.number, aspect=aspect)
    steps = [_step(event) for event in replayed.events]
    return {"round": replayed.number, **_dealt(dealt), "board": board, "steps": steps}


def _step(event: ReplayedEvent) -> JsonObject:
    """Return an event merged with its data; a deal without its tiles, which are in the round."""
    version, happened = event.line
    shown = _event(
        version, DealtView(happened.round, happened.arranged, None) if isinstance(happened, Dealt) else happened
    )
    data: JsonObject = shown.pop("data")
    return shown | {"tiles": event.tiles, "text": event.text} | data


def fairness_json(fairness: FairnessReport) -> JsonObject:
    """Return the fairness report of a game."""
    shown: JsonObject = {
        "game_id": fairness.game,
        "version": fairness.version,
        "provable": fairness.method is not None,
        "method": fairness.method,
        "seats": fairness.seats,
        "set": fairness.highest,
        "without": [tile.name for tile in fairness.without] or None,
        "deals_again": fairness.deals_again or None,
        "rounds": [_fairness_round(proof) for proof in fairness.rounds],
    }
    return without_none(shown)


def _fairness_round(fairness: RoundFairness) -> JsonObject:
    result = without_none(
        {
            "round": fairness.number,
            "commitment": fairness.commitment.hex(),
            "client_seeds": fairness.client_seeds,
            "seed": _hex(fairness.seed),
        }
    )
    if fairness.deal is not None:
        result |= {
            "attempt": fairness.deal.attempt,
            "hands": [[tile.name for tile in hand] for hand in fairness.deal.hands],
            "stock": [tile.name for tile in fairness.deal.stock],
        }
    return result
