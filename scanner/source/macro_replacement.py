# SPDX-License-Identifier: MIT
"""Second half of the normaliser: blank or replace macros that a C parser cannot know.

Input and output are latin-1 text of the same length with the same newlines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scanner.source.comment_blanking import blank
from scanner.source.macro_table import KEYWORDS, MacroTable, is_loop

_WORD = re.compile(r"[A-Za-z_]\w*")
_PARENS = re.compile(r"[()]")
_SPACE = re.compile(r"\s*")
# With the newline before them: searching for one character is many times as fast as for ^.
_HEAD = re.compile(r"\n(?:(?:static|inline|extern|asmlinkage|__\w+)[ \t]+)*([A-Za-z_]\w*)[ \t]*\(")
_CALL = re.compile(r"\n[ \t]++([A-Za-z_]\w*+)[ \t]*+(?=\()")
_BLOCK = re.compile(r"\([^;{}\n]*\)[ \t]*\{[ \t]*$", re.MULTILINE)
_INSIDE = re.compile(r"\breturn\b|[{;]")
_SPECIFIERS = r"(?:(?:static|extern|inline|__inline|__inline__)[ \t]+)*"
_UNTYPED = re.compile(rf"{_SPECIFIERS}([A-Za-z_]\w*)[ \t]*\(")
_EMPTY = re.compile(rf"\n{_SPECIFIERS}[A-Za-z_]\w*[ \t]*\([ \t]*\)(?=\s*\{{)")
_DECLARATIONS = re.compile(r"\)[ \t]*\n((?:[ \t]*[A-Za-z_][\w \t*,\[\]()]*;[ \t]*\n?)+)\s*\{")
# With the first declaration on the line of the head.
_BESIDE = re.compile(
    r"\n(?:[A-Za-z_][\w \t*]*[ \t*])?[A-Za-z_]\w*[ \t]*\(([\w \t,]+)\)"
    r"[ \t]*((?:[A-Za-z_][\w \t*,\[\]()]*;\s*)+)\{"
)
_STATEMENT = re.compile(r"\s*(?:return\b|goto\b|else\b|\w+[ \t]*\()")
_WRAPPED = re.compile(r"\s*+(?:[A-Za-z_]\w*+[\s*]++)+[A-Za-z_]\w*+\s*\(.*\)\s*", re.DOTALL)
_PER_CPU = re.compile(r"\b(?:DEFINE|DECLARE)_PER_CPU\w*\(([^,()]+),\s*(\w+)\)")
_ASM_WORDS = frozenset(("volatile", "__volatile__", "__volatile", "goto", "inline"))
_ALONE_ABOVE = re.compile(r"^([A-Za-z_]\w*)\s*\Z", re.MULTILINE)
_DEFINES = re.compile(r"(?:COMPAT_)?SYSCALL(?:32)?_DEFINE\d|BPF_CALL_\d|NOTRACE_BPF_CALL_\d")
LIMIT = 200_000  # longest parenthesised text that is read, in characters
_PLAIN, _ANNOTATION, _ATTRIBUTE, _LOOP = range(4)


class Head(NamedTuple):
    """A function head that a macro makes: ``macro(arguments)`` at offset `start`.

    For a K&R definition without any type, `macro` is "", and `arguments` is all text before the
    body.
    """

    macro: str
    arguments: str
    start: int


class Normal(NamedTuple):
    """A normalised text, and its function heads by the offset of the ``z`` in place of the name.

    `text` is for tree-sitter. `old_style` is `text` with all parameter declarations of K&R
    definitions; `text` has only those that tree-sitter can read.
    """

    text: str
    heads: dict[int, Head]
    old_style: str


def close_paren(text: str, start: int) -> int:
    """Return the offset after the parenthesis that closes the one at `start`, or -1."""
    depth = 0
    for match in _PARENS.finditer(text, start, start + LIMIT):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return -1


def _before(text: str, position: int) -> str:
    """Return the last character before `position` that is not a space; "" if there is none."""
    while position > 0:
        position -= 1
        if not text[position].isspace():
            return text[position]
    return ""


def _after(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


class _Kinds(dict[str, int]):
    """Maps each word that was seen to what the normaliser does with the word."""

    def __init__(self, table: MacroTable) -> None:
        self._table = table

    def __missing__(self, word: str) -> int:
        if word in self._table.annotations:
            kind = _ANNOTATION
        elif word in self._table.attributes:
            kind = _ATTRIBUTE
        else:
            kind = _LOOP if is_loop(word, self._table) else _PLAIN
        self[word] = kind
        return kind


class Normaliser:
    """Normalises any number of texts with one macro table."""

    def __init__(self, table: MacroTable) -> None:
        self.table = table
        self._kinds = _Kinds(table)

    def normalise(self, text: str) -> Normal:
        """Return a text that tree-sitter can parse: unknown macros are blanked or replaced."""
        heads: dict[int, Head] = {}
        text = _apply(text, list(self._file_scope(text, heads)))
        text = self.plain(text)
        calls = _first_in_line(text)
        blocks = list(_blocks(text, calls))
        text = _apply(text, blocks)
        opened = {start for start, _, _ in blocks}
        calls = [call for call in calls if call[1] not in opened]
        text = _apply(text, list(self._alone(text, calls)))
        return Normal(_apply(text, list(_old_style(text, heads))), heads, text)

    def plain(self, text: str) -> str:
        """Return the text with annotations and attributes blanked."""
        return _apply(text, list(self._words(text)))

    def _file_scope(self, text: str, heads: dict[int, Head]) -> Iterator[tuple[int, int, str]]:
        """Yield replacements for macro calls in the first column: a function head, or blanks."""
        for match in _HEAD.finditer("\n" + text):
            name = match[1]
            capital = name.isupper() and len(name) > 1
            made = name in self.table.heads or bool(_DEFINES.fullmatch(name))
            known = made or capital or name in self.table.functions or name == "__initfunc"
            if not known or name in KEYWORDS:
                continue
            if _before(text, match.start()) not in ";})":
                alone = _ALONE_ABOVE.search(text, max(0, match.start() - 200), match.start())
                if not alone or not _DEFINES.fullmatch(name):
                    continue
                yield alone.start(1), alone.end(1), blank(alone[1])
            paren = match.end() - 2  # in text: a newline was put before it
            end = close_paren(text, paren)
            if end < 0:
                continue
            next_at = _after(text, end)
            following = text[next_at : next_at + 1]
            start = match.start(1) - 1
            if following == "{" and not made and _WRAPPED.fullmatch(text, paren + 1, end - 1):
                # The macro is given the whole head: __initfunc(int f(void)) {
                yield start, paren + 1, blank(text[start : paren + 1])
                yield end - 1, end, " "
            elif following == "{" and (capital or made):
                if (made_head := _stand_in(text[start:end])) is not None:
                    at = start + made_head.index("z")
                    heads[at] = Head(name, text[paren + 1 : end - 1], match.start())
                    yield start, end, made_head
            elif following != "=" and match.start() == start and (capital or following == ";"):
                yield start, end, blank(text[start:end])

    def _alone(
        self, text: str, calls: list[tuple[str, int, int]]
    ) -> Iterator[tuple[int, int, str]]:
        """Yield semicolons for macro calls that are statements or declarations without a semicolon.

        The semicolon replaces the closing parenthesis; of the call, only the arguments stay.
        """
        for name, start, paren in calls:
            # <linux/compiler.h> has a macro called if.
            if name not in self.table.functions or name in KEYWORDS:
                continue
            if _before(text, start) not in ";{}":
                continue
            end = close_paren(text, paren)
            line_end = text.find("\n", end)
            following = _after(text, end)
            alone = end > 0 and end <= line_end <= following and not text[end:line_end].strip()
            if not alone or not _WORD.match(text, following):
                continue
            if not _INSIDE.search(text, paren, end):
                yield start, paren + 1, " " * (paren + 1 - start)
                yield end - 1, end, ";"

    def _words(self, text: str) -> Iterator[tuple[int, int, str]]:
        kinds = self._kinds
        for match in _WORD.finditer(text):
            word = match[0]
            kind = kinds[word]
            if kind == _PLAIN:
                continue
            edit = self._edit(text, word, kind, match.start(), match.end())
            if edit:
                yield edit

    def _edit(
        self, text: str, word: str, kind: int, start: int, end: int
    ) -> tuple[int, int, str] | None:
        if kind == _ANNOTATION:
            following = _after(text, end)
            if text[following : following + 1] == "(" and not word.startswith("__"):
                return None
            keep = self.table.annotations[word]
            new = keep if keep and len(keep) <= len(word) else ""
            return start, end, new + " " * (len(word) - len(new))
        following = _after(text, end)
        if kind == _ATTRIBUTE:
            while following < len(text) and text[following] != "(":
                word_after = _WORD.match(text, following)
                if not word_after or word_after[0] not in _ASM_WORDS:
                    break
                following = _after(text, word_after.end())
            if text[following : following + 1] != "(":
                return (start, end, " " * len(word)) if "asm" not in word else None
            close = close_paren(text, following)
            return (start, close, blank(text[start:close])) if close > 0 else None
        line = text.rfind("\n", 0, start) + 1
        statement = text[following : following + 1] == "(" and line < start
        if statement and (_before(text, start) in ";{}:)" or text[line:start].strip() == "else"):
            return start, end, "while" + " " * (len(word) - 5)
        return None


def _first_in_line(text: str) -> list[tuple[str, int, int]]:
    """Return (name, its offset, offset of the parenthesis) of macro calls that begin a line."""
    found = _CALL.finditer("\n" + text)
    return [(call[1], call.start(1) - 1, call.end() - 1) for call in found]


def _blocks(text: str, calls: list[tuple[str, int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield replacements for unknown macro calls that open a block: loops or conditions."""
    for name, start, paren in calls:
        if name in KEYWORDS or len(name) < 5 or not _BLOCK.match(text, paren):
            continue
        if _before(text, start) in ";{}:)":
            yield start, start + len(name), "while" + " " * (len(name) - 5)


