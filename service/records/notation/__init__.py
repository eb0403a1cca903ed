"""Events, results and tiles as text, formatting and scanning: the lines of a record.

Owns how each is written and read. Does not depend on records, files or HTTP.
"""
