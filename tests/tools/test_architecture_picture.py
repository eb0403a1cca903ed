"""The picture of the architecture and its table of layers show the packages as they are."""

from __future__ import annotations

import re

from tools.draw_architecture import PICTURE, ROOT, panels, picture


def test_the_picture_is_what_the_contracts_say() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "run python -m tools.draw_architecture"


def test_the_table_of_layers_has_a_row_for_every_module_from_the_bottom_up() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = page.partition("## The layers\n")[2].partition("\n\nInside the engine")[0]
    named = [name for cell in re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE) for name in re.findall("`(.*?)`", cell)]
    layers = list(reversed(panels()[0].layers))
    assert sorted(named) == sorted(name for layer in layers for name in layer)
    heights = {name: height for height, layer in enumerate(layers) for name in layer}
    assert [heights[name] for name in named] == sorted(heights.values())
