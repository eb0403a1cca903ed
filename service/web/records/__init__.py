"""Records and fairness of matches: read, verified, replayed."""
