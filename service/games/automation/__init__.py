"""Events of games without a request: what is due, and how processes hear of it."""
