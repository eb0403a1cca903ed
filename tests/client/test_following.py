"""The readers of events, for JavaScript and for Python, against every way in which a connection begins or ends badly.

A case is a dialogue: what a reader asks, how long after the last connection has ended, and what it gets. Both readers
keep to the same dialogue, in a time of their own, in which nothing is waited for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from math import ceil
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final, Literal, NamedTuple

import httpx
import pytest

import service.client
from tests.support.serving import ROOT
from tests.support.waiting import PATIENCE
from tests.vectors.verifiers import node_or_skip

DRIVER: Final = Path(__file__).with_name("following.mjs")
JAVASCRIPT: Final = Path(service.client.__file__).with_name("events.js")
PYTHON: Final = ROOT / "clients" / "python" / "domino_client" / "events.py"
LINES: Final = "application/x-ndjson"
PAGE: Final = "application/json"


class Times(NamedTuple):
    """After which silence a reader gives up, and how long it polls before it tries a stream again; in seconds."""

    start: int
    again: int
    later: int
    poll: int
    polling: int


TIMES: Final = {
    "javascript": Times(start=15, again=5, later=30, poll=60, polling=300),
    "python": Times(start=30, again=30, later=30, poll=60, polling=1800),
}


@dataclass(frozen=True)
class Answer:
    """What a connection brings: after ``head`` seconds a status, then each text so long after the one before.

    Without ``head`` there is no status, and without ``status`` the connection is lost.
    """

    head: int | None = 0
    status: int | None = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": LINES})
    parts: Sequence[tuple[int, str]] = ()
    end: Literal["end", "cut", "silent"] = "end"


class Exchange(NamedTuple):
    """What is asked, with how much to wait for a page, so long after the end of the last answer; and what comes."""

    kind: Literal["stream", "poll"]
    pause: float
    answer: Answer
    after: int = 0
    wait: int | None = None
    held: int | None = None
    """After so many seconds of silence the reader itself ends it."""


Case = Callable[[Times], list[Exchange]]


def items(*versions: int, kind: str = "played") -> str:
    return "".join(json.dumps({"type": kind, "version": version}) + "\n" for version in versions)


SILENT: Final = Answer(head=None)
LOST: Final = Answer(status=None)
EMPTY: Final = Answer()
SILENT_AFTER_STATUS: Final = Answer(end="silent")
HTML: Final = Answer(
    headers={"Content-Type": "text/html; charset=utf-8"}, parts=[(0, "<p>Please "), (1, "log in.</p>")]
)
LAST: Final = 9


def lines(*parts: tuple[int, str], head: int = 0, end: Literal["end", "cut", "silent"] = "end") -> Answer:
    return Answer(head=head, parts=[(0, "\n"), *parts], end=end)


def finish(first: int) -> Answer:
    """A stream as it should be, from this version to the end of the match."""
    return lines((0, items(*range(first, LAST))), (10, "\n"), (3, items(LAST, kind="finished")))


def page(*versions: int, head: int = 0, version: int = 0, kind: str = "played") -> Answer:
    events = [{"type": kind, "version": each} for each in versions]
    status = "finished" if kind == "finished" else "playing"
    body = {"events": events, "version": versions[-1] if versions else version, "more": False}
    game = {"game": {"status": status}}
    return Answer(head=head, headers={"Content-Type": PAGE}, parts=[(0, json.dumps(body | game))])


def refusal(status: int, code: str = "", retry_after: str | None = None) -> Answer:
    retry = {} if retry_after is None else {"Retry-After": retry_after}
    headers = {"Content-Type": "application/problem+json", **retry}
    return Answer(status=status, headers=headers, parts=[(0, json.dumps({"code": code}))])


def stream(pause: float, answer: Answer, after: int = 0, held: int | None = None) -> Exchange:
    return Exchange("stream", pause, answer, after, None, held)


def poll(pause: float, answer: Answer, after: int = 0, wait: int = 25, held: int | None = None) -> Exchange:
    return Exchange("poll", pause, answer, after, wait, held)


def quiet_polls(seconds: int, after: int) -> list[Exchange]:
    """Long polls that bring nothing for so long: each waits for 24 s, and the next is asked half a second later."""
    answer = page(head=24, version=after)
    return [poll(0.5 if number else 0, answer, after) for number in range(ceil(seconds / 24.5))]


CASES: Final[dict[str, Case]] = {
    "it begins at once": lambda _: [stream(0, finish(1))],
    "a proxy holds back the first seconds": lambda _: [
        stream(0, Answer(head=10, parts=[(0, "\n" + items(1))], end="cut")),
        stream(0.5, finish(2), 1),
    ],
    "a proxy holds back every stream": lambda times: [
        stream(0, SILENT, held=times.start),
        poll(0, page(1, 2)),
        poll(0, page(*range(3, LAST), head=20), 2),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "the status comes, and nothing else": lambda times: [
        stream(0, SILENT_AFTER_STATUS, held=times.start),
        poll(0, page(*range(1, LAST))),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "the first stream of a busy service is silent": lambda times: [
        stream(0, SILENT, held=times.start),
        poll(0, page(1)),
        *quiet_polls(times.polling, 1),
        stream(0.5, finish(2), 1),
    ],
    "a stream is tried again in vain": lambda times: [
        stream(0, SILENT, held=times.start),
        poll(0, page(1)),
        *quiet_polls(times.polling, 1),
        stream(0.5, SILENT, 1, held=times.again),
        poll(0, page(*range(2, LAST)), 1),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "a restarted service is silent once": lambda times: [
        stream(0, lines((0, items(1)), end="cut")),
        stream(0.5, SILENT, 1, held=times.start),
        stream(1, finish(2), 1),
    ],
    "the network changes to one whose proxy holds back every stream": lambda times: [
        stream(0, lines((0, items(1)), end="cut")),
        stream(0.5, SILENT, 1, held=times.start),
        stream(1, SILENT, 1, held=times.start),
        poll(0, page(*range(2, LAST)), 1),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "it is cut at once": lambda _: [
        *(stream(pause, LOST) for pause in (0, 0.5, 1, 2, 4, 8, 15, 15)),
        stream(15, finish(1)),
    ],
    "it ends at once": lambda _: [*(stream(pause, EMPTY) for pause in (0, 0.5, 1, 2)), stream(4, finish(1))],
    "it ends after the first byte": lambda _: [
        *(stream(pause, lines()) for pause in (0, 0.5, 1, 2)),
        stream(4, finish(1)),
    ],
    "it is cut after each event": lambda _: [
        stream(0, Answer(parts=[(0, "\n" + items(1))], end="cut")),
        *(stream(0.5, Answer(parts=[(0, "\n" + items(each))], end="cut"), each - 1) for each in range(2, LAST)),
        stream(0.5, finish(LAST), LAST - 1),
    ],
    "503": lambda _: [*(stream(pause, refusal(503)) for pause in (0, 0.5, 1, 2)), stream(4, finish(1))],
    "503 with Retry-After": lambda _: [stream(0, refusal(503, retry_after="20")), stream(20.5, finish(1))],
    "429 with Retry-After": lambda _: [
        stream(0, refusal(429, "rate_limited", "7")),
        stream(7.5, refusal(429, "rate_limited", "7")),
        stream(8, finish(1)),
    ],
    "503 with a date in Retry-After": lambda _: [
        stream(0, refusal(503, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")),
        stream(0.5, refusal(503, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")),
        stream(1, finish(1)),
    ],
    "503 with a Retry-After beyond all timers": lambda _: [
        stream(0, refusal(503, retry_after="99999999")),
        stream(300.5, finish(1)),
    ],
    "too many streams": lambda _: [
        stream(0, refusal(503, "too_many_streams", "5")),
        poll(5.5, page(1, 2), wait=0),
        stream(0, refusal(503, "too_many_streams", "5"), 2),
        poll(5.5, page(version=2), 2, wait=0),
        stream(0.5, finish(3), 2),
    ],
    "200 with another content type": lambda _: [
        *(stream(pause, HTML) for pause in (0, 0.5, 1, 2)),
        stream(4, finish(1)),
    ],
    "it is cut in the middle of a line": lambda _: [
        stream(0, lines((0, items(1, 2)), (1, '{"type": "pla'), end="cut")),
        stream(0.5, finish(3), 2),
    ],
    "it is silent in the middle": lambda times: [
        stream(0, lines((0, items(1)), (14, "\n"), end="silent"), held=14 + times.later),
        stream(0.5, finish(2), 1),
    ],
    "it is silent in the middle, and the next one from the beginning": lambda times: [
        stream(0, lines((0, items(1)), (14, "\n"), end="silent"), held=14 + times.later),
        stream(0.5, SILENT, 1, held=times.start),
        poll(0, page(*range(2, LAST)), 1),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "the service restarts": lambda _: [
        stream(0, lines((0, items(1)), (1, items(1, kind="closing")))),
        stream(0.5, LOST, 1),
        stream(1, LOST, 1),
        stream(2, finish(2), 1),
    ],
    "a long quiet stream is cut": lambda _: [
        *(stream(pause, LOST) for pause in (0, 0.5, 1, 2, 4)),
        stream(8, lines((14, "\n"), (14, "\n"), end="cut")),
        stream(0.5, finish(1)),
    ],
    "what is polled is not there for a while": lambda times: [
        stream(0, SILENT, held=times.start),
        poll(0, LOST),
        poll(0.5, refusal(502)),
        poll(1, HTML),
        poll(2, SILENT, held=times.poll),
        poll(4, page(*range(1, LAST))),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
    "a cache answers polls at once with what was": lambda times: [
        stream(0, SILENT, held=times.start),
        poll(0, page(1)),
        poll(0, page(1), 1),
        poll(0.5, page(1), 1),
        poll(0.5, page(*range(2, LAST)), 1),
        poll(0, page(LAST, kind="finished"), LAST - 1),
    ],
}


class Reading(NamedTuple):
    """What a reader has yielded, the requests that it made, and how it ended."""

    items: list[dict[str, Any]]
    asked: list[dict[str, Any]]
    end: str


def read_in_javascript(cases: Sequence[list[Exchange]], **options: object) -> list[Reading]:
    """What the reader makes of these cases, all in one process, as its start takes longer than they do."""
    run = subprocess.run(
        [node_or_skip(), DRIVER, JAVASCRIPT],
        input=json.dumps([{"options": options, "answers": [asdict(each.answer) for each in case]} for case in cases]),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return [Reading(**played) for played in json.loads(run.stdout)]


@cache
def all_in_javascript() -> dict[str, Reading]:
    read = read_in_javascript([case(TIMES["javascript"]) for case in CASES.values()])
    return dict(zip(CASES, read, strict=True))


def check(reading: Reading, case: list[Exchange]) -> None:
    """The reader has kept to the dialogue, and has yielded each event once and in order."""
    expected = [(each.kind, each.pause, each.after, each.wait) for each in case]
    assert [
        (each["kind"], round(each["pause"], 3), int(each["after"]), each["wait"] and int(each["wait"]))
        for each in reading.asked
    ] == expected
    assert {each["view"] for each in reading.asked if each["kind"] == "poll"} <= {"true"}, "it tells the end of a match"
    for made, wanted in zip(reading.asked, case, strict=True):
        assert wanted.held is None or round(made["held"], 3) == wanted.held
    assert reading.end == "end"
    assert [each["version"] for each in reading.items] == list(range(1, LAST + 1))


@pytest.mark.parametrize("name", CASES)
def test_the_reader_for_javascript(name: str) -> None:
    check(all_in_javascript()[name], CASES[name](TIMES["javascript"]))


def test_a_reader_for_javascript_that_is_told_to_poll_never_asks_for_a_stream() -> None:
    case = [poll(0, page(1)), *quiet_polls(1000, 1), poll(0.5, page(*range(2, LAST)), 1)]
    case.append(poll(0, page(LAST, kind="finished"), LAST - 1))
    (reading,) = read_in_javascript([case], poll=True)
    check(reading, case)


class Script(httpx.BaseTransport):
    """Answers requests in the order of a script, in a time of its own."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self.now = 0.0
        self.quiet = 0.0
        self.asked: list[dict[str, Any]] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        query = request.url.params
        polls = request.headers["Accept"] == PAGE
        asked = {
            "kind": "poll" if polls else "stream",
            "after": query["after"],
            "wait": query.get("wait"),
            "view": query.get("view"),
        }
        self.asked.append({**asked, "pause": self.now - self.quiet, "held": 0.0})
        self._began = self.now
        if not self._answers:
            return httpx.Response(410, json={"code": "gone"}, request=request)
        answer = self._answers.pop(0)
        silence: float = request.extensions["timeout"]["read"]
        self.wait(answer.head, silence)
        if answer.status is None:
            raise httpx.RemoteProtocolError("cut", request=request)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(self, answer, silence))

    def wait(self, seconds: float | None, silence: float) -> None:
        """Let this time pass, or so much of it as the reader waits."""
        waits = seconds is not None and seconds <= silence
        self.now += seconds if waits and seconds is not None else silence
        self.quiet = self.now
        self.asked[-1]["held"] = self.now - self._began
        if not waits:
            raise httpx.ReadTimeout("silent")


