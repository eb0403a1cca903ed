"""Responses and their headers: JSON by orjson, ETags, caching.

Owns the headers of each kind of response, and the cache of responses that are computed from the history of a game. Does
not depend on the content of a response.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Container, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import Any, Final

import orjson
from flask import Response

from service.bounded_cache import BoundedCache
from service.games.access import Access
from service.games.model.views import GameView
from service.texts import Language
from service.web.http.errors import current_environ
from service.web.http.headers import accepts_gzip, etag_in, etag_matches, negotiate

JSON: Final = "application/json"
TEXT: Final = "text/plain"
HTML: Final = "text/html"
SVG: Final = "image/svg+xml"
YAML: Final = "application/yaml"
JAVASCRIPT: Final = "text/javascript"
IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""``Cache-Control`` of a response that never changes at its URL."""
_REPLAYED: Final = [("Idempotent-Replayed", "true")]
_VARY: Final = ("Vary", "Authorization, Accept, Accept-Language")
_JSON_TYPE: Final = ("Content-Type", JSON)
_PRIVATE_NO_CACHE: Final = ("Cache-Control", "private, no-cache")
_NO_STORE: Final = ("Cache-Control", "no-store")
_PRIVATE_FOR_MINUTES: Final = ("Cache-Control", "private, max-age=300")
_SMALLEST_COMPRESSED: Final = 1024
"""Size of the smallest public body that is compressed, in bytes: about that of the headers of a response."""
_PICTURE_POLICY: Final = ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
_OK: Final = "200 OK"
_CREATED: Final = "201 CREATED"
_ACCEPTED: Final = "202 ACCEPTED"
_NOT_MODIFIED: Final = "304 NOT MODIFIED"


