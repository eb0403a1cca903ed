"""Moves, events, score cards and tiles as text, both ways: the words of a record.

Owns how each is written and read. Does not depend on records, files or HTTP.
"""
