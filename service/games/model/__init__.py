"""A hosted game as a value: seats, clock, versions, and pure functions of them."""
