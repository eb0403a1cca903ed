"""The storage of games: their stored form, the cache of a process, transactions and repeated requests."""
