"""Construction of the parts of every process.

Owns the choice of the adapters: no other package names one. Does not depend on the purpose of a process.
"""
