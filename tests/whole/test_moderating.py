"""What ``docs/operations/moderate.md`` says of taking games off the net, ending streams, applications and persons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.support.waiting import until
from tests.whole.operating import Application, Site, read_to_end
from tests.whole.stream_reader import StreamReader
from tests.whole.table import Table

pytestmark = pytest.mark.nightly

ABUSER = "192.0.2.7"
"""Their address on the page."""
PEOPLE = [{"name": "Ada", "ref": "user-1"}, {"name": "Bo", "ref": "user-2"}]


def status_of(table: Table) -> int:
    return table.http.get(table.path).status_code


def pieces_of(stream: StreamReader) -> Iterator[bytes]:
    return iter(lambda: stream.answer.read1(65536), b"")


def test_games_are_found_shown_and_taken_off_the_net(site: Site) -> None:
    floods = [site.create(ABUSER) for _ in range(2)]
    named, other = site.create("198.51.100.9"), site.create("203.0.113.5")
    printed = site.operator.run("find-games", ID=named.id)
    assert [printed.count(f"{each.id}  ") for each in (*floods, named, other)] == [2, 2, 1, 1]
    (shown,) = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert (shown["id"], [each["name"] for each in shown["players"]]) == (named.id, ["Ada", "Bo"])
    assert not any(secret in printed for table in (*floods, named, other) for secret in table.tokens.values())
    with StreamReader(named, seat=0) as stream:
        stream.take(1)
        printed = site.operator.run("take-off", stop=False, ID=named.id)
        assert b'"type":"deleted"' in read_to_end(pieces_of(stream))
    assert re.findall(r"^domino-service: (\d+) games (.*)$", printed, re.MULTILINE) == [
        ("1", "deleted"),
        ("2", "would be deleted; with --yes they are"),
        ("2", "deleted"),
    ]
    assert f'"game":"{named.id}"' in printed
    assert ABUSER not in printed
    assert [status_of(each) for each in (*floods, named, other)] == [410, 410, 410, 200]


def test_an_application_deletes_its_game(site: Site, application: Application) -> None:
    game = application.create(PEOPLE)
    until(lambda: application.http.get("/v1/games").json()["games"])
    site.operator.run("owner-deletes", ID=game.id, KEY=application.key)
    assert status_of(game) == 410
    until(lambda: not application.http.get("/v1/games").json()["games"])


def test_the_stream_of_a_seat_ends_when_its_token_is_replaced(site: Site, application: Application) -> None:
    game = application.create(PEOPLE)
    with StreamReader(game, seat=0) as stream:
        stream.take(1)
        token = json.loads(site.operator.run("replace-token", ID=game.id, KEY=application.key))["token"]
        read_to_end(pieces_of(stream))
    views = [site.http.get(game.path, headers={"Authorization": f"Bearer {each}"}) for each in (token, game.tokens[0])]
    assert [each.status_code for each in views] == [200, 401]


def test_a_suspended_application_is_refused_and_its_games_go(site: Site, application: Application) -> None:
    game = application.create(PEOPLE)
    with application.http.stream("GET", "/v1/feed", headers={"Accept": "text/event-stream"}) as feed:
        printed = site.operator.run("suspend-app", ID=application.id)
        read_to_end(feed.iter_bytes())
    answer = application.http.get("/v1/app")
    assert (answer.status_code, answer.json()["reason"]) == (401, "app_suspended")
    assert f"{game.id}  " in printed
    assert "domino-service: 1 games deleted" in printed
    assert status_of(Table(site.http, game.created)) == 410
    site.operator.run("resume-app", ID=application.id)
    until(lambda: application.http.get("/v1/app").status_code == 200)


def test_a_person_is_erased_from_the_games_of_an_application(site: Site, application: Application) -> None:
    game = application.create(PEOPLE)
    person = "/v1/players/user-1"
    until(lambda: application.http.get(person).status_code == 200)
    printed = site.operator.run("erase-person", REF="user-1", KEY=application.key)
    assert re.search("^(200|404)$", printed, re.MULTILINE)
    until(lambda: application.http.get(person).status_code == 404)
    assert [each["name"] for each in game.view()["players"]] == ["Player 1", "Bo"]
