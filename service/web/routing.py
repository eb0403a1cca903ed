"""Werkzeug's routing without a reference cycle for each request.

Werkzeug 3.1 matches an address by a function that calls itself through its own closure: a reference cycle, and eight
objects left to the garbage collector by every request (docs/adr/0003-route-matching.md). Here the routes whose parts
are words or plain strings are matched by a loop over Werkzeug's own table; all else is left to Werkzeug: other routes,
addresses without a route, and methods that a route does not have. Does not depend on any route.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from werkzeug.routing import Map, Rule
from werkzeug.routing.matcher import StateMachineMatcher

_PLAIN: Final = r"(?P<__werkzeug_0>[^/]{1,})\Z"
"""Werkzeug's pattern of a part that is a variable without a converter."""


class Matcher(StateMachineMatcher):
    """Werkzeug's, but a plain route leaves no reference cycle behind."""

    def match(self, domain: str, path: str, method: str, websocket: bool) -> tuple[Rule, MutableMapping[str, Any]]:
        """The route and its variables; raises what Werkzeug raises."""
        state = self._root
        values = []
        for part in (domain, *path.split("/")):
            following = state.static.get(part)
            if following is None:
                if not part or len(state.dynamic) != 1 or state.dynamic[0][0].content != _PLAIN:
                    break
                following = state.dynamic[0][1]
                values.append(part)
            state = following
        else:
            for rule in state.rules:
                if method in (rule.methods or ()) and not (websocket or rule.defaults or rule.alias):
                    return rule, dict(zip(rule._converters, values, strict=True))  # noqa: SLF001 # rule.arguments has no order
        return super().match(domain, path, method, websocket)


def match_plain_routes(routes: Map) -> None:
    """Have a map that has no routes yet match by ``Matcher``."""
    routes._matcher = Matcher(routes.merge_slashes)  # noqa: SLF001 # no option of the map chooses it
