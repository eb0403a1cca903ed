"""The endpoints of applications, their states, and the messages that are delivered to them."""
