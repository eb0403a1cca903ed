"""What changes a game: one decision a function, committed as a whole."""
