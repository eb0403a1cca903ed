"""What RFC 9112 requires of the head of a request, beyond what gunicorn checks.

Owns what else is refused. Imported before gevent patches the standard library.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gunicorn.http.errors import InvalidHeader

_HOST: Final = re.compile(r"(?:[\w.~!$&'()*+,;=%-]+|\[[\w.~:%-]+\])(?::[0-9]{0,5})?", re.ASCII)
"""A name or an address, and perhaps a port, by the characters that may occur in them."""
_HTTP_1_1: Final = (1, 1)
_CODINGS: Final = ("chunked", "identity")


def check_head(request: Any) -> None:
    """Raise gunicorn's ``InvalidHeader`` for a head that the service does not accept; lower a version above 1.1.

    A request has a valid ``Host``, which only HTTP/1.0 may leave out (RFC 9112, 3.2). gunicorn refuses a second one.
    It accepts bodies that are compressed on the way, which nobody would decompress (RFC 9112, 6.1).
    """
    host = None
    for name, value in request.headers:
        if name == "HOST":
            host = value
        elif name == "TRANSFER-ENCODING" and not all(
            coding.strip(" \t").lower() in _CODINGS for coding in value.split(",")
        ):
            raise InvalidHeader(name)
    if (host is None and request.version >= _HTTP_1_1) or (host is not None and not _HOST.fullmatch(host)):
        raise InvalidHeader("HOST")
    # The answer has the newest version that the service knows (RFC 9110, 2.5).
    request.version = min(request.version, _HTTP_1_1)
