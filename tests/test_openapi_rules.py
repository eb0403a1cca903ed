"""Rules of the document without which a generated client does not compile, or does less than the service.

Each rule is shown a broken copy of the document, too, so that it is known to find what it looks for.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.contract import METHODS, committed

Document = dict[str, Any]
Rule = Callable[[Document], list[str]]

DOCUMENT: Document = committed().document
NO_KEY = ("/v1/verifications", "/v1/replays")
"""Operations that change nothing: repeating them needs no ``Idempotency-Key``."""
COUNTS_MORE = ("Verification",)
"""Schemas whose ``more`` is a number, of what is left out."""
NO_EXAMPLE = ("Accept-Language", "Idempotency-Key", "If-None-Match", "Last-Event-ID")
"""Headers of requests that have no example."""
APPLICATION: dict[str, list[str]] = {"application": []}


def operations(document: Document, part: str = "paths") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every operation of a part of the document, by its method and address."""
    for path, item in document[part].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


def shared_tags(document: Document) -> list[str]:
    """Generators make a class of each tag: that of the messages would be written over that of the requests."""
    tags = [{tag for _, each in operations(document, part) for tag in each["tags"]} for part in ("paths", "webhooks")]
    return sorted(tags[0] & tags[1])


def share_a_tag(document: Document) -> None:
    document["webhooks"]["game.turn"]["post"]["tags"] = ["games"]


def constructors(document: Document) -> list[str]:
    """In Go the constructor of ``Webhook`` is ``NewWebhook``, which no schema may be called."""
    schemas = document["components"]["schemas"]
    return [name for name in schemas if f"New{name}" in schemas]


def take_the_name_of_a_constructor(document: Document) -> None:
    document["components"]["schemas"]["NewWebhook"] = {"type": "object"}


def marked_outputs(document: Document) -> list[str]:
    """What the service sends has the plain name; what it takes ends in ``In``."""
    return [name for name in document["components"]["schemas"] if name.endswith("Out")]


def mark_an_output(document: Document) -> None:
    document["components"]["schemas"]["GameOut"] = {"type": "object"}


def unlike_made(document: Document) -> list[str]:
    """What a POST has made is called ``Created``, or is the game with what the request has changed in it."""
    made = {where: answered(each, "201") for where, each in operations(document)}
    return [where for where, name in made.items() if name not in ("", "Game") and not name.startswith("Created")]


def make_without_a_name(document: Document) -> None:
    answer = document["paths"]["/v1/webhooks"]["post"]["responses"]["201"]
    answer["content"]["application/json"]["schema"]["$ref"] = "#/components/schemas/Webhook"


def unlike_lists(document: Document) -> list[str]:
    """A whole list is called ``List``, a part of a longer one ``Page``; the other names are for single things."""
    schemas = document["components"]["schemas"]
    listed = {answered(each, "200") for _, each in operations(document) if each["operationId"].startswith("list")}
    parts = {name for name in schemas if {"next", "more"} & schemas[name].get("properties", {}).keys()}
    pages = {name for name in parts if name not in COUNTS_MORE}
    return sorted(
        [name for name in listed if not name.endswith(("List", "Page"))]
        + [name for name in pages if not name.endswith("Page")]
    )


def list_without_a_name(document: Document) -> None:
    answer = document["paths"]["/v1/webhooks"]["get"]["responses"]["200"]
    answer["content"]["application/json"]["schema"]["$ref"] = "#/components/schemas/Webhook"


def answered(operation: dict[str, Any], status: str) -> str:
    """The schema of the answer of this status; empty without one."""
    content = operation["responses"].get(status, {}).get("content", {}).get("application/json", {})
    reference: str = content.get("schema", {}).get("$ref", "")
    return reference.rpartition("/")[2]


def own_names(document: Document) -> list[str]:
    """A property called like its class has two types in a class of Python, unless it is a plain word or number."""
    return [
        f"{name}.{prop}"
        for name, schema in document["components"]["schemas"].items()
        for prop, value in schema.get("properties", {}).items()
        if prop.replace("_", "") == name.lower()
        and (
            value.get("type") not in ("string", "number", "integer", "boolean")
            or {"enum", "format", "nullable"} & value.keys()
        )
    ]


