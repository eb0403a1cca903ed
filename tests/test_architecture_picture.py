"""The picture of the architecture shows the import contracts as they are."""

from __future__ import annotations

from xml.etree import ElementTree

from docs.draw_architecture import CAPTIONS, PICTURE, ROOT, panels, picture


def test_the_picture_is_what_the_contracts_say() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "run python -m docs.draw_architecture"


def test_every_module_of_the_service_is_in_the_picture() -> None:
    shown = {element.text for element in ElementTree.fromstring(picture()).iter("{http://www.w3.org/2000/svg}text")}
    modules = {
        path.stem for path in (ROOT / "service").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert modules - {"__init__"} <= shown


def test_every_package_has_a_caption() -> None:
    packages = {path.parent.name for path in (ROOT / "service").glob("*/__init__.py")}
    assert packages <= CAPTIONS.keys()
    assert packages <= {name for layer in panels()[0].layers for name in layer}
