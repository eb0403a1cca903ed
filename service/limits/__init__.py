"""Limits on what an address, a network or an application may use.

Owns the counts, in Redis and in memory, and their limits. Does not depend on HTTP, or on what is counted.
"""
