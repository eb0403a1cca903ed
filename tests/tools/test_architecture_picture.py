"""The picture of the architecture and its tree of layers show the packages as they are."""

from __future__ import annotations

import re

from tools.draw_architecture import PICTURE, ROOT, panels, picture


def test_the_picture_is_what_the_contracts_say() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "run python -m tools.draw_architecture"


def test_the_tree_has_a_line_for_every_module_from_the_bottom_up() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    tree = page.partition("## The layers\n")[2].partition("```text\nservice/\n")[2].partition("```")[0]
    named = re.findall(r"^  ([a-z_]+)/? ", tree, re.MULTILINE)
    layers = list(reversed(panels()[0].layers))
    assert sorted(named) == sorted(name for layer in layers for name in layer)
    heights = {name: height for height, layer in enumerate(layers) for name in layer}
    assert [heights[name] for name in named] == sorted(heights.values())