def _old_style(text: str, heads: dict[int, Head]) -> Iterator[tuple[int, int, str]]:
    """Yield replacements for the parameter declarations of K&R definitions.

    Example: ``int f(a, b) int a; char *b; {``.  A head without a type, which tree-sitter mistakes
    for a call, becomes ``int z()``.
    """
    yield from sorted((*_declared_below(text, heads), *_declared_beside(text, heads)))


def _declared_below(text: str, heads: dict[int, Head]) -> Iterator[tuple[int, int, str]]:
    for match in _DECLARATIONS.finditer(text):
        start = text.rfind("(", 0, match.start())
        if start > 0 and _declares(match[1], text[start + 1 : match.start()]):
            line = text.rfind("\n", 0, start) + 1
            yield from _untyped(text, line, match.start() + 1, match.end() - 1, heads)
            yield match.start(1), match.end(1), blank(match[1])
    for match in _EMPTY.finditer("\n" + text):
        end = match.end() - 1
        yield from _untyped(text, match.start(), end, text.index("{", end), heads)


def _declares(declarations: str, parameters: str) -> bool:
    """Return whether each declaration is of a parameter; undeclared parameters are ints."""
    names = [name.strip() for name in parameters.split(",")]
    if not all(map(str.isidentifier, names)):
        return False
    return all(
        not _STATEMENT.match(declaration) and not set(names).isdisjoint(_WORD.findall(declaration))
        for declaration in declarations.split(";")
        if declaration.strip()
    )


