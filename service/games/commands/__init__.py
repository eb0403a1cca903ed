"""The commands, which change a game: one decision a function, committed as a whole."""
