"""A stateless game server that deals, referees and counts sixteen domino games over HTTP."""
