"""Records and fairness reports of matches: read, verify and replay them."""
