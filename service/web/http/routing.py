"""Werkzeug's routing without a reference cycle for each request.

Werkzeug 3.1 matches a path by a function that calls itself through its own closure: a reference cycle, and eight
objects left to the garbage collector by every request (docs/adr/0003-route-matching.md). Here the routes whose parts
are static or plain strings are matched by a loop over Werkzeug's own table. Everything else is left to Werkzeug: other
routes, paths without a route, and methods that a route does not have. Owns how a path is matched. Does not depend on
any route.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from werkzeug.routing import BaseConverter, Map, Rule
from werkzeug.routing.matcher import StateMachineMatcher

_PLAIN: Final = r"(?P<__werkzeug_0>[^/]{1,})\Z"
"""Werkzeug's pattern of a part that is a variable without a converter."""


class Matcher(StateMachineMatcher):
    """Werkzeug's, but a plain route leaves no reference cycle."""

    def match(self, domain: str, path: str, method: str, websocket: bool) -> tuple[Rule, MutableMapping[str, Any]]:
        """The route and its variables. Raises as Werkzeug's."""
        state = self._root
        values = []
        for part in (domain, *path.split("/")):
            next_state = state.static.get(part)
            if next_state is None:
                if not part or len(state.dynamic) != 1 or state.dynamic[0][0].content != _PLAIN:
                    break
                next_state = state.dynamic[0][1]
                values.append(part)
            state = next_state
        else:
            for rule in state.rules:
                if method in (rule.methods or ()) and not (websocket or rule.defaults or rule.alias):
                    return rule, dict(zip(rule._converters, values, strict=True))  # noqa: SLF001 # rule.arguments is unordered
        return super().match(domain, path, method, websocket)


class RefConverter(BaseConverter):
    """A ``ref`` at the end of a path: any characters, also slashes, wherever they are."""

    regex = ".+"
    part_isolating = False


def add_converters(routes: Map) -> None:
    """Let routes of a map name the kinds of variables that are of this service."""
    routes.converters["ref"] = RefConverter


def match_plain_routes(routes: Map) -> None:
    """Make a map that has no routes yet use ``Matcher``."""
    routes._matcher = Matcher(routes.merge_slashes)  # noqa: SLF001 # the map has no option for it
