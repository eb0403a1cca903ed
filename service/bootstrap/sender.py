"""Build the sender of requests to the URLs of applications.

Separate from ``web``, so that a messenger does not import the web application.
"""

from __future__ import annotations

from importlib.metadata import version

from service.config import Settings
from service.outgoing.sender import Sender


def build_sender(settings: Settings) -> Sender:
    """Return the sender, with the networks and the proxy in the settings."""
    return Sender(
        f"domino-service/{version('domino-service')}",
        networks=settings.webhook_networks,
        proxy=settings.webhook_proxy,
    )
