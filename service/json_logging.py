"""The format of the log: one JSON object per line, or lines for people in a terminal.

Owns the fields of a line, how it is written so that nobody waits for the reader of the log, and the configuration of
the loggers. Exceptions are logged by their types and stack frames, never by their messages, which may quote what a
client sent or what a game hides. Does not depend on who logs what.
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
            lines += [f"    {line}" for line in _stack(record.exc_info[1])]
        return "\n".join("".join([char if char.isprintable() else "\ufffd" for char in line]) for line in lines)


def make_formatter(log_format: str, stream: TextIO | None) -> logging.Formatter:
    """Return the formatter for ``LOG_FORMAT``: ``json`` or ``text``.

    ``auto`` is ``text`` if the stream is a terminal.
    """
    if log_format == "auto":
        log_format = "text" if stream is not None and stream.isatty() else "json"
    return TextFormatter() if log_format == "text" else JsonFormatter()


MAX_PENDING_BYTES: Final = 1024 * 1024
"""Of lines that wait for the reader of the log; what comes when there are more is dropped."""
END_SECONDS: Final = 1.0
"""How long a process that ends waits for the reader."""


class LogHandler(logging.Handler):
    """Writes lines to a stream in a thread of its own, so that a reader that hangs stops nobody who logs.

    Lines that are dropped are counted, which a line tells as soon as there is room again. The thread is a native one:
    with gevent one of ``threading``, as the standard library's ``QueueListener`` has it, would stop the whole process.
    Each process has its own, begun at its first line, as no thread survives a fork.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._writer: _Writer | None = None
        self._pid = 0
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Have the line written; never waits."""
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
        """Wait until all lines are written, ``END_SECONDS`` at most; ``logging`` calls it at the end of the process."""
        deadline = time.monotonic() + END_SECONDS
        while self._pid == os.getpid() and self._own_writer().pending() and time.monotonic() < deadline:
            _native("time", "sleep")(0.002)

    def _own_writer(self) -> _Writer:
        if self._writer is None or self._pid != os.getpid():
            self._writer, self._pid, self._dropped = _Writer(self.stream.fileno()), os.getpid(), 0
        return self._writer


def without_waiting(handler: logging.Handler) -> logging.Handler:
    """Return a ``LogHandler`` for a plain handler of a stream that is a file of the system; others as they are."""
    if type(handler) is not logging.StreamHandler:
        return handler
    try:
        handler.stream.fileno()
    except (AttributeError, OSError, ValueError):  # there is no standard error, or it is one of a test
        return handler
    return LogHandler(handler.stream)


class _Writer:
    """A native thread that writes lines to a file descriptor, and the lines that wait for it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines = _native("queue", "SimpleQueue")()
        self._put = 0  # changed by those who log alone
        self._written = 0  # changed by the thread alone
        _native("_thread", "start_new_thread")(self._run, ())

    def pending(self) -> int:
        """Return how many bytes are not written yet."""
        return self._put - self._written

    def put(self, line: str) -> None:
        """Have a line written."""
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
                pass  # nobody can read it any more, or the disk is full; there is no other place to tell it
            self._written += len(data)


def _native(module: str, name: str) -> Any:
    """Return a function or class of the standard library as it is without gevent."""
    monkey = sys.modules.get("gevent.monkey")
    return getattr(import_module(module), name) if monkey is None else monkey.get_original(module, name)


def configure_logging(level: str, log_format: str) -> None:
    """Log to standard error: the service from ``level`` on, libraries from ``warning`` on."""
    # These fields are not used, and collecting them for every line would take longer than writing it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = without_waiting(logging.StreamHandler())
    handler.setFormatter(make_formatter(log_format, sys.stderr))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("service").setLevel(level.upper())


def _stack(error: BaseException) -> list[str]:
    """Return the frames and the type of each exception of the chain, the first cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(link.__traceback__)]
        lines = [*frames, f"{type(link).__module__}.{type(link).__qualname__}", *lines]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return lines
