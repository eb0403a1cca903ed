"""Why there is no embedded server. The messages are for the person who starts the service.

Owns these errors. Light to import.
"""

from __future__ import annotations


class EmbeddedServerError(Exception):
    """There is no embedded server; the message is for the person who starts the service."""


class NoServerFound(EmbeddedServerError):
    """Neither the PATH nor the Python environment contains a server."""


class FolderInUse(EmbeddedServerError):
    """Another process owns the folder, or it cannot be written."""


class DidNotStart(EmbeddedServerError):
    """The server was started but did not answer; the message ends with the tail of its log."""
