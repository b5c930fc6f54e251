# SPDX-License-Identifier: MIT
"""The script by which Wireshark reads the kernel fields from comments: a Lua post-dissector.

Its fields are those of the comments (comment_format.py), so they have the names, types and
descriptions that docs/display-filter.md lists.  Durations become relative times, in seconds.
"""

from __future__ import annotations

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import CALL
from ...analysis.fields.field_kind import Kind
from .comment_format import COMMENT_FIELDS, FIRST_FIELDS, LONGEST, PREFIX
from .field_types import lua_type

HEAD = """\
-- Kernel fields of packets that skbviewer exported: kbl.*, as in skbviewer's display filters.
-- A field is read only where a filter, a column or the packet's details need it.

if skbviewer_kernel_fields then return end -- loaded twice, such as installed and by -X
skbviewer_kernel_fields = true

local kbl = Proto("kbl", "Kernel path (skbviewer)")
local comment = Field.new("frame.comment")
local PREFIX, KBL = "%(prefix)s ", "%(prefix)s kbl " -- of all comments, of those with a kernel path
local LONG = %(long)d -- bytes; a longer comment may be continued in the next
local find, match, sub, new_time = string.find, string.match, string.sub, NSTime.new

local function decoded(v)
    return (v:gsub("%%%%(%%x%%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function duration(v) -- whole ns, perhaps more than a double holds
    if #v < 10 and not find(v, "%%D") then return new_time(0, tonumber(v)) end
    local sign, digits = match(v, "^(-?)(%%d+)$")
    local seconds, rest = tonumber(sub(digits, 1, -10)) or 0, tonumber(sub(digits, -9))
    if sign == "-" then return new_time(-seconds, -rest) end
    return new_time(seconds, rest)
end

"""

TAIL = """\

kbl.fields = {%(fields)s}

local START = {}
for _, name in ipairs(ORDER) do START[name] = " " .. name .. "=" end

local function add_value(tree, name, v)
    local made, item = pcall(VALUE[name], v)
    if made and item ~= nil then tree:add(FIELD[name], item) end
end

-- Adds the values of a field that stand after " name=" to a tree.
local function add(tree, text, name)
    local _, at = find(text, START[name], 1, true)
    if not at then return end
    local v, comma, after = match(text, "^([^ ,]*)(,?)()", at + 1)
    add_value(tree, name, v)
    while comma == "," do
        v, comma, after = match(text, "^([^ ,]*)(,?)()", after)
        add_value(tree, name, v)
    end
end

-- The names of the fields that a filter, a column or the packet's details need; nil if not even the
-- protocol kbl is needed.  In tshark they are the same for all packets of a pass, and asking for
-- each packet takes as long as dissecting it.
local last, visible, needed, in_first, itself = math.huge, false, nil, false, nil
local in_window = gui_enabled()

local function find_needed(root)
    visible = root.visible
    needed, in_first = ORDER, false
    if visible then return end
    itself = itself or Dissector.get("kbl")
    needed, in_first = {}, true
    for _, name in ipairs(ORDER) do
        if root:referenced(FIELD[name]) then
            needed[#needed + 1] = name
            in_first = in_first and IN_FIRST[name]
        end
    end
    if #needed == 0 and not root:referenced(itself) then needed = nil end
end

-- Reads comments one after the other.  The text of one takes Wireshark as long as three fields.
local function read(root, tree, calls, info, ...)
    if not info then return end
    local text = info.value
    if sub(text, 1, #PREFIX) ~= PREFIX then return read(root, tree, calls, ...) end
    tree = tree or (sub(text, 1, #KBL) == KBL and root:add(kbl)) or root
    for _, name in ipairs(needed) do
        local parent = tree
        if visible and OF_CALLS[name] then
            calls = calls or tree:add("Calls: distinct values")
            parent = calls
        end
        add(parent, text, name)
    end
    if in_first and #text < LONG then return end
    return read(root, tree, calls, ...)
end

function kbl.dissector(buffer, packet, root)
    local number = packet.number
    if in_window or number <= last then find_needed(root) end
    last = number
    if needed then read(root, nil, nil, comment()) end
end

register_postdissector(kbl)
"""


def lua_script() -> str:
    """Return the script."""
    fields = [field for field in COMMENT_FIELDS if field.kind is not Kind.LABEL]
    lines = [
        HEAD % {"prefix": PREFIX.decode(), "long": LONGEST // 2},
        "local FIELD, VALUE, ORDER, OF_CALLS, IN_FIRST = {}, {}, {}, {}, {}\n",
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
        + (f'IN_FIRST["{field.name}"] = true\n' if field in FIRST_FIELDS else "")
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
