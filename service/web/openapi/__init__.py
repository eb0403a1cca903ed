"""The OpenAPI document, written from the routes, their descriptions and the marshmallow schemas."""
