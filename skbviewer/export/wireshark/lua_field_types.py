# SPDX-License-Identifier: MIT
"""How Wireshark's Lua script declares each kind of field, and how it makes field values."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_definition import Kind

BITS32 = 32  # smaller numbers are Lua's own; a double holds them exactly


class LuaType(NamedTuple):
    """How Lua declares a field: a constructor of ProtoField, its base, a function for values."""

    constructor: str
    base: str
    values: str


LUA_TYPES: dict[Kind, LuaType] = {
    Kind.BOOLEAN: LuaType("bool", "", "truth"),
    Kind.UNSIGNED: LuaType("uint64", "DEC", "long_number"),
    Kind.KERNEL: LuaType("uint64", "HEX", "hexadecimal"),
    Kind.DURATION: LuaType("relative_time", "", "duration"),
    Kind.FLOAT: LuaType("double", "", "number"),
    Kind.STRING: LuaType("string", "", "text"),
    Kind.IPV4: LuaType("ipv4", "", "ipv4"),
    Kind.IPV6: LuaType("ipv6", "", "ipv6"),
}
SMALL = LuaType("uint32", "DEC", "number")


def lua_type(field: Field) -> LuaType:
    """Return the Lua type of a field that is not a label. Raises KeyError for labels."""
    if field.kind is Kind.UNSIGNED and field.bits <= BITS32:
        return SMALL
    return LUA_TYPES[field.kind]
