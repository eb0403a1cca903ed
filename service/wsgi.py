"""What a WSGI server imports: ``service.wsgi:create()``."""

from __future__ import annotations

import os

from flask import Flask

from service.bootstrap import build_app
from service.config import Settings


def create() -> Flask:
    """The application for the settings of the environment."""
    return build_app(Settings.from_environ(os.environ))
