"""The named answers that recipes are made of, one question a file.

An answer that is too much one game's own to have a name stands in that game's file.
"""
