"""The stores of tests: games in memory, whose clock and faults a test controls, and all else on real servers."""
