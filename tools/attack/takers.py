"""Attackers who take what stays taken: games, endpoints, look-ups.

Does not depend on what is requested.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

import orjson

from tools.attack.attackers import PAUSE_SECONDS, Attacker, Done
from tools.attack.http import Closed, Connection

_REFUSED_SECONDS: Final = 0.1
"""After a refusal, by an attacker who wants what was refused."""
_LOOK_SECONDS: Final = 0.02


def take_all(attacker: Attacker) -> Done:
    """Send the requests one after another, until there are no more or the time is over; of refusals count the code.

    ``again``: send them again and again, until a limit of what is held is reached.
    """
    done: Done = Counter()
    connection = attacker.connection()
    for number, each in enumerate(attacker.in_turn()):
        if number >= len(attacker.requests) and not attacker.facts.get("again"):
            break
        outcome = _outcome(connection, each)
        done[outcome] += 1
        if outcome.endswith(" limit_reached") and attacker.facts.get("again"):
            break
        if not outcome.startswith("2"):
            time.sleep(_REFUSED_SECONDS)
    connection.close()
    return done


def ask_side_by_side(attacker: Attacker) -> Done:
    """Send the requests in turn on many connections at a time, on each the next one after its answer.

    ``connections``: how many.
    """
    done: Done = Counter()
    pending = attacker.in_turn()
    with selectors.DefaultSelector() as selector:
        for _ in range(attacker.facts["connections"]):
            _open_and_send(attacker, pending, selector, done)
        while attacker.has_time():
            for key, _ in selector.select(_LOOK_SECONDS):
                raw: socket.socket = key.fileobj  # type: ignore[assignment]  # as registered
                data = b""
                with contextlib.suppress(OSError):
                    data = raw.recv(1 << 16)
                done[data[9:12].decode(errors="replace") or "closed"] += 1
                selector.unregister(raw)
                raw.close()
                _open_and_send(attacker, pending, selector, done)
        done["unanswered"] += len(selector.get_map())
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # as registered
    return done


def _open_and_send(attacker: Attacker, pending: Iterator[bytes], selector: selectors.BaseSelector, done: Done) -> None:
    following = next(pending, None)
    if following is None:
        return
    try:
        raw = attacker.connection().open()
        raw.sendall(following)
    except (Closed, OSError):
        done["closed"] += 1
        time.sleep(PAUSE_SECONDS)
    else:
        selector.register(raw, selectors.EVENT_READ)


def _outcome(connection: Connection, data: bytes) -> str:
    """Return the status of the answer, of a refusal with its code."""
    try:
        answer = connection.send(data)
    except Closed:
        time.sleep(PAUSE_SECONDS)
        return "closed"
    if answer.status < 400:
        return str(answer.status)
    return f"{answer.status} {orjson.loads(answer.body).get('code', '')}".strip()
