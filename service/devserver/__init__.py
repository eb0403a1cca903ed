"""Runs the service without an external Redis: for development and small private use, not for production.

``embedded`` starts a Redis or Valkey as a child process on a data folder; ``supervisor`` runs it together with
gunicorn. With ``REDIS_URL`` set neither runs: gunicorn then serves alone, with ``server/gunicorn_conf.py``.
"""
