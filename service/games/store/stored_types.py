"""The types of what is stored: fields as arrays in their order, which msgspec writes and reads by their types.

Owns how msgspec is told of types that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, get_type_hints

from msgspec import NODEFAULT, Struct, defstruct, json

from service.engine.tiles import TILES, Tile
from service.games.model.seats import Seat, Seats


@cache  # so that no function of Python is called for each of the many tiles of a game
def _decode_tile(_: type, index: int) -> Tile:
    return TILES[index]


encoder: Final = json.Encoder(enc_hook=attrgetter("index"))
"""Of the types of all values in a game and in an event, ``Tile`` is the only one that it does not know."""


def decoder(kind: type) -> json.Decoder[Any]:
    """Return what decodes values of this type."""
    return json.Decoder(kind, dec_hook=_decode_tile)


def struct_of(fields: Iterable[tuple[str, Any] | tuple[str, Any, Any]]) -> type[Struct]:
    """Return a type to decode: an array of these fields, each with its type and, if it may be missing, its default."""
    return defstruct("Stored", fields, array_like=True)


_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_STORED_AS: Final[dict[Any, Any]] = {Seats: tuple[Seat, ...]}
"""What a type of fields is decoded as, where msgspec does not know it."""


def default_of(parameter: Parameter) -> object:
    """Return the default of a field that this parameter gives, as msgspec wants it."""
    return NODEFAULT if parameter.default is Parameter.empty else parameter.default


class StoredFields:
    """The fields of a class as an array in their order: all but those ``without``.

    ``type`` is what such an array is decoded to, ``values`` returns what is encoded as one. The last fields may be
    missing if they are ``optional``: flags, or values that may be ``None``.
    """

    def __init__(self, kind: type, without: tuple[str, ...], optional: Mapping[str, object] = _NOTHING) -> None:
        types = {name: _STORED_AS.get(hint, hint) for name, hint in get_type_hints(kind).items() if name not in without}
        self.type = struct_of(
            [
                (name, annotation, optional[name]) if name in optional else (name, annotation)
                for name, annotation in types.items()
            ]
        )
        self._defaults = tuple(optional.values())
        self._all: Callable[[Any], tuple[object, ...]] = attrgetter(*types)

    def values(self, value: object) -> tuple[object, ...]:
        """Return the fields of a value, without the last ones that have their defaults."""
        values = self._all(value)
        for default in reversed(self._defaults):
            if values[-1] is not default:
                break
            values = values[:-1]
        return values
