"""The format of the log: one JSON object per line.

Owns the fields of a line and the configuration of the loggers. Exceptions are logged by their types and stack frames,
never by their messages, which may quote what a client sent or what a game hides. Does not depend on what is logged;
light to import.
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
        """The line, without a line break."""
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
    """Log to standard error: the service from ``level`` on, libraries from ``warning`` on."""
    # These fields are not used, and collecting them for every line would take longer than writing it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("service").setLevel(level.upper())


def _stack(error: BaseException) -> list[str]:
    """The frames and the type of each exception of the chain, the first cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(link.__traceback__)]
        lines = [*frames, f"{type(link).__module__}.{type(link).__qualname__}", *lines]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return lines
