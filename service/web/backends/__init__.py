"""``/v1/apps`` and ``/v1/app``: applications and their keys."""
