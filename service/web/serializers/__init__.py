"""What the use cases return, as JSON objects. The schemas describe them; tests hold both together."""
