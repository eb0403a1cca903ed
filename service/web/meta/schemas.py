"""The schemas of responses about the service itself."""

from __future__ import annotations

from importlib.metadata import version

from marshmallow import Schema, fields

from service.web.fields.strict import doc


class HealthSchema(Schema):
    """The state of the service."""

    status = fields.String(required=True, metadata=doc("Always `ok`.", example="ok"))


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


class ServiceIndexSchema(ServiceVersionSchema):
    """The service, where its resources are, each a path, and where others can reach it."""

    contract = fields.String(required=True, metadata=doc("The OpenAPI document.", example="/openapi.yaml"))
    docs = fields.String(required=True, metadata=doc("The document as a page, to try it.", example="/docs"))
    variants = fields.String(required=True, metadata=doc("The variants.", example="/v1/variants"))
    games = fields.String(required=True, metadata=doc("Where games are created.", example="/v1/games"))
    problems = fields.String(required=True, metadata=doc("What every error means.", example="/problems"))
    addresses = fields.List(
        fields.String(),
        required=True,
        metadata=doc(
            "The URLs at which others can reach the service, the best one first: `PUBLIC_URL`, or else the addresses "
            "of the machine in a home network; empty where the service does not know any.",
            example=["http://192.0.2.7:8000"],
        ),
    )
