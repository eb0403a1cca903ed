"""The marshmallow schemas of bodies, queries and responses."""
