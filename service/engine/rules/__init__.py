"""The named answers that recipes are made of, one question a file.

An answer that only one game gives stands in that game's file, not here.
"""
