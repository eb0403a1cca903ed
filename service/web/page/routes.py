"""The page at ``/`` and its files below ``/client/``, which other web pages can import as well.

The URL of a file contains a digest of all files, so that browsers can cache it permanently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

import orjson
from flask import Blueprint, Response, abort

from service.texts import LANGUAGES, page_texts, text
from service.web.http.responses import HTML, IMMUTABLE, JAVASCRIPT, JSON, public
from service.web.quotas import limit_reads
from service.web.services import current_services

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html"
)
"""The Content-Security-Policy of the page; ``lit-html`` is the policy that the library of that name registers."""

_FOLDER: Final = Path(__file__).parents[2] / "client"
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".js": JAVASCRIPT,
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
"""Media types by suffix; a file with another suffix is not served."""

_DIGEST: Final = re.compile(r"[0-9a-f]{16}")

blueprint: Final = Blueprint("client", __name__)


def page() -> Response:
    """Return the page on which people play."""
    response = public(_index(), HTML)
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response


@blueprint.get("/client/<path:name>")
def show_file(name: str) -> Response:
    """Return a file of the page.

    ``name`` may begin with a digest of all files. With the current digest, caches may store the file permanently. With
    that of another version of the service, the response is the current file, which caches must revalidate.
    """
    limit_reads(current_services().limits, 1)
    digest, _, rest = name.partition("/")
    if not _DIGEST.fullmatch(digest):
        return _file(name)
    response = _file(rest)
    if digest == files_digest():
        response.headers["Cache-Control"] = IMMUTABLE
    return response


def _file(name: str) -> Response:
    file = _files().get(name)
    if file is None:
        abort(404)
    return public(*file)


@cache
def files_digest() -> str:
    """Return a digest of the names and contents of all files."""
    digest = sha256()
    for name, (content, _) in sorted(_files().items()):
        digest.update(b"%b\0%d\0%b" % (name.encode(), len(content), content))
    return digest.hexdigest()[:16]


@cache
def _index() -> bytes:
    """Return the page with its languages, and with the messages that it shows without JavaScript or texts.

    The URLs of its files contain the digest of all files, except that of the manifest, whose own URLs are relative.
    """
    values = {
        "{client}": f"client/{files_digest()}",
        "{languages}": " ".join(LANGUAGES),
        "{needs_javascript}": _in_every_language("page.table.common.needsJavaScript"),
        "{unreachable}": _in_every_language("page.table.common.unreachable"),
    }
    page = (_FOLDER / "index.html").read_text("utf-8")
    for name, value in values.items():
        page = page.replace(name, escape(value))
    return page.encode()


def _in_every_language(key: str) -> str:
    return " / ".join([text(key, language) for language in LANGUAGES])


@cache
def _files() -> Mapping[str, tuple[bytes, str]]:
    """Return the content and the media type of every file that is served, by its path below ``/client/``."""
    texts = {
        f"texts/{language}/{part}.json": (orjson.dumps(content), JSON)
        for language in LANGUAGES
        for part, content in page_texts(language).items()
    }
    return texts | {
        path.relative_to(_FOLDER).as_posix(): (path.read_bytes(), _MEDIA_TYPES[path.suffix])
        for path in _FOLDER.rglob("*")
        if path.suffix in _MEDIA_TYPES
    }
