"""A stateless game server that deals, referees and counts fifteen domino games over HTTP."""