def name_a_property_like_its_class(document: Document) -> None:
    document["components"]["schemas"]["Turn"]["properties"]["turn"] = {"type": "array", "items": {"type": "integer"}}


def untyped(document: Document) -> list[str]:
    """Without a type a property is a hidden union; only the default and the values of an option are one."""
    return [
        f"{name}.{prop}"
        for name, schema in document["components"]["schemas"].items()
        for prop, value in schema.get("properties", {}).items()
        if name not in ("OptionSchema", "OptionValue") and not {"type", "$ref", "allOf"} & value.keys()
    ]


def leave_out_a_type(document: Document) -> None:
    del document["components"]["schemas"]["Game"]["properties"]["version"]["type"]


def unsigned(document: Document) -> list[str]:
    """A typed client sends a key only where ``security`` says so."""
    return [
        where
        for where, each in operations(document)
        if where.startswith("POST ")
        and re.search(r"key of an application|for the application", each["description"])
        and APPLICATION not in each["security"]
    ]


def take_no_key_for_a_new_game(document: Document) -> None:
    document["paths"]["/v1/games"]["post"]["security"] = []


def unusual_choices(document: Document) -> list[str]:
    """Who needs no token comes first, so that a client does not ask for one."""
    return [where for where, each in operations(document) if {} in each["security"] and each["security"][0] != {}]


def ask_for_a_key_first(document: Document) -> None:
    document["paths"]["/v1/games"]["post"]["security"] = [APPLICATION, {}]


def unlike_a_new_game(document: Document) -> list[str]:
    """What anyone may do, and an application as itself, is said as for a new game."""
    return [
        where
        for where, each in operations(document)
        if {} in each["security"] and {"seat": []} not in each["security"] and each["security"] != [{}, APPLICATION]
    ]


def take_any_scheme_for_a_new_game(document: Document) -> None:
    document["paths"]["/v1/games"]["post"]["security"] = [{}, {"other": []}]


def unrepeatable(document: Document) -> list[str]:
    """Every POST that changes something can be repeated safely."""
    return [
        where
        for where, each in operations(document)
        if where.startswith("POST ")
        and where.removeprefix("POST ") not in NO_KEY
        and "Idempotency-Key" not in [parameter["name"] for parameter in each.get("parameters", ())]
    ]


def forget_an_idempotency_key(document: Document) -> None:
    document["paths"]["/v1/webhooks"]["post"]["parameters"] = []


def other_shapes(document: Document) -> list[str]:
    """``to_act`` is a list of seats everywhere; what an application calls their players is told beside it."""
    properties = {name: each.get("properties", {}) for name, each in document["components"]["schemas"].items()}
    return [
        f"{name}.{prop}"
        for name, each in properties.items()
        for prop, items in (("to_act", {"type": "integer"}), ("waiting_for", {"$ref": "#/components/schemas/SeatRef"}))
        if prop in each and (each[prop]["type"], each[prop]["items"]) != ("array", items)
    ] + [f"{name}.waiting_for" for name, each in properties.items() if "waiting_for" in each and "to_act" not in each]


def tell_refs_in_to_act(document: Document) -> None:
    document["components"]["schemas"]["FeedItem"]["properties"]["to_act"]["items"] = {
        "$ref": "#/components/schemas/SeatRef"
    }


def silent_on_language(document: Document) -> list[str]:
    """Every problem is told in a language, which its header names."""
    return [
        f"{where} {status}"
        for where, each in operations(document)
        for status, answer in each["responses"].items()
        if "application/problem+json" in answer.get("content", {})
        and not answer.get("headers", {}).get("Content-Language", {}).get("required")
    ]


def say_no_language(document: Document) -> None:
    del document["paths"]["/v1/games/{game}"]["get"]["responses"]["404"]["headers"]["Content-Language"]


def unlike_items(document: Document) -> list[str]:
    """Every item of either stream is a ``StreamItem``, which both name, and which demands no more than all have."""
    schemas = document["components"]["schemas"]
    item = schemas["StreamItem"]
    unlike = [
        f"{name}.{prop}"
        for name in ("GameEvent", "FeedItem")
        for prop, value in schemas[name]["properties"].items()
        if _shape(item["properties"].get(prop)) != _shape(value)
    ]
    return [
        *unlike,
        *([] if item["required"] == ["type", "version"] else ["StreamItem.required"]),
        *(
            f"{where} {media_type}"
            for where, each in operations(document)
            for media_type, content in each["responses"].get("200", {}).get("content", {}).items()
            if media_type in ("application/x-ndjson", "text/event-stream")
            and content["schema"].get("contentSchema") != {"$ref": "#/components/schemas/StreamItem"}
        ),
    ]


