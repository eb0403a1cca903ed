"""A run of the service without an external Redis: for development and small private use, not for production.

Owns the processes of such a run: ``embedded`` starts a Redis or Valkey as a child process on a data folder,
``supervisor`` runs it together with gunicorn. Does not depend on what is served. With ``REDIS_URL`` set neither runs:
gunicorn then serves alone, with ``server/gunicorn_conf.py``.
"""
