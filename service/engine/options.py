"""House rules: what may be agreed before a match, within which bounds.

Owns the form of an option and the check of a value. Does not depend on any game: each variant defines its options, and
what is said of them is in ``service.texts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.engine.errors import InvalidSetup, Reason

Value = bool | int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One house rule.

    It takes one of ``values``, or any whole number from ``low`` to ``high``. A default of ``None`` means that the
    variant computes it from the other options and the number of seats.
    """

    key: str
    default: Value | None
    values: tuple[Value, ...] = ()
    low: int = 0
    high: int = 0
    params: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Values that its description names."""

    def error_for(self, value: object) -> Reason | None:
        """Return why ``value`` is not allowed, or ``None`` if it is. ``True`` is not a number and ``2.0`` is not 2."""
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


def resolve(options: tuple[Option, ...], given: Mapping[str, object]) -> dict[str, Value | None]:
    """Return every option with its value: the one given, else the default. Raises ``InvalidSetup`` with all errors."""
    known = {option.key: option for option in options}
    unknown = Reason("unknown_option", {"allowed": list(known)})
    errors = {f"options.{key}": [unknown] for key in given if key not in known}
    resolved: dict[str, Value | None] = {}
    for key, option in known.items():
        value = given.get(key, option.default)
        error = option.error_for(value) if key in given else None
        if error is not None:
            errors[f"options.{key}"] = [error]
        resolved[key] = value  # type: ignore[assignment]  # checked just above, or the default
    if errors:
        raise InvalidSetup(errors)
    return resolved
