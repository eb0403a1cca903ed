"""The floor: what Flask, gunicorn and Redis cost before anything is known of a game.

One read and one script on a value as long as a game's, and as many bytes in the answer. How long they are stands in
the id of each of its "games", so that the floor keeps nothing and looks nothing up.
"""