def views_without_sentence(document: Document) -> list[str]:
    """Every answer with a view has its sentence where ``text=true`` asks for it."""
    schemas = document["components"]["schemas"]
    game = {"$ref": "#/components/schemas/Game"}
    with_view = {name for name, each in schemas.items() if game.items() <= each["properties"].get("game", {}).items()}
    return [
        where
        for where, each in operations(document)
        if {answered(each, "200"), answered(each, "201")} & {"Game", *with_view}
        and "text" not in [parameter["name"] for parameter in each.get("parameters", ())]
    ]


def take_no_text_with_a_move(document: Document) -> None:
    document["paths"]["/v1/games/{game}/moves"]["post"]["parameters"] = [
        {"in": "header", "name": "Idempotency-Key", "schema": {"type": "string"}}
    ]


def _shape(value: dict[str, Any] | None) -> dict[str, Any]:
    told = ("$ref", "type", "format", "items")
    return {name: each for name, each in (value or {}).items() if name in told}


def forget_a_field_of_an_event(document: Document) -> None:
    schemas = document["components"]["schemas"]
    del schemas["StreamItem"]["properties"]["data"]
    schemas["StreamItem"]["required"].append("at")
    del document["paths"]["/v1/feed"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"][
        "contentSchema"
    ]


def unfit_examples(document: Document) -> list[str]:
    """A tool that sends the examples of headers sends a precondition that holds, and no key that others have, too."""
    return [
        f"{where} {each['name']}"
        for where, operation in operations(document)
        for each in operation.get("parameters", ())
        if each["in"] == "header" and each.get("example") != (None if each["name"] in NO_EXAMPLE else "*")
    ]


def share_a_key(document: Document) -> None:
    (key,) = [
        each for each in document["paths"]["/v1/games"]["post"]["parameters"] if each["name"] == "Idempotency-Key"
    ]
    key["example"] = "0b6e0b5c-6f3f-4c4e-9d0e-2f6a3b1c7d5e"


RULES: list[tuple[Rule, Callable[[Document], None], list[str]]] = [
    (shared_tags, share_a_tag, ["games"]),
    (constructors, take_the_name_of_a_constructor, ["Webhook"]),
    (marked_outputs, mark_an_output, ["GameOut"]),
    (other_shapes, tell_refs_in_to_act, ["FeedItem.to_act"]),
    (silent_on_language, say_no_language, ["GET /v1/games/{game} 404"]),
    (unlike_made, make_without_a_name, ["POST /v1/webhooks"]),
    (unlike_lists, list_without_a_name, ["Webhook"]),
    (own_names, name_a_property_like_its_class, ["Turn.turn"]),
    (untyped, leave_out_a_type, ["Game.version"]),
    (unsigned, take_no_key_for_a_new_game, ["POST /v1/games"]),
    (unusual_choices, ask_for_a_key_first, ["POST /v1/games"]),
    (unlike_a_new_game, take_any_scheme_for_a_new_game, ["POST /v1/games"]),
    (unrepeatable, forget_an_idempotency_key, ["POST /v1/webhooks"]),
    (
        unlike_items,
        forget_a_field_of_an_event,
        ["GameEvent.data", "StreamItem.required", "GET /v1/feed text/event-stream"],
    ),
    (views_without_sentence, take_no_text_with_a_move, ["POST /v1/games/{game}/moves"]),
    (unfit_examples, share_a_key, ["POST /v1/games Idempotency-Key"]),
]


def test_the_document_keeps_every_rule() -> None:
    wrong = [f"{rule.__name__}: {name}" for rule, _, _ in RULES for name in rule(DOCUMENT)]
    assert not wrong, "\n".join(wrong)


def test_every_rule_finds_what_it_looks_for() -> None:
    for rule, spoil, found in RULES:
        broken = copy.deepcopy(DOCUMENT)
        spoil(broken)
        assert rule(broken) == found, rule.__name__
