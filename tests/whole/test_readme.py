"""README and pages are true: their sessions are played against a service, and their settings are looked up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from service.config import SETTINGS
from tests.support.serving import ROOT, Service
from tests.support.waiting import PATIENCE
from tests.vectors.verifiers import node_or_skip
from tests.whole.table import Table

pytestmark = pytest.mark.gate

README = ROOT / "README.md"
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
SETTINGS_PAGE = ROOT / "docs" / "operations" / "configure.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

SCRIPT = re.compile(r"^<!-- script: ([a-z.-]+) -->\n```(?:js|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^<!-- session: ([a-z-]+) -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"^<!-- not run: (\S.*) -->\n(?=```sh\n)", re.MULTILINE)
"""Above a session that no test runs: the reason."""
TESTS = [file.read_text("utf-8") for file in sorted(Path(__file__).parent.glob("test_*.py"))]
PLAYED_ELSEWHERE = {ROOT / "docs" / "fairness.md"}
"""Its two commands run the programs that ``tests/vectors`` runs on many documents."""


def text_of(*pages: Path) -> str:
    return "\n".join([page.read_text("utf-8") for page in pages])


def sessions(*pages: Path) -> dict[str, str]:
    """The shell sessions of these pages by their names."""
    found: list[tuple[str, str]] = SESSION.findall(text_of(*pages))
    assert len(dict(found)) == len(found)
    return dict(found)


def lines_printed_by(script: str, folder: Path, url: str, **environ: str) -> list[str]:
    """The lines that this script prints when it is run in ``folder`` against the service at ``url``."""
    run = subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=folder,
        env={"DOMINO": url, "PATH": "/usr/local/bin:/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def played(name: str, service: Service, folder: Path) -> list[str]:
    """The lines that a session of the guide prints."""
    guide = sessions(*GUIDE)
    return lines_printed_by(guide["setup"] + guide[name], folder, service.url)


def test_the_match_of_the_readme_is_played_to_its_end(service: Service, tmp_path: Path) -> None:
    view, *moves, score = lines_printed_by(sessions(README)["match"], tmp_path, service.url)
    assert json.loads(view)["you"]["seat"] == 0
    card = json.loads(score)
    assert card["status"] == "finished"
    assert card["winners"]
    assert len(moves) > 10


def test_an_open_seat_is_taken_with_the_join_code(service: Service, tmp_path: Path) -> None:
    before, after, own, spectator = played("join", service, tmp_path)
    assert (before, after, spectator) == ("waiting", "playing", "")
    assert len(json.loads(own)) == 7


def test_strangers_sit_down_at_one_table_and_it_fills(service: Service, tmp_path: Path) -> None:
    assert played("strangers", service, tmp_path) == ["true", "false", "playing", "casual"]


def test_a_move_sent_twice_is_made_once_and_an_unchanged_view_is_304(service: Service, tmp_path: Path) -> None:
    first, second, unchanged = played("stale", service, tmp_path)
    assert [first.strip(), second, unchanged] == ["201", "412 stale_version", "304"]


def test_a_request_repeated_with_its_key_is_answered_again(service: Service, tmp_path: Path) -> None:
    first, *again = played("retry", service, tmp_path)
    assert len(json.loads(first)["seats"]) == 2
    assert again == [first, first]


def test_a_game_is_followed_to_its_end(service: Service, tmp_path: Path) -> None:
    last_type, last_version, asked_again = played("follow", service, tmp_path)
    assert (last_type, asked_again) == ("finished", "204")
    assert int(last_version) > 20


def test_the_view_is_polled_until_somebody_moves(service: Service, tmp_path: Path) -> None:
    unchanged, version = played("poll-view", service, tmp_path)
    assert (unchanged, int(version) > 2) == ("304", True)


def test_a_game_has_computer_players(service: Service, tmp_path: Path) -> None:
    assert played("bots", service, tmp_path) == ["Rosa", "Emil", "greedy"]


def test_a_player_leaves_and_comes_back_and_claims_too_early(service: Service, tmp_path: Path) -> None:
    deadline, *answers = played("absence", service, tmp_path)
    assert datetime.fromisoformat(deadline) > datetime.now(UTC)
    assert answers == ["true", "", "deadline_not_passed"]


def test_the_table_is_read_and_drawn(service: Service, tmp_path: Path) -> None:
    tile, place, text, listing, kind = played("board", service, tmp_path)
    assert json.loads(tile).keys() > json.loads(place).keys() == {"x", "y", "rotation"}
    assert text.startswith("Three tiles")
    assert (listing.count("-"), listing.count("*")) == (3, 1)
    assert kind == "image/svg+xml"


def script(name: str) -> str:
    """A program of the guide."""
    scripts: dict[str, str] = dict(SCRIPT.findall(text_of(*GUIDE)))
    return scripts[name]


def test_every_program_of_the_guide_is_run() -> None:
    shown = re.findall(r"^```(?:js|python)$", text_of(*GUIDE), re.MULTILINE)
    assert len(SCRIPT.findall(text_of(*GUIDE))) == len(shown) == 2


def test_the_browser_and_the_python_program_follow_the_same_match(
    service: Service, http: httpx.Client, tmp_path: Path
) -> None:
    table = Table.create(http, "domino", 2, options={"limit": 1})
    game = f"{service.url}{table.path}"
    (tmp_path / "events.mjs").write_text(http.get("/client/events.js").text)
    programs = {
        # Node does not import from a URL; a browser does.
        "page.mjs": script("follow.mjs").replace('new URL("/client/events.js", base)', '"./events.mjs"')
        + f"""
