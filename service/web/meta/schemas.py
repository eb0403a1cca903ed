"""The schemas of responses about the service itself."""

from __future__ import annotations

from importlib.metadata import version

from marshmallow import Schema, fields

from service.web.fields.strict import doc


class ServiceVersionSchema(Schema):
    """The version of the service."""

    name = fields.String(required=True, metadata=doc("The name of the service.", example="Domino"))
    version = fields.String(
        required=True, metadata=doc("The version of the service.", example=version("domino-service"))
    )
    engine = fields.String(
        required=True,
        metadata=doc(
            "Which build of the engine runs: `pure`, the Python sources, or `compiled`, machine code made of the same "
            "sources. Both play alike; the compiled one is faster.",
            example="pure",
        ),
    )
    api_level = fields.Integer(
        required=True,
        metadata=doc(
            "What this server can: it rises by one with every addition to `/v1`, and never falls in a newer version. "
            "The table in the changelog says what came with which.",
            minimum=1,
            example=1,
        ),
    )
