"""Large bodies, records and heads: what is expensive to look into.

Does not depend on a running service. The limits are those of the service: a body of 256 KiB, header lines of 8,190
bytes.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, Final

import orjson

from service.engine.deal import Deck, seed_from_text
from service.engine.events import Event
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import FINISHED
from service.engine.variants import variants
from service.records.record import ARRANGED, Record, Viewer
from service.records.writer import build_record, format_record, resolved_options

BODY_BYTES: Final = 256 * 1024
LINE_BYTES: Final = 8_190
LINES: Final = 62
_MARGIN: Final = 300
"""Bytes of a body that are left for what surrounds the large value."""
PLAYERS: Final = ({"name": "Ada"}, {"name": "Bo"})

Headers = tuple[tuple[str, str], ...]


def filled(element: str, room: int = BODY_BYTES - _MARGIN) -> bytes:
    """Return a JSON array of that element, as large as a body may be."""
    return b"[" + b",".join([element.encode()] * (room // (len(element) + 1))) + b"]"


@cache
def unknown_keys(room: int = BODY_BYTES - _MARGIN) -> bytes:
    """Return a JSON object of many unknown keys."""
    return b"{" + b",".join([b'"%x":0' % number for number in range(room // 10)]) + b"}"


def nested(depth: int = 30) -> bytes:
    """Arrays in arrays, many times."""
    one = b"[" * depth + b"]" * depth
    return b"[" + b",".join([one] * ((BODY_BYTES - _MARGIN) // (len(one) + 1))) + b"]"


def large_values() -> dict[str, bytes]:
    """Values for any field, by what they are."""
    room = BODY_BYTES - _MARGIN
    return {
        "[{}, …]": filled("{}"),
        "[0, …]": filled("0"),
        '["", …]': filled('""'),
        '[{"a":0}, …]': filled('{"a":0}'),
        "[[], …]": filled("[]"),
        "nested arrays": nested(),
        "27,000 keys": unknown_keys(),
        "a long string": b'"' + b"a" * (room - 2) + b'"',
        "an escaped string": b'"' + rb"\u00e9" * ((room - 2) // 6) + b'"',
        "digits": b"1" * 4_000,
    }


def with_field(body: dict[str, Any], path: tuple[str | int, ...], value: bytes) -> bytes:
    """Return the body with the field at ``path`` replaced by a value in JSON; its other fields remain."""
    marker = "here is the large value"
    changed: Any = orjson.loads(orjson.dumps(body))
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = marker
    before, _, after = orjson.dumps(changed).partition(orjson.dumps(marker))
    return before + value + after


def all_faults() -> list[bytes]:
    """Bodies of a create that are nothing but faults."""
    good = {"variant": "domino", "players": list(PLAYERS)}
    values = large_values()
    arrays = ["[{}, …]", "[0, …]", '["", …]', '[{"a":0}, …]', "[[], …]"]
    deals: dict[str, Any] = {"hands": [], "stock": []}
    bodies = [with_field(good, ("players",), values[name]) for name in arrays]
    bodies += [with_field(good, ("deals",), values[name]) for name in arrays]
    for field in ("stock", "hands"):
        bodies += [with_field({**good, "deals": [deals]}, ("deals", 0, field), values[name]) for name in arrays]
    bodies += [with_field({**good, "deals": [{**deals, "hands": [0]}]}, ("deals", 0, "hands", 0), values["[0, …]"])]
    return bodies


def all_unknown() -> list[bytes]:
    """Bodies of a create with many unknown keys, in every object of it."""
    keys = unknown_keys()
    good = {"variant": "domino", "players": list(PLAYERS)}
    return [
        keys,
        with_field(good, ("players",), b"[" + keys + b"]"),
        with_field(good, ("options",), keys),
        with_field(good, ("deals",), b"[" + keys + b"]"),
        with_field(good, ("continues",), keys),
    ]


def hundred_deals(number: int) -> bytes:
    """Return a create with a hundred deals of the largest set."""
    rules = variants()["fido"].rules({"set": 18}, 9)
    tiles = [tile.name for tile in rules.tiles]
    Random(number).shuffle(tiles)  # noqa: S311 # reproducible on purpose
    dealt, _ = deal(rules, Deck(seed_from_text("x")), rules.start())
    each = len(dealt.hands[0])
    hands = [tiles[seat * each : (seat + 1) * each] for seat in range(9)]
    one = {"hands": hands, "stock": tiles[9 * each :]}
    players = [{"name": f"P{seat}"} for seat in range(9)]
    return orjson.dumps({"variant": "fido", "players": players, "options": {"set": 18}, "deals": [one] * 100})


# ── Records ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def long_record() -> str:
    """Return the record of a match with more than 9,000 events, which just fits into a body."""
    return _record("dominospiel", 7, {"limit": 1000}, 1_000_000, viewer=None)


@cache
def shorter_record() -> str:
    """Return a record with more than 3,000 events."""
    return _record("domino", 2, {"limit": 1000}, 1_000_000, viewer=None)


@cache
def many_options() -> str:
    """Return a record with one line of tens of thousands of options."""
    start = _record("domino", 2, {}, 4, viewer=None)
    line = next(line for line in start.splitlines() if line.startswith("[Options "))
    return start.replace(line, f'[Options "{" ".join(["a=1"] * 60_000)}"]')


def fork(record: str) -> bytes:
    """Return the body that continues a record at its last possible version."""
    seats = record.count("\n[Player ")
    return orjson.dumps({"players": [{"name": f"P{seat}"} for seat in range(seats)], "continues": {"record": record}})


def _record(key: str, seats: int, options: dict[str, Any], moves: int, *, viewer: Viewer | None) -> str:
    variant = variants()[key]
    rules = variant.rules(options, seats)
    deck = Deck(seed_from_text("worst"))
    rng = Random("worst")  # noqa: S311 # reproducible on purpose
    state = rules.start()
    dealt, state = deal(rules, deck, state)
    events: list[tuple[int, Event]] = [(2, dealt)]
    while state.phase != FINISHED and moves:
        seat = state.active_seats()[0] if state.turn is None else state.turn
        new, state = advance(rules, deck, state, seat, move=rng.choice(legal_moves(rules, state, seat)))
        events += [(len(events) + 2 + place, event) for place, event in enumerate(new)]
        moves -= 1
    head = Record(
        variant=key,
        edition=variant.edition,
        options=resolved_options(variant, rules),
        players=tuple([f"P{seat}" for seat in range(seats)]),
        fairness=ARRANGED,
    )
    return format_record(build_record(head, events, viewer=viewer))


# ── Heads ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def large_headers(name: str) -> Headers:
    """As many lines of that header as gunicorn accepts, each as long as it accepts."""
    element = {"Accept": "a/b;q=0.1", "Accept-Language": "de;q=0.1"}.get(name, '"17-0"')
    line = ",".join([element] * ((LINE_BYTES - len(name) - 20) // (len(element) + 1)))
    if name == "unknown":
        return tuple([(f"X-Unknown-{number}", "x" * (LINE_BYTES - 30)) for number in range(LINES - 4)])
    return ((name, line),) * (LINES - 4)
