# SPDX-License-Identifier: MIT
"""The Lua code with which Wireshark declares each kind of field and makes its values."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_kind import Kind

BITS32 = 32  # smaller numbers are Lua's own; a double holds them exactly


class LuaType(NamedTuple):
    """A constructor of ProtoField, the arguments after the name, and Lua code that makes the value.

    In this code `v` is the text of the value.
    """

    constructor: str
    base: str
    value: str


LUA_TYPES: dict[Kind, LuaType] = {
    Kind.BOOLEAN: LuaType("bool", "", 'v == "1"'),
    Kind.UNSIGNED: LuaType("uint64", "base.DEC", "UInt64(v)"),
    Kind.KERNEL: LuaType("uint64", "base.HEX", "UInt64.fromhex(v:sub(3))"),
    Kind.DURATION: LuaType("relative_time", "", "duration(v)"),
    Kind.FLOAT: LuaType("double", "", "tonumber(v)"),
    Kind.STRING: LuaType("string", "", "decoded(v)"),
    Kind.IPV4: LuaType("ipv4", "", "Address.ip(v)"),
    Kind.IPV6: LuaType("ipv6", "", "Address.ipv6(v)"),
}
SMALL = LuaType("uint32", "base.DEC", "tonumber(v)")


def lua_type(field: Field) -> LuaType:
    """Return the Lua type of a field that is no label. Raises KeyError for other kinds."""
    if field.kind is Kind.UNSIGNED and field.bits <= BITS32:
        return SMALL
    return LUA_TYPES[field.kind]
