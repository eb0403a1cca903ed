"""The applications of a process, and what sends requests to the addresses that they give.

Owns which store and which setting each part gets.
"""

from __future__ import annotations

import os
from importlib.metadata import version

from service.backends.facade import BackendsFacade, Policy
from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing
from service.backends.index.people import People
from service.backends.keys import Backends
from service.backends.stored import StoredBytes
from service.backends.webhooks.endpoints import Webhooks
from service.bootstrap.storage import Storage
from service.config import Settings
from service.games.ports import EventFeed
from service.games.store.idempotency import Idempotency
from service.outgoing.sender import Sender
from service.storage.feed import RedisFeed


def build_backends(
    settings: Settings, storage: Storage, notifications: EventFeed, idempotency: Idempotency
) -> BackendsFacade:
    """Return the applications in this storage; ``notifications`` tell when a feed goes on.

    Keys and secrets of requests under an idempotency key are derived from the secrets of ``idempotency``.
    """
    clock = storage.clock
    return BackendsFacade(
        Backends(storage.backends, clock=clock, random_bytes=os.urandom, idempotency=idempotency),
        Webhooks(
            storage.webhooks,
            check_url=build_sender(settings).check,
            clock=clock,
            random_bytes=os.urandom,
            idempotency=idempotency,
        ),
        Listing(storage.game_index, storage.lobby, allowance=storage.reminders.heartbeats.allowance),
        Feeds(RedisFeed(storage.calls), notifications, clock),
        people=People(storage.game_index, storage.erasures),
        policy=Policy(
            needed_for_games=settings.games == "apps",
            stored=StoredBytes(storage.shares),
        ),
    )


def build_sender(settings: Settings) -> Sender:
    """Return what sends requests to addresses that strangers give, as the settings allow."""
    return Sender(
        f"domino-service/{version('domino-service')}",
        networks=settings.webhook_networks,
        proxy=settings.webhook_proxy,
    )
