"""Redis or Valkey itself: one server, Sentinel or a Cluster, its calls, errors and clock, the keys, and the scripts.

Owns one Lua script for each write. Does not depend on HTTP, games or applications: what they store is opaque here, and
how they use it is in their own ``store`` modules.
"""
