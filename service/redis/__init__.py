"""Access to Redis or Valkey: one server, Sentinel or a Cluster; calls, errors, clock, keys and scripts.

Owns the Lua scripts, one for each write, and the names of keys. Does not depend on HTTP, games or applications. Their
own ``store`` modules encode values and call the scripts.
"""
