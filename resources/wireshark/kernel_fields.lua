-- SPDX-License-Identifier: MIT
-- Kernel fields of packets that skbviewer exported: kbl.*, as in skbviewer's display filters.
-- A field is read only where a filter, a column or the packet's details need it.

if skbviewer_kernel_fields then return end -- loaded twice, such as installed and by -X
skbviewer_kernel_fields = true

--@TABLES

local kbl = Proto("kbl", "Kernel path (skbviewer)")
local comment = Field.new("frame.comment")
local byte, find, match, sub = string.byte, string.find, string.match, string.sub
local COMMA, EQUALS = byte(","), byte("=")
local STARTS = {} -- what each of the comments of a packet begins with
for part, name in ipairs(PARTS) do STARTS[part] = PREFIX .. name end
local add_item = TreeItem.add -- finding it at each item takes a fifth of adding one

-- What makes the value of a field from a text.  It returns nil if the text is no value.
local VALUES = {}

function VALUES.text(v)
    if not find(v, "%", 1, true) then return v end
    return (v:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- The times of all durations: Wireshark copies them, and making one for each takes longer.
local short_time, time = NSTime.new(0, 0), NSTime.new(0, 0)

function VALUES.duration(v) -- whole ns, perhaps more than a double holds
    if not find(v, "^-?%d+$") then return nil end
    if #v < 10 then
        short_time.nsecs = v
        return short_time
    end
    local sign, digits = match(v, "^(-?)(%d+)$")
    local seconds, rest = tonumber(sub(digits, 1, -10)) or 0, tonumber(sub(digits, -9))
    if sign == "-" then seconds, rest = -seconds, -rest end
    time.secs, time.nsecs = seconds, rest
    return time
end

local function guarded(make) -- of a text that is no value, makes nothing instead of an error
    return function(v)
        local made, item = pcall(make, v)
        return made and item or nil
    end
end

VALUES.number = tonumber
VALUES.long_number = guarded(UInt64)
VALUES.hexadecimal = guarded(function(v) return UInt64.fromhex(sub(v, 3)) end)
VALUES.truth = function(v) return v == "1" end
VALUES.ipv4 = guarded(Address.ip)
VALUES.ipv6 = guarded(Address.ipv6)
VALUES.matched = function(v) return MATCHED[v] == true end

local fields = {}
for number, one in ipairs(FIELDS) do
    one.field = ProtoField[one.type](one.name, one.name, one.base and base[one.base])
    one.value = VALUES[one.kind]
    fields[number] = one.field
end
kbl.fields = fields

-- What tshark's command line says: `named` are the names of fields, and kbl, in it, as a set.  With
-- -T fields, the tree says of each field that it is needed; with a filter, it says so of kbl if one
-- field is.  `printed` are the names after -e, also a set, `filters` the filters, one a line.
-- All are nil in other programs, on systems that do not show the command line, and where more
-- fields may be needed than are named.
local ALONE, BEFORE_VALUE = "[nlqQ]", "[rYecEXNtT]"

local function can_need_more(option, value) -- a macro, a column, a colour rule, another script
    if option == "X" then return value:sub(1, 11) ~= "lua_script:" end
    if option == "T" then return value ~= "fields" end
    if option == "e" and value == "kbl" then return true end
    return find(value, "$", 1, true) or find(value, "_ws%.") or find(value, "color")
end

local function text_of(path)
    local file = io.open(path, "rb")
    local text = file and file:read("*a") or ""
    if file then file:close() end
    return text
end

local function words_of_program()
    local words = {}
    for word in text_of("/proc/self/cmdline"):gmatch("([^%z]*)%z") do words[#words + 1] = word end
    return words
end

local function are_columns() -- kernel fields, in the user's settings or those of all users
    for _, path in ipairs({ Dir.personal_config_path, Dir.global_config_path }) do
        if find(text_of(path("preferences")), "kbl", 1, true) then return true end
    end
    return false
end

local function asked_of_program()
    if are_columns() then return nil end
    local words, at, scripts, named, printed, filters = words_of_program(), 2, 0, {}, {}, {}
    while words[at] do
        local option, value = match(words[at], "^%-(%a)(.*)$")
        if not option then return nil end
        if find(option, BEFORE_VALUE) then
            if value == "" then at, value = at + 1, words[at + 1] or "" end
            if option == "X" then scripts = scripts + 1 end
            if option == "e" then printed[value] = true end
            if option == "Y" then filters[#filters + 1] = value end
            if can_need_more(option, value) then return nil end
            for name in value:gmatch("kbl%.?[%w_]*") do named[name] = true end
        elseif not find(option, ALONE) or value ~= "" then
            return nil
        end
        at = at + 1
    end
    if scripts > 1 or not find(words[1] or "", "tshark$") then return nil end
    return named, printed, table.concat(filters, "\n")
end

local in_window, named, printed, filters = gui_enabled()
if not in_window then named, printed, filters = asked_of_program() end

-- What all tests of a field in the filter ask of it: `least` or `greatest`, or both, if each asks for
-- less or more than a number, so that the least or the greatest value decides it; `texts` if each
-- asks for a value that is, or has, one of these texts.  nil if there is any other test.
local ORDERS = {
    ["<"] = "least", ["<="] = "least", lt = "least", le = "least",
    [">"] = "greatest", [">="] = "greatest", gt = "greatest", ge = "greatest",
}
local BEFORE_TEST = { "^$", "[(!\n]$", "&&$", "||$", "%f[%w]and$", "%f[%w]or$", "%f[%w]not$" }
local AFTER_TEST = { "^$", "^[)\n]", "^&&", "^||" }

local function is_one_of(patterns, text)
    for _, pattern in ipairs(patterns) do if find(text, pattern) then return true end end
    return false
end

-- The literal of a test of equality, or of `contains`.  A number with a leading 0 is octal or
-- hexadecimal.
local function text_asked(rest, is_part)
    local operator = is_part and "^contains%s*" or "^==%s*"
    local text, after = match(rest, operator .. '"([%w_.:+-]+)"%s*(.*)$')
    if not text and not is_part then text, after = match(rest, operator .. "(%d+)%s*(.*)$") end
    if not text or find(text, "^0.") then return nil end
    return is_one_of(AFTER_TEST, after) and text or nil
end

-- The ns of a test such as == 0.001, as the comments have them.
local function ns_asked(rest)
    local whole, part, after = match(rest, "^==%s*(%d+)%.?(%d*)%s*(.*)$")
    if not whole or #part > 9 or not is_one_of(AFTER_TEST, after) then return nil end
    return match(whole .. part .. string.rep("0", 9 - #part), "^0*(%d+)$")
end

local function add_test(tests, rest, is_duration)
    local whole = is_duration and ns_asked(rest) or not is_duration and text_asked(rest, false)
    local part = not is_duration and text_asked(rest, true) or nil
    local order = ORDERS[match(rest, "^([<>]=?)%s*[%d.]") or match(rest, "^(%l%l)%s+[%d.]")]
    if whole or part then
        tests.texts[#tests.texts + 1] = whole or part
        tests.has_parts = tests.has_parts or part ~= nil
    elseif order then
        tests[order], tests.order = true, true
    else
        return false
    end
    return true
end

local function tests_of(one)
    local name, at, tests = one.name, 1, { texts = {} }
    while true do
        local begin, stop = find(filters, name, at, true)
        if not begin then return tests end
        at = stop + 1
        if not find(filters, "^[%w_.]", at) then -- else it is a longer name
            local before = match(sub(filters, 1, begin - 1), "^(.-)[ \t]*$")
            local rest, is_duration = match(filters, "^[ \t]*(.*)$", at), one.kind == "duration"
            if not is_one_of(BEFORE_TEST, before) then return nil end
            if not add_test(tests, rest, is_duration) then return nil end
        end
    end
end

local function put(tree, one, v)
    local item = one.value(v)
    if item ~= nil then add_item(tree, one.field, item) end
end

-- The functions that follow add values of a field.  `at` is where these begin in the comment.

-- Adds values that are not empty, four at a time: calls of string.match are slow.
local function put_filled(tree, text, one, at)
    local a, b, c, d, more
    repeat
        a, b, c, d, more, at = match(text, "^([^ ,]+),?([^ ,]*),?([^ ,]*),?([^ ,]*)(,?)()", at)
        if not a then return end
        put(tree, one, a)
        if b ~= "" then put(tree, one, b) end
        if c ~= "" then put(tree, one, c) end
        if d ~= "" then put(tree, one, d) end
    until more == ""
end

local function put_texts(tree, text, one, at)
    local v, more
    repeat
        v, more, at = match(text, "^([^ ,]*)(,?)()", at)
        put(tree, one, v)
    until more == ""
end

-- Adds values that are not yet in `seen`.  Callers are written only with their offset.
local function put_new(tree, text, one, at, seen)
    local v, more
    repeat
        v, more, at = match(text, "^([^ ,]*)(,?)()", at)
        repeat
            if not seen[v] then put(tree, one, v) end
            seen[v] = true
            v = one.shortened and match(v, "^([^+]*)+")
        until not v
    until more == ""
end

-- Adds those values that are among the texts of a filter.
local function put_wanted(tree, text, one, at)
    local stop = find(text, " ", at, true) or #text + 1
    for _, v in ipairs(one.texts) do
        local begin, last = find(text, v, at, true)
        while begin and last < stop do
            local before, after = byte(text, begin - 1), byte(text, last + 1)
            if (before == EQUALS or before == COMMA) and (after == COMMA or last + 1 == stop) then
                put(tree, one, v)
                break
            end
            begin, last = find(text, v, begin + 1, true)
        end
    end
end

-- Adds all values, if the comment has one of the texts of a filter.
local function put_if_wanted(tree, text, one, at)
    for _, v in ipairs(one.texts) do
        if find(text, v, at, true) then return put_texts(tree, text, one, at) end
    end
end

-- Of a range, which is one value if all are equal.
local function put_least(tree, text, one, at)
    put(tree, one, match(text, "^[^ ,]*", at))
end

local function put_greatest(tree, text, one, at)
    local first, second = match(text, "^([^ ,]*),?([^ ,]*)", at)
    put(tree, one, second == "" and first or second)
end

for _, one in ipairs(FIELDS) do
    one.put = one.can_repeat and put_new or one.is_text and put_texts or put_filled
end

-- The function that adds fewer values, which decide all tests of the field; nil if there is none.
local function chosen_put(one, tests)
    if not tests or tests.order and #tests.texts > 0 then return nil end
    if tests.order then
        if not one.range then return nil end
        return not tests.least and put_greatest or not tests.greatest and put_least or put_filled
    end
    if #tests.texts == 0 then return nil end
    if tests.has_parts then return one.is_text and put_if_wanted or nil end
    return put_wanted
end

-- The field as a filter needs it.
local function as_tested(one)
    if not filters or filters == "" or printed[one.name] then return one end
    local tests = (one.range or one.is_exact) and tests_of(one)
    local chosen = chosen_put(one, tests)
    if not chosen then return one end
    local made = { put = chosen, texts = tests.texts, whole = one }
    if tests.order then made.names, made.part, made.must_exist = { one.range }, 1, true end
    return setmetatable(made, { __index = one })
end

-- Adds the values of a field, which stand after one name or after each of two.  Returns whether
-- there are any.
local function add_field(tree, text, one)
    local names, found = one.names, false
    local seen = one.can_repeat and {} or nil
    for i = 1, #names do
        local _, at = find(text, names[i], 1, true)
        if at then
            found = true
            one.put(tree, text, one, at + 1, seen)
        end
    end
    return found
end

-- The fields that a filter, a column or the packet's details need; nil if not even the protocol kbl
-- is needed.  In tshark they are the same for all packets of a pass, and asking for each packet
-- takes as long as dissecting it.
local last, visible, needed, itself = math.huge, false, nil, nil
local parts -- the comments that have all that is needed, nil if all must be read
local texts = {} -- of these comments

local function is_needed(root, one)
    if visible then return not named or named[one.name] end
    return root:referenced(one.field)
end

-- The numbers of the comments that have some fields.  The first says if there is a kernel path.
local function parts_of(some, is_itself_needed)
    local found, has = {}, { [1] = is_itself_needed }
    for _, one in ipairs(some) do has[one.part] = true end
    for part = 1, #PARTS do
        if has[part] then found[#found + 1] = part end
    end
    return found
end

local function find_needed(root)
    visible, needed = root.visible, {}
    for _, one in ipairs(FIELDS) do
        if is_needed(root, one) then
            local made = as_tested(one)
            table.insert(needed, made.must_exist and 1 or #needed + 1, made)
        end
    end
    itself = itself or Dissector.get("kbl")
    local is_itself_needed
    if named then
        is_itself_needed = named.kbl
    else
        is_itself_needed = visible or root:referenced(itself)
    end
    parts = (named or not visible) and parts_of(needed, is_itself_needed) or nil
    if #needed == 0 and not is_itself_needed then needed = nil end
end

-- The item of the protocol, if the comment says that there is a kernel path.  Making it takes as
-- long as a field, and only a filter that names it needs it.
local function branch(root, text)
    if named and not named.kbl then return root end
    return sub(text, #PREFIX + 1, #PREFIX + 5) == " kbl " and root:add(kbl) or root
end

-- Reads comments one after the other.  The text of one takes Wireshark as long as three fields.
local function read(root, tree, calls, info, ...)
    if not info then return end
    local text = info.value
    if sub(text, 1, #PREFIX) ~= PREFIX then return read(root, tree, calls, ...) end
    tree = tree or branch(root, text)
    for i = 1, #needed do
        local one = needed[i].whole or needed[i]
        local parent = tree
        if visible and one.of_calls and find(text, one.names[1], 1, true) then
            calls = calls or tree:add("Calls: distinct values")
            parent = calls
        end
        add_field(parent, text, one)
    end
    return read(root, tree, calls, ...)
end

-- Reads only the comments that have what is needed.  Returns whether that was enough.
local function read_parts(root, first, second, third, fourth)
    for i = 1, #parts do
        local part = parts[i]
        local info = part == 1 and first or part == 2 and second or part == 3 and third or fourth
        local text = info and info.value or ""
        local start = STARTS[part]
        if sub(text, 1, #start) ~= start or #text > LONG then return false end
        texts[part] = text
    end
    for i = 1, #needed do -- first those that must exist
        local one = needed[i]
        if not one.must_exist then break end
        if not find(texts[1], one.names[1], 1, true) then return false end
    end
    local tree = parts[1] == 1 and branch(root, texts[1]) or root
    for i = 1, #needed do add_field(tree, texts[needed[i].part], needed[i]) end
    return true
end

function kbl.dissector(buffer, packet, root)
    if not named or last > 0 then -- a tshark whose words are known reads the file once
        local number = packet.number
        if in_window or number <= last then find_needed(root) end
        last = named and 0 or number
    end
    if not needed then return end
    local first, second, third, fourth, fifth = comment()
    if parts and not fifth and read_parts(root, first, second, third, fourth) then return end
    read(root, nil, nil, comment())
end

register_postdissector(kbl)
