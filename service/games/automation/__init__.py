"""Work without a request: moves of computer players, deadlines, and the removal of deleted games from memory."""
