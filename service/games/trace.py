"""The trace of the request that is handled, or of the one from which the work that is done followed.

Owns how a process knows it: each request, and each piece of work, is in a thread or greenlet of its own. Which trace a
game has is stored with it, so that what follows from a request is known by the same one in another process.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

TRACE: Final = ContextVar("trace", default="")
"""The id of the trace of W3C Trace Context, 32 hexadecimal digits; empty without one, or where it is not sampled."""


def trace_headers(span: bytes) -> dict[str, str]:
    """Return the header ``traceparent`` of a request to somebody else; none without a trace.

    ``span``: 8 random bytes.
    """
    trace = TRACE.get()
    return {"traceparent": f"00-{trace}-{span.hex()}-01"} if trace else {}