class _Body(httpx.SyncByteStream):
    def __init__(self, script: Script, answer: Answer, silence: float) -> None:
        self._script = script
        self._answer = answer
        self._silence = silence

    def __iter__(self) -> Iterator[bytes]:
        for seconds, text in self._answer.parts:
            self._script.wait(seconds, self._silence)
            yield text.encode()
        if self._answer.end == "silent":
            self._script.wait(None, self._silence)
        if self._answer.end == "cut":
            raise httpx.RemoteProtocolError("cut")


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The readers, without the generated part of their package: their models are the JSON itself."""
    model = SimpleNamespace(from_dict=lambda item: item)
    modules: dict[str, dict[str, object]] = {
        "domino_client": {},
        "domino_client.client": {"Client": object, "AuthenticatedClient": object},
        "domino_client.models": {"FeedItem": model, "Game": model, "GameEvent": model},
    }
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    spec = spec_from_file_location("domino_client.events", PYTHON)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    monkeypatch.setattr(loaded, "random", SimpleNamespace(random=lambda: 0.5))
    return loaded


def read_in_python(
    readers: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    answers: Sequence[Answer],
    reader: str,
    *game: str,
    **options: str,
) -> Reading:
    """What a reader makes of these answers."""
    script = Script(answers)
    monkeypatch.setattr(readers, "time", script)
    with httpx.Client(transport=script, base_url="http://domino.test") as http:
        client = SimpleNamespace(get_httpx_client=lambda: http)
        items: list[dict[str, Any]] = []
        try:
            for item in getattr(readers, reader)(client, *game, **options):
                items.append(item)  # noqa: PERF402 # those before an error count, too
        except httpx.HTTPStatusError as error:
            return Reading(items, script.asked, str(error))
    return Reading(items, script.asked, "end")


@pytest.mark.parametrize("name", CASES)
def test_the_reader_for_python(name: str, readers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name](TIMES["python"])
    answers = [each.answer for each in case]
    check(read_in_python(readers, monkeypatch, answers, "follow", "g"), case)


def test_views_and_the_feed_are_polled_where_streams_do_not_come_through(
    readers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = [SILENT, page(1, 2), page(3, kind="finished")]
    reading = read_in_python(readers, monkeypatch, views, "follow_views", "g")
    assert reading.items == [{"status": "playing"}, {"status": "finished"}]
    assert [each["after"] for each in reading.asked] == ["0", "0", "2"]
    feed = [{"items": [{"type": "played", "cursor": "b"}], "cursor": "b", "more": False}]
    pages = [Answer(headers={"Content-Type": PAGE}, parts=[(0, json.dumps(each))]) for each in feed]
    reading = read_in_python(readers, monkeypatch, [SILENT, *pages], "follow_feed", after="a")
    assert reading.items == feed[0]["items"]
    asked = [(each["kind"], each["after"], each["view"]) for each in reading.asked]
    assert asked == [("stream", "a", None), ("poll", "a", None), ("poll", "b", None)]