@dataclass(slots=True, eq=False, repr=False)  # the body may contain a token
class RawResponse:
    """A response that nothing changes: a WSGI application that sends these headers and this body.

    Most responses are of this kind. Flask's ``Response`` parses its headers so that they can be changed, and processes
    them again when it is sent. For a GET of a game that returns 304, this would be a fifth of the cost.
    """

    status: str
    headers: list[tuple[str, str]]
    body: bytes | None = None

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Send the response as a WSGI application; without the body for ``HEAD``."""
        if self.body is None:
            start_response(self.status, self.headers)
            return ()
        start_response(self.status, [*self.headers, ("Content-Length", str(len(self.body)))])
        return () if environ["REQUEST_METHOD"] == "HEAD" else (self.body,)


def ok(value: Any, *, etag: str | None = None, language: Language | None = None) -> RawResponse:
    """Return a 200 response with a value as JSON, private to its viewer; caches must revalidate it before each use.

    ``language``: the language of its texts for people, if it has any; it becomes a part of the ETag.
    """
    return ok_json(orjson.dumps(value), etag=None if etag is None else etag_in(etag, language), language=language)


def ok_json(body: bytes, *, etag: str | None = None, language: Language | None = None) -> RawResponse:
    """Return the same response as ``ok`` for a serialized value; ``etag`` is sent unchanged."""
    return RawResponse(_OK, [_JSON_TYPE, *_viewer_headers(etag, language)], body)


def plain(body: bytes, *, etag: str, media_type: str = TEXT, file_name: str | None = None) -> RawResponse:
    """Return a 200 response with text in UTF-8, private to its viewer; browsers save it as ``file_name``."""
    headers = [("Content-Type", f"{media_type}; charset=utf-8"), *_viewer_headers(etag)]
    if file_name is not None:
        headers.append(("Content-Disposition", f'inline; filename="{file_name}"'))
    return RawResponse(_OK, headers, body)


def picture(body: bytes, *, etag: str, language: Language, is_fixed: bool) -> RawResponse:
    """Return a 200 response with an SVG document, private to its viewer, which may load and run nothing.

    ``language``: the language of its texts.
    ``is_fixed``: it never changes at its URL, so that clients may reuse it for some minutes without revalidation.
    """
    headers = [("Content-Type", SVG), ("Content-Language", language), *_picture_headers(etag, is_fixed=is_fixed)]
    return RawResponse(_OK, headers, body)


def picture_not_modified(etag: str, *, is_fixed: bool) -> RawResponse:
    """Return a 304 response with the headers of a picture, as they replace those that the client has stored."""
    return RawResponse(_NOT_MODIFIED, _picture_headers(etag, is_fixed=is_fixed))


def _picture_headers(etag: str, *, is_fixed: bool) -> list[tuple[str, str]]:
    caching = _PRIVATE_FOR_MINUTES if is_fixed else _PRIVATE_NO_CACHE
    return [_PICTURE_POLICY, caching, _VARY, ("ETag", f'"{etag}"')]


def conditional(etag: str, make: Callable[[], bytes], language: Language | None = None) -> RawResponse:
    """Return a 200 response with the JSON from ``make``, or 304 if the client has this version.

    ``language``: the language of its texts for people, if it has any; it becomes a part of the ETag.
    """
    negotiate(JSON)
    if language is not None:
        etag = etag_in(etag, language)
    return not_modified(etag) if etag_matches(etag) else ok_json(make(), etag=etag, language=language)


def created(value: Any, view: GameView, *, replayed: bool, language: Language | None = None) -> RawResponse:
    """Return a 201 response with the ``view`` after a write, as ``value``; ``language`` as for ``ok``."""
    etag = view.etag if language is None else etag_in(view.etag, language)
    headers = [_JSON_TYPE, _PRIVATE_NO_CACHE, _VARY, ("ETag", f'"{etag}"'), _location_header(f"/v1/games/{view.id}")]
    if language is not None:
        headers.append(("Content-Language", language))
    return RawResponse(_CREATED, headers + _REPLAYED if replayed else headers, orjson.dumps(value))


def accepted(value: Any, *, replayed: bool) -> RawResponse:
    """Return a 202 response with a value: the work will be done later."""
    headers = [_JSON_TYPE, _NO_STORE]
    return RawResponse(_ACCEPTED, headers + _REPLAYED if replayed else headers, orjson.dumps(value))


def accepted_without_body(location: str | None = None) -> RawResponse:
    """Return a 202 response without a body: the work will be done later; ``location``: where its result will be."""
    return RawResponse(_ACCEPTED, [] if location is None else [_location_header(location)], b"")


def not_ready(value: Any, seconds: int) -> RawResponse:
    """Return a 202 response: the work is not done yet, and the client should retry after ``seconds``."""
    return RawResponse(_ACCEPTED, [_JSON_TYPE, _NO_STORE, ("Retry-After", str(seconds))], orjson.dumps(value))


def streamed(chunks: Iterable[bytes], media_type: str, language: Language | None = None) -> Response:
    """Return a 200 response with an endless body, which is sent in chunks and which no proxy may buffer."""
    headers = [("Content-Type", media_type), ("X-Accel-Buffering", "no"), *_viewer_headers(None, language)]
    return Response(chunks, 200, headers)


def not_modified(etag: str) -> RawResponse:
    """Return a 304 response: the client has this version."""
    return RawResponse(_NOT_MODIFIED, _viewer_headers(etag))


def allow(methods: Iterable[str]) -> Response:
    """Return a 204 response to ``OPTIONS``, with the methods that are allowed."""
    response = Response(status=204, headers={"Allow": ", ".join(sorted(methods))})
    del response.headers["Content-Type"]
    return response


def no_content() -> RawResponse:
    """Return a 204 response: the work is done, and there is no result."""
    return RawResponse("204 NO CONTENT", [])


def created_secret(value: Any, location: str, *, replayed: bool, language: Language | None = None) -> RawResponse:
    """Return a 201 response with tokens or other secrets, which no cache may store."""
    headers = [_JSON_TYPE, _location_header(location), _NO_STORE]
    if language is not None:
        headers.append(("Content-Language", language))
    return RawResponse(_CREATED, headers + _REPLAYED if replayed else headers, orjson.dumps(value))


def public(body: bytes, media_type: str, language: Language | None = None) -> Response:
    """Return a public response that changes only with a new version of the service; its ETag is a digest of the body.

    ``language``: the language of its texts, if the client can choose it.
    """
    etag = etag_of(body)
    response = Response(status=304) if etag_matches(etag) else Response(body, mimetype=media_type)
    response.headers["ETag"] = f'"{etag}"'
    response.headers["Cache-Control"] = "public, no-cache"
    response.headers["Vary"] = "Accept, Accept-Language"
    if language is not None:
        response.headers["Content-Language"] = language
    return compress(response)


def etag_of(body: bytes) -> str:
    """Return the ETag of a body: a digest of it."""
    return sha256(body).hexdigest()[:32]


def shared(body: bytes) -> RawResponse:
    """Return a 200 response with JSON for all clients without a token, or 304 if the client has it.

    It is not compressed, as it changes often.
    """
    etag = etag_of(body)
    headers = [("ETag", f'"{etag}"'), ("Cache-Control", "public, no-cache"), _VARY]
    return RawResponse(_NOT_MODIFIED, headers) if etag_matches(etag) else RawResponse(_OK, [_JSON_TYPE, *headers], body)


def compress(response: Response) -> Response:
    """Compress a public response with gzip if the client accepts it.

    The ETag is then weak, as it is the same with and without compression. Responses that are not the same for everybody
    are never compressed. If one contains a secret, and also a text that somebody else has chosen, such as the name of a
    player, its compressed length reveals whether the two have something in common (the BREACH attack). Besides, views
    change with each move, so each would be compressed anew.
    """
    response.vary.add("Accept-Encoding")
    if response.status_code in (200, 304) and accepts_gzip():
        etag, _ = response.get_etag()
        if etag is not None:
            response.set_etag(etag, weak=True)
        if response.status_code == 200:
            response.direct_passthrough = False
            body = response.get_data()
            if len(body) >= _SMALLEST_COMPRESSED:
                response.set_data(_compressed(body))
                response.headers["Content-Encoding"] = "gzip"
    return response


@lru_cache(maxsize=256)
def _compressed(body: bytes) -> bytes:
    """Compress a public body; cached, as there are only some hundred: one for each URL, language and media type."""
    return gzip.compress(body, 9, mtime=0)


def _viewer_headers(etag: str | None, language: Language | None = None) -> list[tuple[str, str]]:
    headers = [_PRIVATE_NO_CACHE, _VARY]
    if etag is not None:
        headers.append(("ETag", f'"{etag}"'))
    if language is not None:
        headers.append(("Content-Language", language))
    return headers


def _location_header(path: str) -> tuple[str, str]:
    """Return ``Location`` for a path of the service, relative to the current one, so that it works below any prefix."""
    requested: str = current_environ()["PATH_INFO"]
    return "Location", "../" * (requested.count("/") - 1) + path.removeprefix("/")


# Responses that are computed from the history of a game, cached by its version and their viewer.


_MAX_CONCURRENT: Final = 64
"""Maximum number of bodies that are computed at the same time."""
MAX_CACHE_BYTES: Final = 16 * 1024 * 1024
"""Size of the cache of a process; a body that is larger than a quarter of it is not cached."""
Key = tuple[str, *tuple[Hashable, ...]]
"""The id of a game, and values that distinguish the responses about this game."""


class ResponseCache:
    """A cache of the bodies of responses by key; evicts the least recently used ones first."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bodies = BoundedCache[Key, bytes](max_bytes, weigh=len)
        self._locks = [Lock() for _ in range(_MAX_CONCURRENT)]

    def get(self, key: Key, make: Callable[[], bytes]) -> bytes:
        """Return the body of this key, from ``make`` if it is not cached.

        Of several callers at the same time, only one calls ``make``; the others wait for the result.
        """
        with self._locks[hash(key) % _MAX_CONCURRENT]:
            body = self._bodies.use(key)
            if body is None:
                body = make()
                if len(body) <= self._max_bytes // 4:
                    self._bodies.put(key, body)
            return body

    def forget(self, games: Container[str]) -> None:
        """Drop the bodies of responses about these games."""
        self._bodies.drop(lambda key, _: key[0] in games)


def cached_body(cache: ResponseCache, access: Access, name: str, make: Callable[[], bytes]) -> bytes:
    """Return the body of the response ``name`` for the viewer of a game, from ``make`` if it is not cached."""
    return cache.get((access.game.id, name, access.game.write_id, access.etag), make)


def cached_json(cache: ResponseCache, access: Access, name: str, serialize: Callable[[], Any]) -> RawResponse:
    """Return a 200 response with the result of ``serialize`` as JSON, cached, or 304 if the client has this version."""
    return conditional(access.etag, lambda: cached_body(cache, access, name, lambda: orjson.dumps(serialize())))
