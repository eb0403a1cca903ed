"""What happens in a game without a request: what is due, and how processes hear of it."""
