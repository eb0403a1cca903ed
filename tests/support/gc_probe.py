"""The real application with one more route: how many objects only the cyclic collector could free since the last call.

The automatic collector is switched off.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from typing import Any

from service.bootstrap import web


def create() -> Callable[..., Iterable[bytes]]:
    """The application that gunicorn serves."""
    application = web.create()
    gc.disable()

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/garbage":
            return application(environ, start_response)
        body = json.dumps({"objects": gc.collect()}).encode()
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return answer
