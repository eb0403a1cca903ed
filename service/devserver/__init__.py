"""A run of the service without an external Redis: for development and small private use, not for production.

Owns the processes of such a run: ``embedded`` starts Redis or Valkey as a child process on a data folder, and
``supervisor`` runs it together with gunicorn. Does not depend on the application. If ``REDIS_URL`` is set, neither is
used: gunicorn serves alone, with ``server/gunicorn_conf.py``.
"""
