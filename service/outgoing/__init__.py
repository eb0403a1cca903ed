"""Signed HTTP requests to addresses that strangers give.

Owns which addresses are spoken to, how a request is sent there within a time limit, and how it is signed. Does not
depend on what is sent, when, or how often it is repeated. Works in threads and, where the standard library is patched,
with gevent.
"""
