# SPDX-License-Identifier: MIT
"""The Lua code with which Wireshark declares each kind of field and makes its values."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_kind import Kind

BITS32 = 32  # smaller numbers are Lua's own; a double holds them exactly


class LuaType(NamedTuple):
    """A constructor of ProtoField, its further arguments, and code that makes a value of a text."""

    constructor: str
    base: str
    value: str


LUA_TYPES: dict[Kind, LuaType] = {
    Kind.BOOLEAN: LuaType("bool", "", 'function(v) return v == "1" end'),
    Kind.UNSIGNED: LuaType("uint64", "base.DEC", "guarded(UInt64)"),
    Kind.KERNEL: LuaType(
        "uint64", "base.HEX", "guarded(function(v) return UInt64.fromhex(v:sub(3)) end)"
    ),
    Kind.DURATION: LuaType("relative_time", "", "duration"),
    Kind.FLOAT: LuaType("double", "", "tonumber"),
    Kind.STRING: LuaType("string", "", "decoded"),
    Kind.IPV4: LuaType("ipv4", "", "guarded(Address.ip)"),
    Kind.IPV6: LuaType("ipv6", "", "guarded(Address.ipv6)"),
}
SMALL = LuaType("uint32", "base.DEC", "tonumber")


def lua_type(field: Field) -> LuaType:
    """Return the Lua type of a field that is not a label. Raises KeyError for labels."""
    if field.kind is Kind.UNSIGNED and field.bits <= BITS32:
        return SMALL
    return LUA_TYPES[field.kind]
