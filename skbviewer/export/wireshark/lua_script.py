# SPDX-License-Identifier: MIT
"""The script by which Wireshark reads the kernel fields from comments: a Lua post-dissector.

The script declares the fields that comments contain (comment_format.py), with the names, types and
descriptions of docs/display-filter.md. Durations become relative times, in seconds. The script's
functions are in resources/wireshark/kernel_fields.lua; this module makes its tables of fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_definition import Kind
from ...analysis.fields.field_source_tables import CALL
from ...analysis.words.verdict_reasons import VERDICTS
from ...records import resource
from .comment_format import (
    COMMENT_FIELDS,
    DERIVED,
    LONGEST,
    PARTS,
    PREFIX,
    RANGED,
    SHORTENED,
    range_name,
    short_name,
)
from .lua_field_types import lua_type

SCRIPT = "wireshark/kernel_fields.lua"
TABLES = "--@TABLES\n"  # a line of the script
MATCHED = VERDICTS[: VERDICTS.index("wire-only")]
MADE_BY = {"kbl.matched": "matched"}  # the function of a field that is made of another


def lua_script() -> str:
    """Return the text of the Lua script that makes the kernel fields known to Wireshark."""
    fields = (field for field in COMMENT_FIELDS if field.kind is not Kind.LABEL)
    starts = (f" {part.name}" if part.name else "" for part in PARTS)
    tables = [
        f"local PREFIX = {_quoted(PREFIX.decode())} -- what comments with fields begin with\n",
        f"local PARTS = {_listed(starts)} -- what follows it in each of the comments of a packet\n",
        f"local LONG = {LONGEST // 2} -- bytes; a longer comment may be continued in the next\n",
        f"local MATCHED = {{ {', '.join(f'{one} = true' for one in MATCHED)} }} -- verdicts\n",
        "local FIELDS = {\n",
        *(f"    -- {field.description}\n    {_declared(field)},\n" for field in fields),
        "}\n",
    ]
    return resource(SCRIPT).read_text().replace(TABLES, "".join(tables))


def _declared(field: Field) -> str:
    """Return a Lua table that says how the field is declared and read."""
    kind, names = lua_type(field), DERIVED.get(field.name, (field.name,))
    shortened = field.name == SHORTENED
    is_plain = field.name not in DERIVED and not shortened
    return _table(
        {
            "name": _quoted(field.name),
            "type": _quoted(kind.constructor),
            "base": _quoted(kind.base) if kind.base else "",
            "kind": _quoted(MADE_BY.get(field.name, kind.values)),
            "names": _listed(f" {short_name(name)}=" for name in names),
            "range": _quoted(f" {range_name(field)}=") if field in RANGED else "",
            "part": str(_part(names[0])),
            "of_calls": _truth(field.table == CALL),
            "is_text": _truth(field.kind is Kind.STRING),
            "is_exact": _truth(is_plain and field.kind in (Kind.STRING, Kind.UNSIGNED)),
            "can_repeat": _truth(shortened or len(names) > 1),
            "shortened": _truth(shortened),
        }
    )


def _part(name: str) -> int:
    """Return the number (1, 2, …) of the comment that contains the field `name`."""
    return next(n for n, part in enumerate(PARTS, 1) if name in {one.name for one in part.fields})


def _table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {value}" for name, value in values.items() if value) + " }"


def _listed(texts: Iterable[str]) -> str:
    return "{ " + ", ".join(map(_quoted, texts)) + " }"


def _truth(value: bool) -> str:
    """Return "true", or "" for False, because Lua takes a missing value of a table as false."""
    return "true" if value else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
