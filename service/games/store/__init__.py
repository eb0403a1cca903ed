"""How a game is kept: its stored form, the cache of a process, transactions and repeated requests."""
