"""The background processes, which do what is due in games without a request.

The *bot worker* makes the moves of computer players. The *scheduler* handles deadlines that have passed. The
*messenger* notifies applications of their games. They lease reminders, read the game, and commit at the version that
they read, so any number of them can run, and any of them can be killed at any time.

Owns when this is done: no other package requests moves of computer players in hosted games. Does not depend on how a
move is chosen.
"""
