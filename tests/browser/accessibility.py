"""The rules of axe-core for WCAG 2.2 AA and best practice, applied to what a page shows now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

RUN = f"""
  const options = {{ runOnly: {{ type: "tag", values: {list(TAGS)} }}, resultTypes: ["violations"] }};
  return (await axe.run(options)).violations;"""
"""The body of an asynchronous function, to be run after the script of axe-core."""

Axe = Callable[[Page], list[str]]
"""The type of the fixture ``axe``."""


def violations(page: Page, source: str) -> list[str]:
    """What is broken, a sentence for each element; ``source`` is the script of axe-core."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(source)
    return sentences(page.evaluate(f"(async () => {{ {RUN} }})()"))


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def sentences(found: list[dict[str, Any]]) -> list[str]:
    """A sentence for each element that breaks one of the rules."""
    return [_sentence(rule, node) for rule in found for node in rule["nodes"]]


def _sentence(rule: dict[str, Any], node: dict[str, Any]) -> str:
    where = " ".join(str(target) for target in node["target"])
    why = " ".join(node["failureSummary"].split())
    return f"{rule['id']} ({rule['impact']}) at {where}: {rule['help']}. {why} {node['html']}"
