"""What the document promises to typed clients that are generated from it."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from typing import Any

import pytest
from apispec.ext.marshmallow import resolver

from service.engine.moves import ACTIONS
from service.engine.variants import variants
from service.games.queries.catalogue import option_description
from service.records.parser import parse_record
from service.records.verification import verify
from service.records.writer import MEDIA_TYPE
from service.web.fields.strict import RequestSchema
from tests.support.contract import committed

DOCUMENT: dict[str, Any] = committed().document
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
MOVE = {"$ref": "#/components/schemas/Move"}

BUILTINS = [name for name in dir(builtins) if name[0].isupper()]

TAKEN: dict[str, str] = {
    "Python": " ".join([*keyword.kwlist, *keyword.softkwlist, *BUILTINS, "Any Dict List Optional Set Union"]),
    "TypeScript": """
        abstract any as asserts async await bigint boolean break case catch class const continue debugger declare
        default delete do else enum export extends false finally for from function get if implements import in infer
        instanceof interface is keyof let module namespace never new null number object of override package private
        protected public readonly require return satisfies set static string super switch symbol this throw true try
        type typeof undefined unique unknown using var void while with yield
        Array ArrayBuffer Attr Awaited BigInt Blob Boolean Cache Capitalize Client Comment DataView Date Document
        Element Error Event Exclude Extract File Function Generator Headers History Image Infinity Iterator JSON
        Location Lock Map Math Module NaN Node NonNullable Notification Number Object Omit Option Parameters Partial
        Pick Plugin Promise Proxy Range Readonly Record Reflect RegExp Report Request Required Response ReturnType
        Screen Selection Set Storage String Symbol Text Uncapitalize URL WeakMap WeakRef WeakSet Window Worker
    """,
    "Kotlin": """
        abstract actual annotation as break by catch class companion const constructor continue crossinline data
        delegate do dynamic else enum expect external false field file final finally for fun get if import in infix
        init inline inner interface internal is it lateinit noinline null object open operator out override package
        param private property protected public receiver reified return sealed set setparam super suspend tailrec this
        throw true try typealias typeof val value var vararg when where while
        Annotation Any Array Boolean Byte Char CharSequence Collection Comparable Deprecated Double Enum Error Exception
        Float Function Int Iterable Iterator Lazy List Long Map Metadata Nothing Number Pair Regex Result Sequence Set
        Short String Suppress Throwable Triple Unit
    """,
    "Swift": """
        actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet
        do dynamic else enum extension fallthrough false fileprivate final for func get guard if import in indirect
        infix init inout internal is lazy left let mutating nil none nonmutating open operator optional override
        postfix precedence precedencegroup prefix private protocol public repeat required rethrows return right self set
        some static struct subscript super switch throw throws true try type typealias unowned var weak where while
        willSet Any AnyObject Array Bool Bundle Character Class Codable Data Date Decimal Decodable Dictionary Double
        Encodable Encoder Equatable Error Float Hashable Index Int Locale Mirror Never Notification Operation Optional
        Process Progress Protocol Range Result Self Sendable Sequence Set StaticString Stride String Task Thread Timer
        Type URL UUID Unit Void
    """,
    "C#": """
        abstract as async await base bool break byte case catch char checked class const continue decimal default
        delegate do double dynamic else enum event explicit extern false field finally fixed float for foreach goto if
        implicit in int interface internal is lock long namespace new null object operator out override params partial
        private protected public readonly record ref required return sbyte sealed set short sizeof stackalloc static
        string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using value var virtual void
        volatile when where while yield
        Action Array Attribute Boolean Buffer Byte Char Comparer Console Convert DateTime Decimal Delegate Dictionary
        Directory Double Enum Environment Enumerable Exception File Func Guid HashSet IComparable Index Int32 Lazy List
        Lookup Math Monitor Nullable Object Parallel Path Predicate Progress Queue Random Range Single Stack Stream
        String Task Thread Timer Tuple Type Uri ValueType Version Void
    """,
    "Dart": """
        abstract as assert async await base break case catch class const continue covariant default deferred do dynamic
        else enum export extends extension external factory false final finally for function get hide if implements
        import in interface is late library mixin new null of on operator part required rethrow return sealed set show
        static super switch sync this throw true try type typedef var void when while with yield
        BigInt Comparable DateTime Deprecated Duration Enum Error Exception Expando Future Function Invocation Iterable
        Iterator List Map Match Never Null Object Pattern Record RegExp Runes Set Sink StackTrace Stopwatch Stream
        String Symbol Type Uri WeakReference
    """,
    "Rust": """
        abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if
        impl in let loop macro match mod mut override priv pub ref return self static struct super trait true try
        type typeof union unsafe unsized use virtual where while yield
        AsMut AsRef Box Clone Copy Debug Default Drop Eq Err Extend Fn FnMut FnOnce From Hash Into Iterator None Ok
        Option Ord Result Self Send Sized Some String Sync ToOwned ToString Unpin Vec
    """,
    "Ruby": """
        BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in module next nil
        not or redo rescue retry return self super then true undef unless until when while yield
        Array BasicObject Binding Class Comparable Complex Data Dir Encoding Enumerable Enumerator Errno Exception
        Fiber File Float Hash IO Integer Kernel Marshal Math Method Module Mutex Numeric Object Proc Process Queue
        Ractor Random Range Rational Regexp Set Signal String Struct Symbol Thread Time Warning
    """,
    "Go": """
        any append bool break byte cap case chan clear close comparable complex const continue copy default defer
        delete else error fallthrough false float32 float64 for func go goto if import imag int interface iota len make
        map max min new nil package panic print println range real recover return rune select string struct switch true
        type uint var
    """,
    "Java": """
        abstract assert boolean break byte case catch char class const continue default do double else enum exports
        extends final finally float for goto if implements import instanceof int interface long module native new
        non-sealed null open opens package permits private protected provides public record requires return sealed
        short static strictfp super switch synchronized this throw throws to transient transitive true try uses var
        void volatile when while with yield
        Appendable Boolean Byte Character Class Comparable Cloneable Deprecated Double Enum Error Exception Float
        Integer Iterable Long Math Module Number Object Override Package Process Readable Record Runnable Runtime Short
        String System Thread Throwable Void
    """,
    "PHP": """
        abstract and array as break callable case catch class clone const continue declare default die do echo else
        elseif empty enddeclare endfor endforeach endif endswitch endwhile enum eval exit extends false final finally
        float fn for foreach function global goto if implements include instanceof insteadof int interface isset
        iterable list match mixed namespace never new null object or parent print private protected public readonly
        require resource return self static string switch this throw trait true try unset use var void while xor yield
        ArrayAccess Closure Countable DateTime Directory Error Exception Generator Iterator Stringable Traversable
    """,
}
"""Words that a language reserves, or names that it gives every program without an import.

