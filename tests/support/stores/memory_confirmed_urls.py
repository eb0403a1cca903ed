"""The in-memory counterpart of the confirmed URLs in Redis. The same contract tests run over both."""

from __future__ import annotations

from collections import defaultdict

from service.backends.ports import CONFIRMED_MS, MOST_CONFIRMED, ConfirmedUrls


class MemoryConfirmedUrls(ConfirmedUrls):
    """Keeps URLs as ``RedisConfirmedUrls`` does, for as long as the process lives."""

    def __init__(self) -> None:
        self._urls: dict[str, dict[str, int]] = defaultdict(dict)

    def is_confirmed(self, app: str, url: str, now: int) -> bool:
        """Whether the URL has answered lately."""
        at = self._urls[app].get(url)
        return at is not None and now < at + CONFIRMED_MS

    def confirm(self, app: str, url: str, now: int) -> None:
        """Note that the URL has answered now."""
        urls = self._urls[app]
        urls[url] = now
        for oldest in sorted(urls, key=lambda each: urls[each])[:-MOST_CONFIRMED]:
            del urls[oldest]
