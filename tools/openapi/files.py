"""The files of the OpenAPI document, and what is in each of them.

Owns their places. ``openapi.yaml`` at the top of the project is for readers and generators of clients; those in
``service`` are a part of the package, which serves them as they are; so is the text for assistants.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from tools.openapi.assistants import text_for_assistants
from tools.openapi.document import document
from tools.openapi.example_app import example_app
from tools.openapi.examples import record_examples
from tools.openapi.layout import share, to_yaml

ROOT: Final = Path(__file__).parent.parent.parent
DOCUMENT: Final = ROOT / "openapi.yaml"
SERVED: Final = ROOT / "service" / "web" / "openapi"
SERVED_YAML: Final = SERVED / "openapi.yaml"
SERVED_JSON: Final = SERVED / "openapi.json"
SERVED_TEXT: Final = SERVED / "llms.txt"

_YAML_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast one, if PyYAML was built with libyaml."""


def build_files() -> dict[Path, bytes]:
    """Return the content of each file; the same in every run, unless the service has changed."""
    with example_app() as example:
        described = document(example.app, record_examples(*example))
    share(described)
    text = to_yaml(described)
    as_yaml = text.encode()
    as_json: bytes = orjson.dumps(yaml.load(text, _YAML_LOADER))  # noqa: S506 # a safe loader
    for_assistants = text_for_assistants(orjson.loads(as_json), len(as_yaml), len(as_json)).encode()
    return {DOCUMENT: as_yaml, SERVED_YAML: as_yaml, SERVED_JSON: as_json, SERVED_TEXT: for_assistants}
