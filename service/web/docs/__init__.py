"""``/docs``: Swagger UI."""
