"""The format of the log: one JSON object per line, or text for people in a terminal.

Owns the fields of a line, writing without blocking, and the configuration of the loggers. Of an exception, the types
and the stack frames are logged, never the message: it can contain data of a client, or something that a game hides.
Does not depend on the callers.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, TextIO

import orjson

from service.games.ports import TRACE


class JsonFormatter(logging.Formatter):
    """Formats a log record as JSON: ``time``, ``level``, ``logger``, ``message``, its ``fields``, and ``stack``.

    A line that belongs to a request, or to work that follows from it, also has the ``trace_id``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        line: dict[str, Any] = {
            "time": f"{_time_of(int(record.created))}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if trace := TRACE.get():
            line["trace_id"] = trace
        line |= getattr(record, "fields", None) or {}
        if stack := _stack(record):
            line["stack"] = stack
        return orjson.dumps(line, default=str).decode()


@lru_cache(maxsize=1)  # many lines have the same second
def _time_of(second: int) -> str:
    """Format a time in seconds since 1970 by RFC 3339, without the zone."""
    return datetime.fromtimestamp(second, UTC).isoformat()[:-6]


class TextFormatter(logging.Formatter):
    """Formats a log record for people: the time of day, a short form of a request or the message, and the stack."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line and one for each frame of the stack, without characters that could control a terminal."""
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
        lines += [f"    {line}" for line in _stack(record)]
        return "\n".join("".join([char if char.isprintable() else "\ufffd" for char in line]) for line in lines)


def make_formatter(log_format: str, stream: TextIO | None) -> logging.Formatter:
    """Return the formatter for ``LOG_FORMAT``: ``json``, ``text``, or ``auto``, which is ``text`` in a terminal."""
    if log_format == "auto":
        log_format = "text" if stream is not None and stream.isatty() else "json"
    return TextFormatter() if log_format == "text" else JsonFormatter()


MAX_PENDING_BYTES: Final = 1024 * 1024
"""The maximum size of the lines that have not been written; further lines are dropped."""
END_SECONDS: Final = 1.0
"""The maximum time that an ending process waits for the lines to be written."""


class LogHandler(logging.Handler):
    """Writes lines to a stream in a separate thread, so that a hanging reader does not block the callers.

    Dropped lines are counted, and a line reports their number when there is room again. The thread is native: with
    gevent, a thread of ``threading``, which ``QueueListener`` uses, would block the whole process. Each process starts
    its thread with its first line, because threads do not survive a fork.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._writer: _Writer | None = None
        self._pid = 0
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the line for writing; never waits."""
        try:
            line = self.format(record)
        except Exception:
            self.handleError(record)
            return
        writer = self._own_writer()
        if writer.pending() > MAX_PENDING_BYTES:
            self._dropped += 1
            return
        if self._dropped:
            text = f"{self._dropped} lines of the log were dropped, as nobody has read them"
            self._dropped = 0
            writer.put(self.format(logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, None, None)))
        writer.put(line)

    def flush(self) -> None:
        """Wait until all lines are written, at most ``END_SECONDS``. ``logging`` calls this when the process ends."""
        deadline = time.monotonic() + END_SECONDS
        while self._pid == os.getpid() and self._own_writer().pending() and time.monotonic() < deadline:
            _native("time", "sleep")(0.002)

    def _own_writer(self) -> _Writer:
        if self._writer is None or self._pid != os.getpid():
            self._writer, self._pid, self._dropped = _Writer(self.stream.fileno()), os.getpid(), 0
        return self._writer


def non_blocking(handler: logging.Handler) -> logging.Handler:
    """Return a ``LogHandler`` in place of a ``StreamHandler`` on a file descriptor; other handlers unchanged."""
    if type(handler) is not logging.StreamHandler:
        return handler
    try:
        handler.stream.fileno()
    except (AttributeError, OSError, ValueError):  # standard error is closed, or replaced in a test
        return handler
    return LogHandler(handler.stream)


class _Writer:
    """A queue of lines, and a native thread that writes them to a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines = _native("queue", "SimpleQueue")()
        self._put = 0  # only changed by ``put``
        self._written = 0  # only changed by the thread
        _native("_thread", "start_new_thread")(self._run, ())

    def pending(self) -> int:
        """Return the number of bytes that are not written yet."""
        return self._put - self._written

    def put(self, line: str) -> None:
        """Queue a line for writing."""
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        self._put += len(data)
        self._lines.put(data)

    def _run(self) -> None:
        while True:
            data = self._lines.get()
            left = memoryview(data)
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                pass  # the reader is gone, or the disk is full; there is no other place to report it
            self._written += len(data)


def _native(module: str, name: str) -> Any:
    """Return a function or class of the standard library without gevent's patches."""
    monkey = sys.modules.get("gevent.monkey")
    return getattr(import_module(module), name) if monkey is None else monkey.get_original(module, name)


def configure_logging(level: str, log_format: str) -> None:
    """Log to standard error: the service from ``level`` on, libraries from ``warning`` on."""
    # These fields are not used, and collecting them would take longer than writing a line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = non_blocking(logging.StreamHandler())
    handler.setFormatter(make_formatter(log_format, sys.stderr))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("service").setLevel(level.upper())


def _stack(record: logging.LogRecord) -> list[str]:
    """Return the frames and the type of each exception in the chain, if any, the original cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    link = record.exc_info[1] if record.exc_info else None
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(link.__traceback__)]
        lines = [*frames, f"{type(link).__module__}.{type(link).__qualname__}", *lines]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return lines
