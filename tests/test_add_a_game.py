"""The files in ``docs/add-a-game.md`` are those of the game."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_shows_the_file_of_the_game_as_it_is() -> None:
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    source = (ROOT / "service" / "engine" / "variants" / "block.py").read_text("utf-8")
    assert f"```python\n{source}```" in page


def test_the_page_shows_the_texts_of_the_game_as_they_are() -> None:
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    texts = (ROOT / "service" / "texts" / "en" / "games" / "block.json").read_text("utf-8")
    assert f"```json\n{texts}```" in page
