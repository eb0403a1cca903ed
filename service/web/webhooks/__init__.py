"""``/v1/webhooks``: the endpoints of an application."""
