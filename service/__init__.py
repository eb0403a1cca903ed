"""A stateless game server that deals, referees and counts seventeen domino games over HTTP."""
