"""The queries, which read a game and change nothing."""
