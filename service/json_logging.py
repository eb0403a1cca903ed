"""What the log looks like: one JSON object a line, for programs to read.

Owns the form of a line and which loggers have it. A failure is told by the kinds of its errors and where they
happened, never by their messages, for those may quote what a client sent or what a game hides. Must not know who logs
what; it is light to import.
"""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson


class JsonFormatter(logging.Formatter):
    """A record as JSON: ``time``, ``level``, ``logger``, ``message``, the ``fields`` of the record, and ``stack``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, without its end."""
        now = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": now.isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        if fields is not None:
            line |= fields
        if record.exc_info and record.exc_info[1] is not None:
            line["stack"] = _stack(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


def configure_logging(level: str) -> None:
    """Log to standard error from ``level`` on, what comes from libraries from ``warning`` on."""
    # Nobody asks for these, and to find them out for every line takes longer than to write it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("service").setLevel(level.upper())


def _stack(error: BaseException) -> list[str]:
    """Where it happened, the first cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(link.__traceback__)]
        lines = [*frames, f"{type(link).__module__}.{type(link).__qualname__}", *lines]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return lines
