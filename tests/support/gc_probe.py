"""The real application, and beside it an address that says how much only the collector could free since it was asked.

Nothing else makes the collector run.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from typing import Any

from service import wsgi


def create() -> Callable[..., Iterable[bytes]]:
    """What gunicorn is given."""
    application = wsgi.create()
    gc.disable()

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/rubbish":
            return application(environ, start_response)
        body = json.dumps({"objects": gc.collect()}).encode()
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return answer
