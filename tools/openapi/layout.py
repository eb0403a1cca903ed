"""How the document is written: compactly enough for a person to read it.

Owns what several operations share, and which objects and lists stand on one line. Neither changes what the document
says, and neither depends on it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import yaml

_WIDTH: Final = 120
_SMALL: Final = 104
"""The most characters of an object or a list that stands on one line."""
_SMALL_IN_EXAMPLE: Final = 400
"""The same in an example, whose lines are broken where they are full."""
_METHODS: Final = ("get", "put", "post", "delete", "patch")
_INLINE: Final = ("Idempotency-Key",)
"""Parameters that stay with their operations: a program that looks for them by name need not resolve references."""
_SHARED: Final = ("responses", "headers", "parameters", "examples")
"""The components that ``share`` makes and ``resolve`` puts back."""


class Example(NamedTuple):
    """An example, which is written more compactly than the rest of the document."""

    value: Any


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and objects and lists that are small on one line."""

    _most_characters = _SMALL

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 # PyYAML's signature
        return True

    def represent_example(self, example: Example) -> yaml.Node:
        self._most_characters = _SMALL_IN_EXAMPLE
        node = self.represent_data(example.value)
        self._most_characters = _SMALL
        return node

    def represent_text(self, text: str) -> yaml.Node:
        return self.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = self._is_small(node)
        return node

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = self._is_small(node)
        return node

    def _is_small(self, node: yaml.CollectionNode) -> bool:
        length = _length_of_parts(node)
        return length is not None and length <= self._most_characters


_Dumper.add_representer(Example, _Dumper.represent_example)
_Dumper.add_representer(str, _Dumper.represent_text)


def _length_of_parts(node: yaml.CollectionNode) -> int | None:
    """Return the characters of its entries on one line, about; ``None`` if one of them has several lines."""
    total = 0
    for entry in node.value:
        for part in entry if isinstance(entry, tuple) else (entry,):
            length = _length(part)
            if length is None:
                return None
            total += length + len(", ")
    return total


def _length(node: yaml.Node) -> int | None:
    if isinstance(node, yaml.CollectionNode):
        return _length_of_parts(node) if node.flow_style else None
    return None if "\n" in node.value else len(node.value)


def to_yaml(document: dict[str, Any]) -> str:
    """Return the document as YAML, in the order of its keys."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def share(document: dict[str, Any]) -> None:
    """Move the headers, parameters, examples and answers 304 that occur more than once to the components.

    Of several with one name, the one that occurs most often has the name, and the others stay where they are.
    """
    components = document["components"]
    operations = [*_operations(document["paths"]), *_operations(document["webhooks"])]
    answers = [each["responses"] for each in operations]
    _move(answers, components, "responses", lambda status, _: "NotModified" if status == "304" else None)
    responses = [*components["responses"].values(), *(each for answer in answers for each in answer.values())]
    _move([each["headers"] for each in responses if "headers" in each], components, "headers", _header_name)
    owners = [each for each in (*operations, *document["paths"].values()) if "parameters" in each]
    parameters = [dict(enumerate(each["parameters"])) for each in owners]
    _move(parameters, components, "parameters", _parameter_name)
    for owner, moved in zip(owners, parameters, strict=True):
        owner["parameters"] = list(moved.values())


def resolve(part: Any, document: dict[str, Any] | None = None) -> Any:
    """Return a document, or a part of one, with components in place of references to them, but for schemas."""
    if isinstance(part, list):
        return [resolve(each, document or {}) for each in part]
    if not isinstance(part, dict):
        return part
    if document is None:
        document = part
        components = {name: each for name, each in part["components"].items() if name not in _SHARED}
        part = {**part, "components": components}
    reference = re.fullmatch(r"#/components/(\w+)/(\w+)", str(part.get("$ref")))
    if reference is not None and reference[1] in _SHARED:
        return resolve(document["components"][reference[1]][reference[2]], document)
    return {name: resolve(each, document) for name, each in part.items()}


def _operations(paths: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in paths.values():
        for method in _METHODS:
            if method in item:
                yield item[method]


def _header_name(header: str, value: dict[str, Any]) -> str:
    return ("" if value.get("required") else "Optional") + header.replace("-", "")


def _parameter_name(_: int, parameter: dict[str, Any]) -> str | None:
    if parameter["name"] in _INLINE:
        return None
    return "".join([word[:1].upper() + word[1:] for word in re.split(r"[-_]", parameter["name"])])


def _move(
    places: list[dict[Any, Any]],
    components: dict[str, Any],
    section: str,
    name_of: Callable[[Any, dict[str, Any]], str | None],
) -> None:
    """Replace the values of these objects that occur more than once by references to a section of the components."""
    shared = components.setdefault(section, {})
    counts = Counter([json.dumps([name_of(key, value), value]) for place in places for key, value in place.items()])
    names: dict[str, str] = {}
    for content, count in counts.most_common():
        name, value = json.loads(content)
        if name is not None and count > 1 and "$ref" not in value and name not in shared:
            shared[name] = value
            names[content] = name
    for place in places:
        for key, value in place.items():
            content = json.dumps([name_of(key, value), value])
            if content in names:
                place[key] = {"$ref": f"#/components/{section}/{names[content]}"}
