"""What serializers make.

Owns their type alone.
"""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]
"""An object of JSON, before it is written."""
