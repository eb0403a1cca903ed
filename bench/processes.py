"""Processes that benchmarks and attacks start: a free port for them, and their end, by process id."""

from __future__ import annotations

import signal
import socket
import subprocess


class DidNotStart(Exception):
    """A process did not answer in time; the message contains the end of its output."""


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as connection:
        connection.bind(("127.0.0.1", 0))
        port: int = connection.getsockname()[1]
        return port


def stop(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Stop a process, and wait until it has ended; after so many seconds it is killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)  # a process that a measurement has frozen would not end
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
