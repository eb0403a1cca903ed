"""Network namespaces, one for each node, whose links are cut silently: nothing arrives any more, and nobody is told.

Each node has an address in a network whose links are cut, by a hardware address that nobody has, and one in a network
for control that never is. Linux only, with ``unshare``, ``nsenter`` and ``ip``; needs no root where users may have
namespaces: the program runs in one of its own (``apart``), with which all of it disappears.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from typing import Final, Self

from service.devserver.terminal import die_with_parent

_NOBODY: Final = "02:00:00:00:00:99"
_PROGRAMS: Final = ("unshare", "nsenter", "ip")


def apart(command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command in a network of its own, as the root of it."""
    return ["unshare", "--user", "--map-root-user", "--net", "--", *command]


def is_possible() -> bool:
    """Return whether this machine lets this user have networks."""
    if sys.platform != "linux" or not all(map(shutil.which, _PROGRAMS)):
        return False
    return subprocess.run(apart(["unshare", "--net", "true"]), capture_output=True, check=False).returncode == 0


class Network:
    """The nodes with these names; to be made inside ``apart``."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(nodes, 11)}
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self._cut: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        _run("ip", "link", "set", "lo", "up")
        for bridge in ("data", "control"):
            _run("ip", "link", "add", bridge, "type", "bridge")
            _run("ip", "link", "set", bridge, "up")
        _run("ip", "address", "add", "10.212.0.1/24", "dev", "control")
        for name in self._numbers:
            self._add(name)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._holders.values():
            each.kill()
            each.wait()

    def address(self, name: str) -> str:
        """Return the address of a node by which the nodes know it."""
        return f"10.211.0.{self._numbers[name]}"

    def control(self, name: str) -> str:
        """Return the address of a node that is never cut off."""
        return f"10.212.0.{self._numbers[name]}"

    def command(self, name: str, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command on a node."""
        return ["nsenter", f"--net=/proc/{self._holders[name].pid}/ns/net", "--", *command]

    def cut(self, left: Sequence[str], right: Sequence[str]) -> None:
        """Cut all links between these nodes."""
        for one, other in [*product(left, right), *product(right, left)]:
            neighbour = (self.address(other), "lladdr", _NOBODY, "dev", "data", "nud", "permanent")
            _run(*self.command(one, ["ip", "neighbour", "replace", *neighbour]))
            self._cut.add((one, other))

    def heal(self) -> None:
        """Mend all links."""
        for one, other in self._cut:
            _run(*self.command(one, ["ip", "neighbour", "delete", self.address(other), "dev", "data"]))
        self._cut.clear()

    def _add(self, name: str) -> None:
        """Start a process that holds the namespace of a node, and connect that with both bridges."""
        program = shutil.which("unshare")
        assert program is not None
        hold = ["--net", "--", "sh", "-c", "echo; exec sleep infinity"]
        holder = subprocess.Popen(die_with_parent([program, *hold], signal.SIGKILL), stdout=subprocess.PIPE)
        self._holders[name] = holder
        assert holder.stdout is not None
        holder.stdout.readline()  # it has its namespace
        _run(*self.command(name, ["ip", "link", "set", "lo", "up"]))
        for bridge, address in (("data", self.address(name)), ("control", self.control(name))):
            link = f"{bridge}-{self._numbers[name]}"
            _run("ip", "link", "add", link, "type", "veth", "peer", "name", bridge, "netns", str(holder.pid))
            _run("ip", "link", "set", link, "master", bridge, "up")
            _run(*self.command(name, ["ip", "address", "add", f"{address}/24", "dev", bridge]))
            _run(*self.command(name, ["ip", "link", "set", bridge, "up"]))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