const shown = {{}};
await Promise.all({json.dumps(list(table.tokens.values()))}.map(
  (token) => play({json.dumps(game)}, token, (view) => {{ shown[view.you.seat] = view.status; }})));
console.log(shown[0], shown[1]);
""",
        "screen.py": script("follow.py")
        + f"""
views = list(follow({game!r}, {table.tokens[0]!r}))
print(views[0]["status"], views[-1]["status"], views[-1]["you"]["seat"])
""",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    screen = subprocess.Popen([sys.executable, "screen.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        page = subprocess.run(
            [node_or_skip(), "page.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (page.stdout, page.stderr) == ("finished finished\n", "")
        assert screen.communicate(timeout=PATIENCE)[0].split()[1:] == ["finished", "0"]
    finally:
        screen.kill()
        screen.wait()
    assert table.view()["status"] == "finished"


def test_a_replaced_token_is_revoked(service: Service, tmp_path: Path) -> None:
    assert played("rotate", service, tmp_path) == ["401", "200"]


def test_a_deal_is_checked_and_a_match_kept_and_continued(service: Service, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    commitments, *printed, arranged = played("fairness", service, tmp_path)
    assert json.loads(commitments)[0]["round"] == 1
    text = "\n".join(printed).lower()
    for wanted in ("round 1: holds", "verified", r"wins? the match"):
        assert re.search(wanted, text)
    assert arranged == "true"


@pytest.mark.nightly
def test_a_player_learns_by_hints_and_a_review(service: Service, tmp_path: Path) -> None:
    text, begun, given_away, luck = played("learning", service, tmp_path)
    assert text.endswith(".")
    assert begun == "202"
    assert float(given_away) >= 0
    assert float(luck) != 0


def test_two_tables_have_the_same_deal(service: Service, tmp_path: Path) -> None:
    hand, other = played("duplicate", service, tmp_path)
    assert len(json.loads(hand)) == 7
    assert other == hand


def is_played(session: str) -> bool:
    """Whether a test names this session."""
    return any([f'"{session}"' in each for each in TESTS])


def test_every_shell_session_of_the_documents_is_played() -> None:
    """Or there is a reason above it; ``test_operations_commands.py`` says more of the pages on operations."""
    pages = [page for page in PAGES if page not in PLAYED_ELSEWHERE]
    named = [name for page in pages for name in sessions(page)]
    assert [name for name in named if not is_played(name)] == []
    text = text_of(*pages)
    assert text.count("```sh\n") == len(named) + len(NOT_RUN.findall(text))


def test_the_table_of_settings_is_the_list_of_settings() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\S+) \| (.*) \|$", text_of(SETTINGS_PAGE), re.MULTILINE)
    assert rows == [(each.name, f"`{each.default}`" if each.default else "none", each.meaning) for each in SETTINGS]
