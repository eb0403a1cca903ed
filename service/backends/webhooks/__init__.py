"""The endpoints of a backend: their states, the messages to them, and the attempts to deliver these."""
