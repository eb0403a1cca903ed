"""What reads a game, and changes nothing."""
