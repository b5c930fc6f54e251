# SPDX-License-Identifier: MIT
"""Make a filter from a value that the user points at: Apply as Filter and Prepare as Filter."""

from __future__ import annotations

import re

from ..fields.all_fields import FIELDS
from ..fields.field_definition import Kind

SELECTED, NOT_SELECTED = "Selected", "Not Selected"
AND_SELECTED, OR_SELECTED = "...and Selected", "...or Selected"
AND_NOT_SELECTED, OR_NOT_SELECTED = "...and not Selected", "...or not Selected"
MODES = (
    SELECTED, NOT_SELECTED, AND_SELECTED, OR_SELECTED, AND_NOT_SELECTED, OR_NOT_SELECTED
)  # fmt: skip
_THERE_ONLY = (Kind.LABEL, Kind.PROTOCOL, Kind.BYTES)


def comparison(field: str, value: str) -> str:
    """Return the filter "`field` == `value`", or only the field if it has no value to compare.

    Raises KeyError if the field is unknown.
    """
    kind = FIELDS[field].kind
    if kind in _THERE_ONLY:
        return field
    if kind in (Kind.STRING, Kind.TIME):
        value = quote_text(value)
    elif kind is Kind.BOOLEAN:
        value = "1" if value == "True" else "0" if value == "False" else value
    return f"{field} == {value}"


def quote_text(text: str) -> str:
    """Return `text` as a quoted string of the filter language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def expression_for(field: str, value: str, mode: str = SELECTED, current: str = "") -> str:
    """Return a filter for a value of `field`; `value` has the form in which a column shows it.

    `mode` is one of MODES.  `current` is the filter to which "...and" and "...or" add the new
    filter.  Raises KeyError for an unknown field.
    """
    return combine_filters(comparison(field, value), mode, current)


def combine_filters(condition: str, mode: str = SELECTED, current: str = "") -> str:
    """Return `condition` alone, negated, or joined to the filter `current`, according to `mode`."""
    if "ot Selected" in mode or "not Selected" in mode:
        condition = f"!({condition})"
    if not mode.startswith("...") or not current.strip():
        return condition
    return f"{_bracketed(current)} {'&&' if 'and' in mode else '||'} {_bracketed(condition)}"


def _bracketed(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"!?\([^()]*\)", text) else f"({text})"
