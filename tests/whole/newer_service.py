"""A service as a later release may be: each object in its answers has a field more than the document names.

``/v1`` only grows, so that a client of today has to pass over such a field. What a client sends back as it stands, as a
legal move, may have it: the later service would know it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from tests.whole.web_proxy import WebProxy

ADDED: Final = "added_later"
_VALUE: Final = {"of": ["a later", 1]}
_MAPS: Final = {"properties"}
"""Objects whose keys are data: a field there would be one entry more."""


def newer_service(url: str) -> WebProxy:
    """Return what stands before the service at ``url``, and seems to be a later release of it."""
    return WebProxy(url, asked=_changed(_without_field), answered=_changed(_with_field))


def _changed(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    return lambda body: orjson.dumps(change(orjson.loads(body))) if body[:1] in (b"{", b"[") else body


def _with_field(value: Any, name: str = "") -> Any:
    if isinstance(value, list):
        return [_with_field(each) for each in value]
    if isinstance(value, dict):
        changed = {key: _with_field(each, key) for key, each in value.items()}
        return changed if name in _MAPS else {**changed, ADDED: _VALUE}
    return value


def _without_field(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_field(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_field(each) for key, each in value.items() if key != ADDED}
    return value
