"""Look-ups have threads of their own, a bound for each application, and end only when their thread does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from ipaddress import ip_address
from socket import EAI_AGAIN, EAI_FAIL, EAI_NONAME, gaierror
from threading import Event, Thread

import pytest

from service.outgoing.lookups import LookupFailed, Lookups
from tests.support.serving import ROOT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

ADDRESS = "93.184.215.14"


class NameServer:
    """Answers for every name, once it may."""

    def __init__(self) -> None:
        self.open = Event()
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        assert self.open.wait(PATIENCE)
        return [ADDRESS]


def failure(lookups: Lookups, app: str, host: str, seconds: float = 0.02) -> str:
    """Why nothing was found."""
    with pytest.raises(LookupFailed) as caught:
        lookups.find(app, host, seconds)
    return caught.value.reason


def hang(lookups: Lookups, app: str, number: int) -> list[str]:
    """Why so many look-ups of an application fail while no name server answers."""
    return [failure(lookups, app, f"{app}{each}.example") for each in range(number)]


def test_an_application_is_refused_beyond_its_share_and_others_are_not() -> None:
    server = NameServer()
    lookups = Lookups(server, limit=8)
    assert hang(lookups, "evil", 6) == ["no_answer"] * 4 + ["share_used"] * 2
    assert hang(lookups, "good", 3) == ["no_answer"] * 2 + ["share_used"]
    assert hang(lookups, "late", 2) == ["no_answer", "share_used"]
    assert hang(lookups, "last", 1) == ["no_answer"]
    assert hang(lookups, "none left", 1) == ["no_room"]
    assert len(server.asked) == 8
    server.open.set()
    for app in ("evil", "good", "late"):
        assert lookups.find(app, f"{app}0.example", PATIENCE) == (ip_address(ADDRESS),)


def test_a_look_up_counts_until_its_thread_ends_and_not_until_its_caller_gives_up() -> None:
    server = NameServer()
    lookups = Lookups(server, limit=2)
    assert failure(lookups, "evil", "one.example") == "no_answer"
    assert failure(lookups, "evil", "two.example") == "share_used"
    under_way = lookups._futures["evil", "one.example"]
    server.open.set()
    under_way.result(PATIENCE)
    assert lookups.find("evil", "two.example", PATIENCE) == (ip_address(ADDRESS),)


def test_who_asks_for_the_same_name_at_once_waits_for_the_same_look_up() -> None:
    server = NameServer()
    lookups = Lookups(server, limit=2)
    found: list[object] = []
    threads = [Thread(target=lambda: found.append(lookups.find("A", "bots.example", PATIENCE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    server.open.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert found == [(ip_address(ADDRESS),)] * 8
    assert server.asked == ["bots.example"]


@pytest.mark.parametrize("error", [gaierror(EAI_AGAIN, ""), gaierror(EAI_FAIL, ""), OSError("no network")])
def test_what_no_name_server_said_is_not_known(error: OSError) -> None:
    lookups = Lookups(_failing(error))
    assert failure(lookups, "A", "bots.example", PATIENCE) == "no_answer"
    assert failure(lookups, "A", "bots.example", PATIENCE) == "no_answer"  # the share was given back


@pytest.mark.parametrize("error", [gaierror(EAI_NONAME, ""), UnicodeError("label too long")])
def test_a_name_that_does_not_exist_has_no_address(error: Exception) -> None:
    assert Lookups(_failing(error)).find("A", "bots.example", PATIENCE) == ()


def _failing(error: Exception) -> NameServer:
    class Failing(NameServer):
        def __call__(self, host: str) -> Sequence[str]:
            raise error

    return Failing()


UNDER_GEVENT = """
from gevent import monkey
monkey.patch_all()
import _socket, socket, sys, time
from threading import Thread
from gevent import get_hub

release = _socket.getaddrinfo  # the real one
def hang(host, *more):
    if str(host).endswith("slow.example"):
        while not done: time_sleep(0.01)
        raise _socket.gaierror(_socket.EAI_AGAIN, "no answer")
    return [(2, 1, 6, "", ("127.0.0.1", 0))]
done = []
time_sleep = monkey.get_original("time", "sleep")
_socket.getaddrinfo = hang

from service.outgoing.lookups import LookupFailed, Lookups, MAX_LOOKUPS, system_lookup
lookups = Lookups(system_lookup)
reasons = []
def ask(number):
    try:
        lookups.find(f"app{number % 20}", f"{number}.slow.example", 0.5)
    except LookupFailed as error:
        reasons.append(error.reason)
threads = [Thread(target=ask, args=(number,)) for number in range(60)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert reasons.count("share_used") > 20 and reasons.count("no_answer") > 20, reasons
# As many threads hang as may; gevent's own resolver, by which a client of Redis finds its server, is free.
assert get_hub().threadpool.size == 0, get_hub().threadpool.size
print(socket.getaddrinfo("store.example", 6379)[0][4][0])
done.append(True)
"""


def test_with_gevent_a_look_up_of_the_service_itself_waits_for_no_strangers_names() -> None:
    run = subprocess.run(
        [sys.executable, "-c", UNDER_GEVENT], check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (run.returncode, run.stdout) == (0, "127.0.0.1\n"), run.stderr
