"""A hosted game as a value: seats, clocks and versions, and what follows from them."""
