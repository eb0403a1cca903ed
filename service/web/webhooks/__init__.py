"""The endpoints of an application, and the messages to them."""
