"""The processes beside the web server: they do what is due in games without anybody's request.

The *bot worker* makes the moves of computer players, the *scheduler* handles deadlines that have passed. Both take
reminders, look at the game and commit at the version that they saw, so that any number of them may run, and any of them
may be killed at any time. The *messenger* takes reminders too, and notifies applications of their games.

Owns when that is done: no other part asks computer players for the moves of hosted games. Does not depend on how a move
is chosen.
"""
