"""Writes the OpenAPI document from the routes, their descriptions and the marshmallow schemas: ``make openapi``.

The service does not depend on it: it serves the files that this writes.
"""
