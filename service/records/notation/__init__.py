"""The notation of events, results and tiles in the lines of a record: formatting and scanning.

Does not depend on records, files or HTTP.
"""
