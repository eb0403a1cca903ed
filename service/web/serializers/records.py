"""Records and what was found in them, as plain values, ready for JSON."""

from __future__ import annotations

from service.engine.events import Dealt
from service.engine.tiles import Tile
from service.engine.view import RecordedDeal
from service.games.views import EventView
from service.records.record import Record, RecordedRound, VersionedEvent
from service.records.report import Finding, Report
from service.web.serializers.events import event_json
from service.web.serializers.values import JsonObject


def record_json(record: Record) -> JsonObject:
    """A match, or what one viewer has seen of it."""
    shown: JsonObject = {}
    if record.game:
        shown["game"] = record.game
    shown |= {
        "variant": record.variant,
        "edition": record.edition,
        "rules": dict(record.options),
        "players": [_player(seat, name) for seat, name in enumerate(record.players)],
    }
    if record.date:
        shown["date"] = record.date
    shown |= {"fairness": record.fairness, "whole": record.viewer is None}
    if isinstance(record.viewer, int):
        shown["seat"] = record.viewer
    if record.result is not None:
        shown["winners"] = list(record.result)
    return shown | {"rounds": [_round(each) for each in record.rounds]}


def _player(seat: int, name: str) -> JsonObject:
    return {"seat": seat, "name": name} if name else {"seat": seat}


def _round(each: RecordedRound) -> JsonObject:
    shown: JsonObject = {"round": each.number}
    if each.commitment is not None:
        shown["commitment"] = each.commitment.hex()
    if each.client_seeds is not None:
        shown["client_seeds"] = list(each.client_seeds)
    if each.attempt is not None:
        shown["attempt"] = each.attempt
    if each.seed is not None:
        shown["seed"] = each.seed.hex()
    if each.lines:
        dealt, *others = each.lines
        shown["deal"] = _deal(dealt)
        shown["events"] = [_event(line) for line in others]
    return shown


def _deal(line: VersionedEvent) -> JsonObject:
    version, dealt = line
    assert isinstance(dealt, Dealt | RecordedDeal)
    hands = [{"seat": seat, **_tiles(hand)} for seat, hand in enumerate(dealt.hands)]
    return {"version": version, "arranged": dealt.arranged, "hands": hands, "stock": _tiles(dealt.stock)}


def _tiles(held: tuple[Tile, ...] | int) -> JsonObject:
    """How many tiles there are, and which, as far as that is told."""
    if isinstance(held, int):
        return {"count": held}
    return {"count": len(held), "tiles": [tile.name for tile in held]}


def _event(line: VersionedEvent) -> JsonObject:
    """An event as the events of a game are shown; only when it was is not told."""
    version, event = line
    assert not isinstance(event, Dealt | RecordedDeal)
    shown = event_json(EventView(version, 0, event))
    del shown["at"]
    return shown


def report_json(report: Report) -> JsonObject:
    """What was checked of a record, and what was found."""
    return {
        "verified": report.verified,
        "whole": not report.partial,
        "finished": report.finished,
        "fairness": report.fairness,
        "moves": report.moves,
        "deals": report.deals,
        "proven": report.proven,
        "notes": list(report.notes()),
        "findings": [_finding(each) for each in report.findings],
        "more": report.omitted,
    }


def _finding(finding: Finding) -> JsonObject:
    shown: JsonObject = {"code": finding.code, "text": finding.message}
    for name in ("line", "round", "version"):
        value = getattr(finding, name)
        if value is not None:
            shown[name] = value
    return shown
