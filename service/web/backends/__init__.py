"""``/v1/app``: an application and its keys."""
