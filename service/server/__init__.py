"""The parts that gunicorn loads: its settings and the worker.

Owns how requests are read from connections, and responses written to them. Does not depend on the application.
"""
