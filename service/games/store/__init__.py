"""The storage of games: stored format, cache of a process, transactions, repeated requests, and Redis itself."""
