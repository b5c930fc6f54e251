# SPDX-License-Identifier: MIT
"""The script by which Wireshark reads the kernel fields from comments: a Lua post-dissector.

Its fields are those of the comments (comment_format.py), so they have the names, types and
descriptions that docs/display-filter.md lists.  Durations become relative times, in seconds.
"""

from __future__ import annotations

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import CALL
from ...analysis.fields.field_kind import Kind
from .comment_format import COMMENT_FIELDS, PREFIX
from .field_types import lua_type

HEAD = """\
-- Kernel fields of packets that skbviewer exported: kbl.*, as in skbviewer's display filters.
-- A field is read only where a filter, a column or the packet's details need it.

if skbviewer_kernel_fields then return end -- loaded twice, such as installed and by -X
skbviewer_kernel_fields = true

local kbl = Proto("kbl", "Kernel path (skbviewer)")
local comment = Field.new("frame.comment")
local PREFIX = "%(prefix)s"

local function decoded(v)
    return (v:gsub("%%%%(%%x%%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function duration(v) -- whole ns, perhaps more than a double holds
    local sign, digits = v:match("^(-?)(%%d+)$")
    local seconds, rest = tonumber(digits:sub(1, -10)) or 0, tonumber(digits:sub(-9))
    if sign == "-" then return NSTime.new(-seconds, -rest) end
    return NSTime.new(seconds, rest)
end

"""

TAIL = """\

kbl.fields = {%(fields)s}

-- Adds the values of a field that stand after " name=" to a tree.
local function add(tree, text, name)
    local _, at = text:find(" " .. name .. "=", 1, true)
    if not at then return end
    local field, value = FIELD[name], VALUE[name]
    for v in (text:match("^%%S*", at + 1) .. ","):gmatch("([^,]*),") do
        local made, item = pcall(value, v)
        if made and item ~= nil then tree:add(field, item) end
    end
end

-- The names of the fields that a filter, a column or the packet's details need; nil if not even the
-- protocol kbl is needed.  In tshark they are the same for all packets of a pass, and asking for
-- each packet takes as long as dissecting it.
local last, needed, itself = math.huge, nil, nil
local in_window = gui_enabled()

local function wanted(packet, root)
    if root.visible then return ORDER end
    if in_window or packet.number <= last then
        itself = itself or Dissector.get("kbl")
        needed = {}
        for _, name in ipairs(ORDER) do
            if root:referenced(FIELD[name]) then needed[#needed + 1] = name end
        end
        if #needed == 0 and not root:referenced(itself) then needed = nil end
    end
    last = packet.number
    return needed
end

function kbl.dissector(buffer, packet, root)
    local names = wanted(packet, root)
    if not names then return end
    local tree, calls
    for _, info in ipairs({comment()}) do
        local text = info.value
        if text:sub(1, #PREFIX) == PREFIX and text:sub(#PREFIX + 1, #PREFIX + 1) == " " then
            if not tree then
                tree = root
                if (text .. " "):find(" kbl ", 1, true) then tree = root:add(kbl) end
            end
            for _, name in ipairs(names) do
                if OF_CALLS[name] and names == ORDER then
                    calls = calls or tree:add("Calls: distinct values")
                    add(calls, text, name)
                else
                    add(tree, text, name)
                end
            end
        end
    end
end

register_postdissector(kbl)
"""


def lua_script() -> str:
    """Return the script."""
    fields = [field for field in COMMENT_FIELDS if field.kind is not Kind.LABEL]
    lines = [
        HEAD % {"prefix": PREFIX.decode()},
        "local FIELD, VALUE, ORDER, OF_CALLS = {}, {}, {}, {}\n",
    ]
    lines += [_declared(field) for field in fields]
    lines.append(TAIL % {"fields": ", ".join(f'FIELD["{field.name}"]' for field in fields)})
    return "".join(lines)


def _declared(field: Field) -> str:
    kind = lua_type(field)
    arguments = [_quoted(field.name), _quoted(field.name), kind.base or "nil", "nil", "nil"]
    if not kind.base:
        arguments = arguments[:2]
    made = f"ProtoField.{kind.constructor}({', '.join(arguments)})"
    return (
        f"\n-- {field.description}\n"
        f'FIELD["{field.name}"] = {made}\n'
        f'VALUE["{field.name}"] = function(v) return {kind.value} end\n'
        f'ORDER[#ORDER + 1] = "{field.name}"\n'
        + (f'OF_CALLS["{field.name}"] = true\n' if field.table == CALL else "")
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
