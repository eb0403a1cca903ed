"""What the use cases return, as JSON objects. The schemas describe them, which tests check."""
