"""The commands, which change a game. Each is a decision: a function of the game, committed in one write."""
