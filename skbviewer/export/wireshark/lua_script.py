# SPDX-License-Identifier: MIT
"""The script with which Wireshark reads the kernel fields from comments: a Lua post-dissector.

It has the fields that are in the comments (comment_format.py), with the names, types and
descriptions that docs/display-filter.md lists.  Durations become relative times, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import CALL
from ...analysis.fields.field_kind import Kind
from ...analysis.words.verdict_reasons import VERDICTS
from .comment_format import (
    COMMENT_FIELDS,
    DERIVED,
    FIRST_FIELDS,
    LONGEST,
    MARK,
    OLD_PREFIX,
    PREFIX,
    SHORTENED,
    short_name,
)
from .field_types import lua_type

MATCHED = VERDICTS[: VERDICTS.index("wire-only")]
IS_MATCHED = " or ".join(f'v == "{verdict}"' for verdict in MATCHED)
# What makes the value of a field from that of another.
MADE_OF = {"kbl.matched": f"function(v) return {IS_MATCHED} end"}

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
local byte, find, match, sub = string.byte, string.find, string.match, string.sub
local COMMA = byte(",")

local function decoded(v)
    if not find(v, "%%", 1, true) then return v end
    return (v:gsub("%%%%(%%x%%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- The times of all durations: Wireshark copies them, and making one for each takes longer.
local short_time, time = NSTime.new(0, 0), NSTime.new(0, 0)

local function duration(v) -- whole ns, perhaps more than a double holds
    if #v < 10 then
        local whole = tonumber(v, 10)
        if not whole then return nil end
        short_time.nsecs = whole
        return short_time
    end
    local sign, digits = match(v, "^(-?)(%%d+)$")
    if not sign then return nil end
    local seconds, rest = tonumber(sub(digits, 1, -10)) or 0, tonumber(sub(digits, -9))
    if sign == "-" then seconds, rest = -seconds, -rest end
    time.secs, time.nsecs = seconds, rest
    return time
end

local function hexadecimal(v) return UInt64.fromhex(sub(v, 3)) end

local function guarded(make) -- of a text that is no value, makes nothing instead of an error
    return function(v)
        local made, item = pcall(make, v)
        return made and item or nil
    end
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

local add_item = TreeItem.add -- finding it at each item takes a fifth of adding one

local function add_value(tree, one, v)
    local item = one.value(v)
    if item ~= nil then add_item(tree, one.field, item) end
end

-- Adds a value unless it is among `seen`.  Callers are written only with their offset.
local function add_new(tree, one, v, seen)
    if seen[v] then return end
    seen[v] = true
    add_value(tree, one, v)
    if one.shortened then add_new(tree, one, match(v, "^[^+]*"), seen) end
end

-- Adds the values that stand after " name=" to a tree.
local function add(tree, text, one, name, seen)
    local _, at = find(text, name, 1, true)
    if not at then return end
    local put = seen and add_new or add_value
    local v, after = match(text, "^([^ ,]*)()", at + 1)
    put(tree, one, v, seen)
    while byte(text, after) == COMMA do
        v, after = match(text, "^([^ ,]*)()", after + 1)
        put(tree, one, v, seen)
    end
end

-- Adds the values of a field, which stand after one name or after each of two.
local function add_field(tree, text, one, names)
    local seen = (names[2] or one.shortened) and {} or nil
    for i = 1, #names do add(tree, text, one, names[i], seen) end
end

-- The fields that a filter, a column or the packet's details need; nil if not even the protocol kbl
-- is needed.  In tshark they are the same for all packets of a pass, and asking for each packet
-- takes as long as dissecting it.
local last, visible, needed, itself = math.huge, false, nil, nil
local in_first, in_others = false, false -- whether all that is needed is in one comment
local in_window = gui_enabled()
local named = not in_window and named_by_program() or nil

local function find_needed(root)
    visible = root.visible
    needed, in_first, in_others = FIELDS, false, false
    if visible and not named then return end
    itself = itself or Dissector.get("kbl")
    needed, in_first, in_others = {}, true, named and not named.kbl
    for _, one in ipairs(FIELDS) do
        if (visible and named[one.name]) or (not visible and root:referenced(one.field)) then
            needed[#needed + 1] = one
            in_first, in_others = in_first and one.in_first, in_others and not one.in_first
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
    local names = "names"
    if sub(text, 1, SIZE) == NEW_KBL then
        tree = tree or branch(root)
    elseif sub(text, 1, #OURS) ~= OURS then
        return read(root, tree, calls, ...)
    elseif sub(text, 1, #OLD) == OLD then
        names = "old_names"
        tree = tree or (find(text, OLD .. " kbl ", 1, true) == 1 and branch(root)) or root
    elseif sub(text, 1, #NEW) == NEW then
        tree = tree or root
    else
        return read(root, tree, calls, ...)
    end
    for i = 1, #needed do
        local one = needed[i]
        local parent = tree
        if visible and one.of_calls and find(text, one[names][1], 1, true) then
            calls = calls or tree:add("Calls: distinct values")
            parent = calls
        end
        add_field(parent, text, one, one[names])
    end
    if in_first and #text < LONG then return end
    return read(root, tree, calls, ...)
end

-- Reads only the second of two comments, if the first has none of the fields that are needed.
local function read_second(root, first, second, third)
    local text = second and not third and second.value or ""
    if sub(text, 1, #NEW) ~= NEW or find(text, " verdict=", 1, true) then return false end
    for i = 1, #needed do add_field(root, text, needed[i], needed[i].names) end
    return true
end

function kbl.dissector(buffer, packet, root)
    if not named or last > 0 then -- a tshark whose words are known reads the file once
        local number = packet.number
        if in_window or number <= last then find_needed(root) end
        last = named and 0 or number
    end
    if not needed then return end
    if in_others and read_second(root, comment()) then return end
    read(root, nil, nil, comment())
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
    names = DERIVED.get(field.name, (field.name,))
    first = {one.name for one in FIRST_FIELDS}
    return (
        f"\n-- {field.description}\n"
        f"FIELDS[{number}] = {{\n"
        f"    name = {_quoted(field.name)},\n"
        f"    names = {_starts(map(short_name, names))},\n"
        f"    old_names = {_starts(names)},\n"
        f"    field = {made},\n"
        f"    value = {MADE_OF.get(field.name, kind.value)},\n"
        f"    of_calls = {_truth(field.table == CALL)},\n"
        f"    in_first = {_truth(set(names) <= first)},\n"
        f"    shortened = {_truth(field.name == SHORTENED)},\n"
        "}\n"
    )


def _starts(names: Iterable[str]) -> str:
    """Return the texts before the values in a comment, as a Lua table."""
    return "{ " + ", ".join(_quoted(f" {name}=") for name in names) + " }"


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
