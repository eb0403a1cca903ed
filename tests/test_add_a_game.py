"""The file in ``docs/add-a-game.md`` is that of the game."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_shows_the_file_of_the_game_as_it_is() -> None:
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    source = (ROOT / "service" / "engine" / "variants" / "block.py").read_text("utf-8")
    assert f"```python\n{source}```" in page
