# SPDX-License-Identifier: MIT
"""The script by which Wireshark reads the kernel fields from comments: a Lua post-dissector.

It has the fields that are in the comments (comment_format.py), with the names, types and
descriptions that docs/display-filter.md lists.  Durations become relative times, in seconds.
"""

from __future__ import annotations

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import CALL
from ...analysis.fields.field_kind import Kind
from .comment_format import (
    COMMENT_FIELDS,
    FIRST_FIELDS,
    LONGEST,
    MARK,
    OLD_PREFIX,
    PREFIX,
    short_name,
)
from .field_types import lua_type

HEAD = """\
-- Kernel fields of packets that skbviewer exported: kbl.*, as in skbviewer's display filters.
-- A field is read only where a filter, a column or the packet's details need it.

if skbviewer_kernel_fields then return end -- loaded twice, such as installed and by -X
skbviewer_kernel_fields = true

local kbl = Proto("kbl", "Kernel path (skbviewer)")
local comment = Field.new("frame.comment")
-- What comments begin with, of two versions; a space and kbl follow if there is a kernel path.
local NEW, OLD, OURS = "%(prefix)s", "%(old)s", "%(mark)s"
local NEW_KBL, SIZE = NEW .. " kbl", #NEW + 4
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

-- The names of fields, and kbl, that tshark's command line names, as a set.  With -T fields, the
-- tree says of each field that it is needed; with a filter, it says so of kbl if one field is.
-- Returns nil for other programs, on systems that do not show the command line, and where more
-- fields may be needed than are named.
local ALONE, BEFORE_VALUE = "[nlqQ]", "[rYecEXNtT]"

local function can_need_more(option, value) -- a macro, a column, a colour rule, another script
    if option == "X" then return value:sub(1, 11) ~= "lua_script:" end
    if option == "T" then return value ~= "fields" end
    if option == "e" and value == "kbl" then return true end
    return find(value, "$", 1, true) or find(value, "_ws%%.") or find(value, "color")
end

local function words_of_program()
    local file, words = io.open("/proc/self/cmdline", "rb"), {}
    if not file then return words end
    for word in file:read("*a"):gmatch("([^%%z]*)%%z") do words[#words + 1] = word end
    file:close()
    return words
end

local function named_by_program()
    local words, at, scripts, named = words_of_program(), 2, 0, {}
    while words[at] do
        local option, value = match(words[at], "^%%-(%%a)(.*)$")
        if not option then return nil end
        if find(option, BEFORE_VALUE) then
            if value == "" then at, value = at + 1, words[at + 1] or "" end
            if option == "X" then scripts = scripts + 1 end
            if can_need_more(option, value) then return nil end
            for name in value:gmatch("kbl%%.?[%%w_]*") do named[name] = true end
        elseif not find(option, ALONE) or value ~= "" then
            return nil
        end
        at = at + 1
    end
    return scripts <= 1 and find(words[1] or "", "tshark$") and named or nil
end

local function add_value(tree, one, v)
    local made, item = pcall(one.value, v)
    if made and item ~= nil then tree:add(one.field, item) end
end

-- Adds the values of a field that stand after " name=" to a tree.
local function add(tree, text, one, start)
    local _, at = find(text, start, 1, true)
    if not at then return end
    local v, comma, after = match(text, "^([^ ,]*)(,?)()", at + 1)
    add_value(tree, one, v)
    while comma == "," do
        v, comma, after = match(text, "^([^ ,]*)(,?)()", after)
        add_value(tree, one, v)
    end
end

-- The fields that a filter, a column or the packet's details need; nil if not even the protocol kbl
-- is needed.  In tshark they are the same for all packets of a pass, and asking for each packet
-- takes as long as dissecting it.
local last, visible, needed, in_first, itself = math.huge, false, nil, false, nil
local in_window = gui_enabled()
local named = not in_window and named_by_program() or nil

local function find_needed(root)
    visible = root.visible
    needed, in_first = FIELDS, false
    if visible and not named then return end
    itself = itself or Dissector.get("kbl")
    needed, in_first = {}, true
    for _, one in ipairs(FIELDS) do
        if (visible and named[one.name]) or (not visible and root:referenced(one.field)) then
            needed[#needed + 1] = one
            in_first = in_first and one.in_first
        end
    end
    if #needed == 0 and not root:referenced(itself) then needed = nil end
end

-- Making the protocol's item takes as long as a field, and only a filter that names it needs it.
local function branch(root)
    if named and not named.kbl then return root end
    return root:add(kbl)
end

-- Reads comments one after the other.  The text of one takes Wireshark as long as three fields.
local function read(root, tree, calls, info, ...)
    if not info then return end
    local text = info.value
    local start = "start"
    if sub(text, 1, SIZE) == NEW_KBL then
        tree = tree or branch(root)
    elseif sub(text, 1, #OURS) ~= OURS then
        return read(root, tree, calls, ...)
    elseif sub(text, 1, #OLD) == OLD then
        start = "old_start"
        tree = tree or (find(text, OLD .. " kbl ", 1, true) == 1 and branch(root)) or root
    elseif sub(text, 1, #NEW) == NEW then
        tree = tree or root
    else
        return read(root, tree, calls, ...)
    end
    for i = 1, #needed do
        local one = needed[i]
        local parent = tree
        if visible and one.of_calls then
            calls = calls or tree:add("Calls: distinct values")
            parent = calls
        end
        add(parent, text, one, one[start])
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
    """Return the text of the Lua script."""
    fields = [field for field in COMMENT_FIELDS if field.kind is not Kind.LABEL]
    texts = {"prefix": PREFIX.decode(), "old": OLD_PREFIX.decode(), "mark": MARK.decode()}
    lines = [HEAD % (texts | {"long": LONGEST // 2}), "local FIELDS = {}\n"]
    lines += [_declared(field, number) for number, field in enumerate(fields, 1)]
    named = ", ".join(f"FIELDS[{number}].field" for number in range(1, len(fields) + 1))
    lines.append(TAIL % {"fields": named})
    return "".join(lines)


def _declared(field: Field, number: int) -> str:
    kind = lua_type(field)
    arguments = [_quoted(field.name), _quoted(field.name), kind.base or "nil", "nil", "nil"]
    if not kind.base:
        arguments = arguments[:2]
    made = f"ProtoField.{kind.constructor}({', '.join(arguments)})"
    return (
        f"\n-- {field.description}\n"
        f"FIELDS[{number}] = {{\n"
        f"    name = {_quoted(field.name)},\n"
        f"    start = {_quoted(f' {short_name(field)}=')},\n"
        f"    old_start = {_quoted(f' {field.name}=')},\n"
        f"    field = {made},\n"
        f"    value = function(v) return {kind.value} end,\n"
        f"    of_calls = {_truth(field.table == CALL)},\n"
        f"    in_first = {_truth(field in FIRST_FIELDS)},\n"
        "}\n"
    )


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
