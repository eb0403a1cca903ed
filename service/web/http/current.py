"""The WSGI environment of the request that is handled.

Owns where it is kept: ``LeanFlask`` sets it for as long as Flask has its request. Flask's ``request`` is found through
a proxy, which takes ten times as long; a move looks at its environment a dozen times.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

ENVIRON: Final = ContextVar[dict[str, Any]]("environ")
"""Set only while a request is handled, so that a connection that waits for the next one keeps nothing of the last."""

current_environ: Final[Callable[[], dict[str, Any]]] = ENVIRON.get
"""The environment of the current request. Raises ``LookupError`` where there is none."""