def _declared_beside(text: str, heads: dict[int, Head]) -> Iterator[tuple[int, int, str]]:
    for match in _BESIDE.finditer("\n" + text):
        if _declares(match[2], match[1]):
            start, end = match.start(2) - 1, match.end(2) - 1
            yield from _untyped(text, match.start(), start, match.end() - 2, heads)
            yield start, end, blank(match[2])


def _untyped(
    text: str, start: int, end: int, body: int, heads: dict[int, Head]
) -> Iterator[tuple[int, int, str]]:
    """Yield ``int z()`` for a head without a type, if the head is long enough for that.

    `start` and `end` are the offsets of the head, and `body` is the offset of the opening brace.
    """
    name = _UNTYPED.match(text, start)
    if name is None or name[1] in KEYWORDS or _before(text, start) not in ";}":
        return
    at = name.start(1)
    if (stand_in := _stand_in(text[at:end])) is not None:
        heads[at + stand_in.index("z")] = Head("", text[start:body], start)
        yield at, end, stand_in


def _stand_in(head: str) -> str | None:
    """Return ``int z()``, padded to the length and lines of a head; None if it does not fit."""
    if len(head) < 3 or "\n" in head[:3]:
        return None
    room = list("int" + blank(head[3:]))
    free = [place for place in range(4, len(room)) if room[place] == " "]
    if len(free) < 3:
        return None
    for place, char in zip(free, "z()", strict=False):
        room[place] = char
    return "".join(room)


def _apply(text: str, edits: list[tuple[int, int, str]]) -> str:
    pieces = []
    position = 0
    for start, end, new in edits:
        if start >= position:
            pieces += [text[position:start], new]
            position = end
    pieces.append(text[position:])
    return "".join(pieces)


def per_cpu_variables(text: str) -> list[tuple[str, str]]:
    """Return (type text, name) of each per-CPU variable; parsers do not see these variables."""
    if "_PER_CPU" not in text:
        return []
    return [(" ".join(m[1].split()), m[2]) for m in _PER_CPU.finditer(text)]
