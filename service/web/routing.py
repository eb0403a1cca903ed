"""Which route an address is: Werkzeug's answer, found without rubbish.

Werkzeug follows an address by a function that calls itself from its own closure. That is a circle of references, left
behind by every request, which only the collector can free, and it stops all clients of the worker to do so. Here the
plain routes, whose parts are words or one string each, are looked up; everything else — other routes, addresses that
are none, methods that a route has not — is left to Werkzeug. Must not know any route.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from werkzeug.routing import Map, MapAdapter, Rule

_VARIABLE = re.compile(r"<(\w+)>")


class _Shape(NamedTuple):
    """A plain route: which of its parts are which words, and which are taken under which names."""

    rule: Rule
    words: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]


class PlainRouteMap(Map):
    """Werkzeug's map of addresses. A part that is a word goes before one that is taken, as there."""

    _shapes: dict[tuple[str, int], list[_Shape]] | None = None
    """The plain routes by method and number of parts, once they were needed."""

    def add(self, rulefactory: Any) -> None:
        """Add a route or several."""
        super().add(rulefactory)
        self._shapes = None

    def bind_to_environ(self, environ: Any, server_name: str | None = None, subdomain: str | None = None) -> MapAdapter:
        """The map for one request."""
        bound = super().bind_to_environ(environ, server_name, subdomain)
        return PlainMapAdapter(
            self,
            bound.server_name,
            bound.script_name,
            bound.subdomain,
            bound.url_scheme,
            bound.path_info,
            bound.default_method,
            bound.query_args,
        )

    def find(self, method: str, path: str) -> tuple[Rule, dict[str, str]] | None:
        """The plain route of an address with what it takes, or ``None`` where it is for Werkzeug to say."""
        if self._shapes is None:
            self._shapes = _by_size(self)
        parts = path.split("/")
        for rule, words, names in self._shapes.get((method, len(parts)), ()):
            if all([parts[place] == word for place, word in words]) and all([parts[place] for place, _ in names]):
                return rule, {name: parts[place] for place, name in names}
        return None


class PlainMapAdapter(MapAdapter):
    """The map for one request: a plain route is looked up."""

    map: PlainRouteMap

    def match(self, *arguments: Any, **named: Any) -> Any:
        """The route and what it takes; raises what Werkzeug raises."""
        if not arguments and named == {"return_rule": True} and not self.websocket:  # as Flask asks
            found = self.map.find(self.default_method, self.path_info)
            if found is not None:
                return found
        return super().match(*arguments, **named)


def _by_size(routes: Map) -> dict[tuple[str, int], list[_Shape]]:
    shapes: dict[tuple[str, int], list[_Shape]] = {}
    for rule in routes.iter_rules():
        shape = _shape(rule)
        if shape is not None:
            for method in rule.methods or ():
                shapes.setdefault((method, rule.rule.count("/") + 1), []).append(shape)
    for found in shapes.values():
        found.sort(key=lambda shape: len(shape.names))
    return shapes


def _shape(rule: Rule) -> _Shape | None:
    """``None`` for a route that is not plain."""
    words, names = [], []
    for place, part in enumerate(rule.rule.split("/")):
        variable = _VARIABLE.fullmatch(part)
        if variable is not None:
            names.append((place, variable[1]))
        elif "<" in part:
            return None
        else:
            words.append((place, part))
    return None if rule.redirect_to or rule.defaults or rule.alias else _Shape(rule, tuple(words), tuple(names))
