"""A stateless game server that deals, referees and counts five domino games over HTTP."""
