"""The index of the games of applications: lists, lobbies, people and the feed."""
