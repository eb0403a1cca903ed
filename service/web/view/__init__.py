"""The view of a game, which many resources show."""
