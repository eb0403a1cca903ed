"""The floor: what Flask, gunicorn and Redis cost before anything is known of a game.

A move and a read are one read and one script on a value as long as a game's, and as many bytes in the answer. How long
they are stands in the id of each of these stand-ins, so that the floor keeps nothing and looks nothing up.

A game is created in earnest, as bytes alone would leave out what creating a game is: the body is validated by a schema,
tiles are shuffled and dealt, seats get tokens, and what is stored and answered is JSON.
"""
