"""The descriptions of the operations, attached to their handlers, and the OpenAPI document, as the files to serve.

The files are written by ``tools.openapi``, from the routes, these descriptions and the marshmallow schemas.
"""
