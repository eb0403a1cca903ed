"""The types of stored values: arrays of fields in order, which msgspec encodes and decodes by type.

Owns the handling of types that msgspec does not know.
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


@cache  # so that no Python function runs for each of the many tiles of a game
def _decode_tile(_: type, index: int) -> Tile:
    return TILES[index]


encoder: Final = json.Encoder(enc_hook=attrgetter("index"))
"""Encodes games and events. ``Tile`` is the only type in them that msgspec does not know."""


def decoder(kind: type) -> json.Decoder[Any]:
    """Return a decoder of values of this type."""
    return json.Decoder(kind, dec_hook=_decode_tile)


def struct_of(fields: Iterable[tuple[str, Any] | tuple[str, Any, Any]]) -> type[Struct]:
    """Return a type that is decoded from an array of these fields: name, type and, if it can be missing, default."""
    return defstruct("Stored", fields, array_like=True)


_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_STORED_AS: Final[dict[Any, Any]] = {Seats: tuple[Seat, ...]}
"""The types that replace, for decoding, types of fields that msgspec does not know."""


def default_of(parameter: Parameter) -> object:
    """Return the default of a parameter in the form of msgspec."""
    return NODEFAULT if parameter.default is Parameter.empty else parameter.default


class StoredFields:
    """The fields of a class as an array, in order, except those in ``without``.

    ``type``: the type to which such an array is decoded.
    ``optional``: the last fields, which can be missing in the array, and their defaults (``False`` or ``None``).
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
        """Return the fields of a value for the array, without the last ones if they have their defaults."""
        values = self._all(value)
        for default in reversed(self._defaults):
            if values[-1] is not default:
                break
            values = values[:-1]
        return values
