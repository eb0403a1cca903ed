"""The stores of the service in memory, whose clock and faults a test controls; contract tests compare them with Redis.

Nothing but tests imports them.
"""
