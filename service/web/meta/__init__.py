"""``/``, ``/version``, ``/healthz``, ``/readyz`` and the document: the service itself."""
