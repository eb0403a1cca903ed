"""House rules: the options of a match, with their allowed values.

Owns ``Option`` and the validation of values. Does not depend on any game: each variant defines its options, and
``service.texts`` describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.engine.errors import InvalidSetup, Reason

Value = bool | int | str
Options = Mapping[str, Any]
"""The value of each option by key, each one that its ``Option`` allows; ``None``: the variant computes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One house rule.

    Its value is one of ``values`` or, if there are none, a whole number from ``low`` to ``high``. If ``default`` is
    ``None``, the variant computes the default from the other options and the number of seats.
    """

    key: str
    default: Value | None
    values: tuple[Value, ...] = ()
    low: int = 0
    high: int = 0
    params: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The values of the placeholders in its description."""

    def error_for(self, value: object) -> Reason | None:
        """Return the error of a value, or ``None`` if it is allowed. ``True`` is not a number and ``2.0`` is not 2."""
        if self.values:
            if any(type(value) is type(known) and value == known for known in self.values):
                return None
            return Reason("not_one_of", {"allowed": [format_value(known) for known in self.values]})
        if type(value) is int and self.low <= value <= self.high:
            return None
        return Reason("whole_number", {"min": self.low, "max": self.high})


def format_value(value: Value) -> str:
    """Return a value as a client writes it: ``true``, ``12``, ``play_on``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def resolve(options: tuple[Option, ...], given: Mapping[str, object]) -> Options:
    """Return each option's given value or else its default, by key. Raises ``InvalidSetup`` with all errors."""
    known = {option.key: option for option in options}
    unknown = Reason("unknown_option", {"allowed": list(known)})
    errors = {f"options.{key}": [unknown] for key in given if key not in known}
    resolved = {}
    for key, option in known.items():
        value = given.get(key, option.default)
        error = option.error_for(value) if key in given else None
        if error is not None:
            errors[f"options.{key}"] = [error]
        resolved[key] = value
    if errors:
        raise InvalidSetup(errors)
    return resolved
