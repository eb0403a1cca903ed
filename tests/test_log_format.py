"""The forms of the log: JSON, and lines for people in a terminal."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from service.json_logging import END_SECONDS, MAX_PENDING_BYTES, JsonFormatter, TextFormatter, make_formatter
from tests.support.waiting import PATIENCE

THREAD_THAT_MUST_GO_ON = """
from gevent import monkey

monkey.patch_all()
import logging, os, sys, time
from service.json_logging import MAX_PENDING_BYTES, configure_logging

reader, writer = os.pipe()
os.dup2(writer, 2)
configure_logging("info", "json")
log = logging.getLogger("service.test")
for number in range(3 * MAX_PENDING_BYTES // 1000):
    log.info("%d %s", number, "x" * 1000)
began = time.monotonic()
logging.shutdown()  # as at the end of a process
print(round(time.monotonic() - began, 1), flush=True)
text = b""
while len(text) < MAX_PENDING_BYTES // 4:
    text += os.read(reader, 65536)
log.info("last")
while b'"last"' not in text:
    text += os.read(reader, 65536)
os.write(1, text)
"""
"""Logs more than is kept to a pipe that nobody reads, with gevent, and then reads it."""

REQUEST = {"request_id": "8IWJHP4JWn4bbSe0", "method": "POST", "route": "/v1/games/<game>/moves", "status": 201}
REQUEST |= {"duration_ms": 1.42}


def record(message: str, level: int = logging.INFO, fields: dict[str, Any] | None = None) -> logging.LogRecord:
    made = logging.LogRecord("service.web", level, __file__, 0, message, None, None)
    made.fields = fields
    return made


def text_of(line: logging.LogRecord) -> str:
    """The line without its time of day."""
    text = TextFormatter().format(line)
    assert re.match(r"\d\d:\d\d:\d\d ", text)
    return text[9:]


def test_auto_is_text_in_a_terminal_and_json_elsewhere() -> None:
    master, slave = os.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as terminal:
        assert isinstance(make_formatter("auto", terminal), TextFormatter)
        assert isinstance(make_formatter("json", terminal), JsonFormatter)
    for stream in (io.StringIO(), None):
        assert isinstance(make_formatter("auto", stream), JsonFormatter)
        assert isinstance(make_formatter("text", stream), TextFormatter)


def test_a_request_is_a_line_in_a_few_words() -> None:
    assert text_of(record("request", fields=REQUEST)) == "POST /v1/games/<game>/moves 201 in 1.42 ms"
    refused = {**REQUEST, "status": 409, "code": "illegal_move"}
    assert text_of(record("request", fields=refused)) == (
        "POST /v1/games/<game>/moves 409 in 1.42 ms: illegal_move (8IWJHP4JWn4bbSe0)"
    )


def test_other_lines_have_their_level_and_the_request() -> None:
    assert text_of(record("Listening at: x")) == "Listening at: x"
    assert text_of(record("storage unavailable", logging.WARNING, {"request_id": "abc"})) == (
        "warning: storage unavailable (abc)"
    )


def test_a_failure_has_its_stack_without_messages() -> None:
    line = record("internal error", logging.ERROR)
    try:
        raise ValueError("what a client sent")
    except ValueError:
        line.exc_info = sys.exc_info()
    first, *stack = text_of(line).splitlines()
    assert first == "error: internal error"
    assert stack[-1] == "    builtins.ValueError"
    assert "test_a_failure_has_its_stack" in stack[0]
    assert "client" not in "".join(stack)


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2Jgone", "a\rb", "\u202eevil", "\u2028x", "\x9b31m"])
def test_what_is_logged_cannot_control_a_terminal(text: str) -> None:
    line = text_of(record(text))
    assert line.isprintable()
    assert len(line) == len(text)
    assert json.loads(JsonFormatter().format(record(text)))["message"] == text


def test_nobody_waits_for_the_reader_of_the_log_and_what_is_dropped_is_counted() -> None:
    asked = [sys.executable, "-c", THREAD_THAT_MUST_GO_ON]
    ended, *lines = subprocess.run(asked, capture_output=True, check=True, timeout=PATIENCE).stdout.splitlines()
    assert float(ended) == END_SECONDS
    *messages, last = [json.loads(line)["message"] for line in lines]
    # The thread may still fill the pipe when lines are dropped already: there is room again, and a count between.
    dropped = [int(text.split()[0]) for text in messages if text.endswith("were dropped, as nobody has read them")]
    kept = [int(text.split()[0]) for text in messages if text.endswith("x")]
    assert (last, len(kept) + len(dropped)) == ("last", len(messages))
    assert kept == sorted(set(kept))
    assert min(dropped) > 0
    assert len(kept) + sum(dropped) == 3 * MAX_PENDING_BYTES // 1000
    size = sum([len(line) + 1 for line in lines])  # with the line breaks, which wait as well
    assert MAX_PENDING_BYTES < size < MAX_PENDING_BYTES + 80_000  # the pipe holds 65,536
