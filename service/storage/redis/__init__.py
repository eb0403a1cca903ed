"""The connection to Redis or Valkey: one server, Sentinel or a Cluster, its calls, errors and clock."""
