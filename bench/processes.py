"""Processes that benchmarks and attacks start: a free port for them, what they use, and their end, by process id.

What a process uses is known only on Linux.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from pathlib import Path


class DidNotStart(Exception):
    """A process did not answer in time; the message contains the end of its output."""


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as connection:
        connection.bind(("127.0.0.1", 0))
        port: int = connection.getsockname()[1]
        return port


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process so far, with a resolution of some milliseconds."""
    return sum(map(int, stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def exact_seconds(pid: int) -> float:
    """Return the same to the nanosecond where the kernel counts them, of the threads that run now."""
    tasks = [task / "schedstat" for task in Path(f"/proc/{pid}/task").glob("*")]
    if not tasks or not tasks[0].exists():
        return processor_seconds(pid)
    taken = 0
    for task in tasks:
        with contextlib.suppress(OSError):  # the thread has just ended
            taken += int(task.read_text().split()[0])
    return taken / 1e9


def busy_seconds() -> float:
    """Return the processor time that all processes of the machine have used, and what other machines took from it."""
    words = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, words[:8])
    return sum([user, nice, system, interrupts, soft_interrupts, stolen]) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def tree(pid: int) -> dict[int, list[int]]:
    """Return this process and all below it, each with its children. Empty except on Linux."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int(stat(int(entry.name))[1]), []).append(int(entry.name))
    found: dict[int, list[int]] = {}
    todo = [pid] if children else []
    while todo:
        each = todo.pop()
        found[each] = children.get(each, [])
        todo += found[each]
    return found


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
