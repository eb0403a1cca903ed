"""The parts that gunicorn loads: its settings, the worker, and the application.

Owns how a request is read from its connection and the answer is written to it. Does not depend on what is served.
"""
