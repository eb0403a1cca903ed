"""The OpenAPI document, as the files to serve: ``tools.openapi`` writes them from the routes and their operations."""
