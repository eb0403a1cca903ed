"""Signed HTTP requests to URLs that users give.

Owns which addresses are allowed, how a request is sent within a time limit, and how it is signed. Does not depend on
the content of requests, nor on when they are sent or repeated. Works in threads and, where the standard library is
patched, with gevent.
"""
