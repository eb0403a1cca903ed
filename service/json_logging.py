"""The format of the log: one JSON object per line, or lines for people in a terminal.

Owns the fields of a line and the configuration of the loggers. Exceptions are logged by their types and stack frames,
never by their messages, which may quote what a client sent or what a game hides.
"""

from __future__ import annotations

import logging
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import orjson

from service.games.ports import TRACE


class JsonFormatter(logging.Formatter):
    """A record as JSON: ``time``, ``level``, ``logger``, ``message``, the ``fields`` of the record, and ``stack``.

    While a request or what follows from it is handled, also the ``trace_id`` of its trace.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        line: dict[str, Any] = {
            "time": f"{_time_of(int(record.created))}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        trace = TRACE.get()
        if trace:
            line["trace_id"] = trace
        fields = getattr(record, "fields", None)
        if fields is not None:
            line |= fields
        if record.exc_info and record.exc_info[1] is not None:
            line["stack"] = _stack(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


@lru_cache(maxsize=1)  # many lines are of the same second
def _time_of(second: int) -> str:
    """Return the time in the form of RFC 3339, without its zone, of this second since 1970."""
    return datetime.fromtimestamp(second, UTC).isoformat()[:-6]


class TextFormatter(logging.Formatter):
    """A record for people: the time of day, a request in a few words or the message, and the stack below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and one more for each frame of a stack.

        Characters that could control a terminal are replaced.
        """
        fields = getattr(record, "fields", None) or {}
        text = record.getMessage()
        if "route" in fields:
            text = f"{fields['method']} {fields['route']} {fields['status']} in {fields['duration_ms']} ms"
        if "code" in fields:
            text += f": {fields['code']}"
        if "request_id" in fields and ("code" in fields or "route" not in fields):
            text += f" ({fields['request_id']})"
        if record.levelno != logging.INFO:
            text = f"{record.levelname.lower()}: {text}"
        lines = [time.strftime("%H:%M:%S ", time.localtime(record.created)) + text]
        if record.exc_info and record.exc_info[1] is not None:
            lines += [f"    {each}" for each in _stack(record.exc_info[1])]
        return "\n".join("".join([char if char.isprintable() else "\ufffd" for char in line]) for line in lines)


def make_formatter(log_format: str, stream: TextIO | None) -> logging.Formatter:
    """Return the formatter for ``LOG_FORMAT``: ``json`` or ``text``.

    ``auto`` is ``text`` if the stream is a terminal.
    """
    if log_format == "auto":
        log_format = "text" if stream is not None and stream.isatty() else "json"
    return TextFormatter() if log_format == "text" else JsonFormatter()


def configure_logging(level: str, log_format: str) -> None:
    """Log to standard error: the service from ``level`` on, libraries from ``warning`` on."""
    # These fields are not used, and collecting them for every line would take longer than writing it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler()
    handler.setFormatter(make_formatter(log_format, handler.stream))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("service").setLevel(level.upper())


def _stack(error: BaseException) -> list[str]:
    """Return the frames and the type of each exception of the chain, the first cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(link.__traceback__)]
        lines = [*frames, f"{type(link).__module__}.{type(link).__qualname__}", *lines]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return lines