Without ``move``: no generator for Rust renames a type for it, and the contract has a ``Move``.
"""


def nodes(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document with its path, without the examples."""
    if isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            if name != "example":
                yield from nodes(each, f"{path}/{name}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from nodes(each, f"{path}/{place}")


def test_a_listed_move_and_the_body_of_a_move_are_of_one_schema() -> None:
    body = DOCUMENT["paths"]["/v1/games/{game}/moves"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"] == MOVE
    for schema, field in (("Game", "legal_moves"), ("MoveList", "legal_moves"), ("Problem", "legal_moves")):
        assert SCHEMAS[schema]["properties"][field]["items"] == MOVE
    assert not any(name.endswith("MoveIn") for name in SCHEMAS)


def test_a_move_requires_its_action_alone_and_lists_the_actions_in_words() -> None:
    move = SCHEMAS["Move"]
    assert move["required"] == ["action"]
    assert "additionalProperties" not in move
    assert set(move["properties"]) == {
        *("action", "tile", "end", "face_down", "outer", "version", "client_seed", "ends_sum", "points")
    }
    action = move["properties"]["action"]
    assert action["type"] == "string"
    assert "enum" not in action
    assert all(f"`{each}`" in action["description"] for each in ACTIONS)


@pytest.mark.parametrize("language", list(TAKEN))
def test_no_schema_has_a_name_that_a_language_takes(language: str) -> None:
    # Generators rename what differs from a word of the language by case alone, too.
    taken = {word.lower() for word in TAKEN[language].split()}
    assert [name for name in SCHEMAS if name.lower() in taken] == []


def test_no_number_is_one_of_an_enumeration() -> None:
    enumerations = [node for _, node in nodes(DOCUMENT) if isinstance(node.get("enum"), list)]
    assert enumerations
    assert {node["type"] for node in enumerations} == {"string", "boolean"}


def test_the_body_of_every_success_is_certain() -> None:
    """Beside a response with a body no other one without it: generated clients would call the body optional."""
    doubtful = []
    for path, operation in nodes(DOCUMENT["paths"]):
        bodies = {"content" in each for status, each in operation.get("responses", {}).items() if status < "300"}
        if len(bodies) > 1:
            doubtful.append(path)
    assert not doubtful


def test_an_operation_with_a_rate_limit_lists_its_headers_with_every_answer() -> None:
    limited = set()
    for _, operation in nodes(DOCUMENT["paths"]):
        answers = operation.get("responses", {})
        if any("RateLimit" in each.get("headers", {}) for status, each in answers.items() if status < "300"):
            limited.add(operation["operationId"])
            assert all({"RateLimit", "RateLimit-Policy"} <= each["headers"].keys() for each in answers.values())
    assert limited == {
        *("beginRematch", "beginReview", "getHint", "getReview", "changeJoinCode", "changeWebhook"),
        *("changeWebhookSecret", "claimSeat", "createGame", "createKey", "createWebhook", "deleteWebhook"),
        *("erasePlayer", "getApplication", "listDeliveries", "getWebhook", "getFeed", "getPlayer", "joinGame"),
        *("listGames", "listWebhooks", "makeMove", "pingWebhook", "redeliverMessage", "changePlayer", "replayRecord"),
        *("revokeKey", "resign", "seekTable", "setPresence", "fillSeat", "freeSeat", "startGame", "takeSeat"),
        "verifyRecord",
    }


REQUESTS = {resolver(each): each for each in RequestSchema.__subclasses__() if resolver(each) in SCHEMAS}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_examples_of_the_fields_of_a_request_fit_together(name: str) -> None:
    """Tools make a request of them: it must not be refused, unless a field that is required has none."""
    described = SCHEMAS[name]
    request = {name: each["example"] for name, each in described["properties"].items() if "example" in each}
    if request and set(described.get("required", ())) <= request.keys():
        REQUESTS[name]().load(request)


def test_a_record_has_an_example_where_one_is_sent_as_a_whole() -> None:
    """A part of a record is no valid record: only the bodies that were recorded show one."""
    for path in ("/v1/verifications", "/v1/replays"):
        content = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]
        assert list(content) == ["text/plain", MEDIA_TYPE]
        for body in content.values():
            assert verify(parse_record(body["examples"]["Record"]["value"])).verified
    assert "example" not in SCHEMAS["ContinuesIn"]["properties"]["record"]


@pytest.mark.parametrize("schema", ["OptionsIn", "Options"])
def test_every_option_is_described_for_each_of_its_variants(schema: str) -> None:
    for variant in variants().values():
        for option in variant.options:
            described = SCHEMAS[schema]["properties"][option.key]["description"]
            said = re.split(r"(?<!,) (?=`[\w-]+`(?:, `[\w-]+`)*: )", described)
            (own,) = [each for each in said if f"`{variant.key}`" in each.partition(": ")[0]]
            assert option_description(variant, option, "en") in own
            if option.values and not isinstance(option.values[0], bool):
                assert own.endswith(f"One of {', '.join(f'`{each}`' for each in option.values)}.")


def test_the_bounds_of_an_option_are_the_widest_of_its_variants() -> None:
    fields = SCHEMAS["OptionsIn"]["properties"]
    assert (fields["set"]["minimum"], fields["set"]["maximum"]) == (6, 18)
    assert (fields["teams"]["minimum"], fields["teams"]["maximum"]) == (0, 5)
    assert (fields["limit"]["minimum"], fields["limit"]["maximum"]) == (1, 1000)
