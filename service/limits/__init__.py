"""The limits of what an address, a network or an application may use.

Owns the counts in Redis, and what they are compared with. Does not depend on HTTP, or on what is counted.
"""
