# SPDX-License-Identifier: MIT
"""Change all texts in rows: set pseudonyms, and replace characters that a file cannot contain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def with_changed_texts(value: T, change: Callable[[str], str]) -> T:
    """Return a copy of `value` (text, or nested tuples and dicts); `change` is applied to texts."""
    made: Any = value
    if type(value) is str:  # not an enumeration
        made = change(str(value))
    elif isinstance(value, dict):
        made = {key: with_changed_texts(part, change) for key, part in value.items()}
    elif isinstance(value, tuple):
        parts = [with_changed_texts(part, change) for part in value]
        made = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return made  # type: ignore[no-any-return]
