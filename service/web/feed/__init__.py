"""``/v1/feed``: what has happened in all games of an application."""
