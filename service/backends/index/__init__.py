"""What is known of the games of a backend beside the games: lists, lobbies, people and the feed."""
