# SPDX-License-Identifier: MIT
"""Rewrite extensions of GNU C and of the kernel in one definition, so that pycparser can read it.

The text keeps its length where that is easy. Newlines are always kept, so that line numbers stay
right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scanner.source.comment_blanking import blank
from scanner.source.function_heads_from_macros import split_arguments
from scanner.source.macro_replacement import close_paren

_TYPE = (
    r"(?:const\s+|volatile\s+)*(?:(?:struct|union|enum)\s+\w+|"
    r"(?:(?:unsigned|signed|long|short|int|char|void|double|float|_Bool)\b\s*)+)"
)
# A type as an argument: after "name(" or a comma, up to a comma or the closing parenthesis.
_TYPE_ARGUMENT = re.compile(
    rf"(?P<before>\b(?!return\b|case\b|if\b|while\b|sizeof\b)\w+\s*\(\s*|,\s*)(?P<type>{_TYPE})(?P<stars>[\s*]*)(?=[,)])"
)
# Every match contains this; searching for it is quick.
_TYPE_THEN_END = re.compile(rf"[(,]\s*{_TYPE}[\s*]*[,)]")
_STRING_AFTER = re.compile(r'("~*")(\s*)\b([A-Za-z_]\w+)\b(?!\s*\()')
_STRING_BEFORE = re.compile(
    r'\b(?!return\b|case\b|else\b|sizeof\b|asm\b|in\b|L\b)([A-Za-z_]\w+)(\s*)(?=")'
)
_STRING_CALL = re.compile(r'("~*"\s*)([A-Za-z_]\w*\s*)(\()')
_RANGE = re.compile(r"\.\.\.(?=\s*[\w(\-+'][^()]*?[:\]])")
_TYPEOF = re.compile(r"\b(?:__)?(?:typeof(?:_unqual)?|auto_type)(?:__)?\b\s*(\()?")
_GNU_FIELD = re.compile(r"(?<=[{,])(\s*)([A-Za-z_]\w*)(\s*):(?!:)(?=[^;{}?]*[,}])")
# A statement as a macro's argument: ASSERT(skb != NULL, return -1;);
_STATEMENT_ARGUMENT = re.compile(
    r",(\s*)((?:\{[^{}]*\}|(?:(?:return|goto|break|continue)\b[^;{}]*;\s*)))(?=\s*\))"
)
_POINTER_DECLARATOR = re.compile(r"(\(\s*\*\s*\w*\s*(?:\[[^\]()]*\])?\s*\)\s*\([^()]*\))")
_LABEL_ADDRESS = re.compile(r"([=(,{]\s*)&&(?=\s*[A-Za-z_])")
_COMPUTED_GOTO = re.compile(r"\bgoto\s*\*")
_LABEL_END = re.compile(r"(\b\w+\s*:)(\s*\})")
_COLON_END = re.compile(r":\s*\}")
_LOCAL_LABEL = re.compile(r"\b__label__\b[^;]*;")
_GENERIC = re.compile(
    r"\b(?:__builtin_types_compatible_p|__builtin_offsetof|_Generic|__same_type)\s*(?=\()"
)
_MEMBER_CALL = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*(\()(?!\s*\*)", re.MULTILINE)
_STRUCT_GROUP = re.compile(r"\b(?:__)?struct_group(?:_tagged|_attr)?\s*\(")
_TAGGED_GROUP = re.compile(r"\bstruct_group_tagged\s*(\()\s*(\w+)\s*,\s*\w+\s*,")
_INT128 = re.compile(r"\b(?:unsigned\s+)?__int128(?:_t)?\b|\b__auto_type\b")


def _fit(new: str, old: str) -> str:
    """Return `new`, padded to the length and the newlines of `old`."""
    return new + blank(old[len(new) :]) if "\n" not in old[: len(new)] else blank(old)


def _type_argument(match: re.Match[str]) -> str:
    words = match["type"].replace("const", "").replace("volatile", "")
    name = "_".join(words.split())
    if not name.startswith(("struct_", "union_", "enum_")):
        name = f"type_{name}"
    tail = blank(match["type"][len(name) :]) if "\n" in match["type"] else ""
    return match["before"] + name + tail + blank(match["stars"])


def type_arguments(text: str) -> str:
    """Replace types among call arguments with names, but not in parameters of function pointers."""
    pieces = _POINTER_DECLARATOR.split(text) if "(*" in text else [text]
    pieces[::2] = [_TYPE_ARGUMENT.sub(_type_argument, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _statement_argument(match: re.Match[str]) -> str:
    """Replace arguments that are statements, such as ``, return f(x);)``, by expressions."""
    statement = match[2]
    words = statement.rstrip("; \t\n").split(None, 1)
    value = words[1] if words[0] == "return" and len(words) > 1 else "0"
    lines = "\n" * (statement.count("\n") - value.count("\n"))
    return f",{match[1]}({value}){lines}"


def _typeof(text: str) -> str:
    """Replace typeof(x) with int."""
    pieces = []
    position = 0
    for match in _TYPEOF.finditer(text):
        end = close_paren(text, match.end() - 1) if match[1] else match.end()
        if end > 0 and match.start() >= position:
            pieces += [text[position : match.start()], _fit("int", text[match.start() : end])]
            position = end
    return "".join([*pieces, text[position:]])


def _constant_calls(text: str) -> str:
    for match in list(_GENERIC.finditer(text)):
        end = close_paren(text, match.end())
        if end > 0:
            new = _fit("0", text[match.start() : end])
            text = text[: match.start()] + new + text[end:]
    return text


def _strings(text: str) -> str:
    """Replace macros next to string literals with string literals."""
    for _ in range(4):
        text, changed = _STRING_BEFORE.subn(lambda m: '""' + " " * (len(m[1]) - 2) + m[2], text)
        if not changed:
            break
    text = _STRING_AFTER.sub(lambda m: m[1] + m[2] + '""' + " " * (len(m[3]) - 2), text)
    for match in list(_STRING_CALL.finditer(text)):
        end = close_paren(text, match.start(3))
        if end > 0:
            text = text[: match.start(2)] + blank(text[match.start(2) : end]) + text[end:]
    return text


def body_text(text: str, types: frozenset[str]) -> str:
    """Return the definition `text` of a function so that pycparser can read it.

    `types` are the names that are used as types in the text.
    """
    if '"' in text:
        text = _strings(text)
    if "typeof" in text:
        text = _typeof(text)
    brace = text.find("{")
    if "offsetof" in text:
        text = text.replace("offsetof", "offset_f")
    if _TYPE_THEN_END.search(text, brace if brace >= 0 else len(text) - 1):
        text = text[:brace] + type_arguments(text[brace:])
    if "?:" in text or "? :" in text:
        text = re.sub(r"\?(\s*):", r"||\1", text)
    if "..." in text:
        text = text[:brace] + _RANGE.sub(" + ", text[brace:])
    if "= {" in text and ":" in text:
        text = text[:brace] + gnu_fields(text[brace:])
    if "__label__" in text:
        text = _LOCAL_LABEL.sub(lambda m: blank(m[0]), text)
    if "__builtin" in text or "_Generic" in text or "__same_type" in text:
        text = _constant_calls(text)
    if "__int128" in text or "__auto_type" in text:
        text = _INT128.sub(lambda m: _fit("int", m[0]), text)
    if "," in text and _STATEMENT_ARGUMENT.search(text, brace):
        text = text[:brace] + _STATEMENT_ARGUMENT.sub(_statement_argument, text[brace:])
    if "goto" in text:
        text = _COMPUTED_GOTO.sub(lambda m: "return " + blank(m[0][7:]), text)
        text = _LABEL_ADDRESS.sub(r"\1& ", text)
    if _COLON_END.search(text):
        text = _LABEL_END.sub(r"\1;\2", text)
    return _named_types(text, types)


def _named_types(text: str, types: frozenset[str]) -> str:
    """Rename typedef names that are macro arguments, so that they are not read as types."""
    if not types:
        return text
    names = "|".join(map(re.escape, types))
    pattern = re.compile(
        rf"(\b(?!return\b|case\b|sizeof\b)\w+\s*\(\s*|,\s*)({names})([\s*]*)(?=[,)])"
    )
    brace = text.find("{")
    changed = pattern.sub(lambda m: f"{m[1]}type_{m[2]}{blank(m[3])}", text[brace:])
    return text[:brace] + changed


def gnu_fields(text: str) -> str:
    """Replace old GNU initialisers ``{ open: f, }`` with ``{ .open= f, }``."""
    return _GNU_FIELD.sub(r"\1.\2\3=", text)


def record_text(text: str) -> str:
    """Return a struct definition with its member macros expanded or blanked."""
    if "typeof" in text:
        text = _typeof(text)
    if "struct_group" in text:
        text = _open_groups(text)
    if "__int128" in text:
        text = _INT128.sub(lambda m: _fit("int", m[0]), text)
    pieces = []
    position = 0
    for match in _MEMBER_CALL.finditer(text):
        end = close_paren(text, match.start(2))
        if end < 0 or match.start() < position or match[1] in ("struct", "union"):
            continue
        rest = text[end : end + 1]
        words = split_arguments(text[match.end(2) : end - 1])
        pieces += [text[position : match.start(1)], _member(match[1], words)]
        pieces.append("\n" * text.count("\n", match.start(1), end) + ("" if rest == ";" else ";"))
        position = end
    return "".join([*pieces, text[position:]])


def _member(macro: str, words: list[str]) -> str:
    """Return the C text of the member that a macro such as DECLARE_FLEX_ARRAY(T, name) declares."""
    pair = len(words) == 2 and words[1].isidentifier()
    if pair and (words[0].startswith(("struct ", "union ")) or words[0].endswith("*")):
        return f"{words[0]} {words[1]}"
    return "int " + "_".join(["member", *re.findall(r"\w+", f"{macro} {words[0]}")])


def tagged_groups(text: str) -> Iterator[tuple[str, str]]:
    """Yield (tag, definition) of each struct_group_tagged(TAG, NAME, members) of a struct."""
    for match in _TAGGED_GROUP.finditer(text):
        end = close_paren(text, match.start(1))
        if end > 0:
            yield match[2], f"struct {match[2]} {{ {text[match.end() : end - 1]} }}"


def _open_groups(text: str) -> str:
    """Replace struct_group(NAME, members) with the members."""
    while match := _STRUCT_GROUP.search(text):
        end = close_paren(text, match.end() - 1)
        if end < 0:
            return text
        commas = 3 if "_tagged" in match[0] or "_attr" in match[0] or "__" in match[0] else 1
        if match[0].startswith("struct_group_"):
            commas = 2
        start = match.end()
        for _ in range(commas):
            start = text.find(",", start) + 1 or start
        text = text[: match.start()] + text[start : end - 1] + " " + text[end:]
    return text
