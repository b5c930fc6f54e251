# SPDX-License-Identifier: MIT
"""The blocks in braces at file scope of a normalised text, found only by counting braces.

After an error a parser may mistake any brace for the end of a function. The ends of functions that
this module finds in the text are compared with the parser's result.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from scanner.source.comment_blanking import blank

_BRACES = re.compile(r"[{}]")
_GROUP = re.compile(r"\([^()]*\)")
_LINKAGE = re.compile(r'extern\s*"[^"]*"\s*\Z')
_NAMED = re.compile(r"([A-Za-z_]\w*)\s*@")
_STATEMENT = re.compile(r"\b(?:case|return|if|else|switch|goto|while|for|do|typedef|sizeof)\b")
# A type whose tag a macro makes, or that has one beside its tag.
_TAGGED = re.compile(r"(?:static\s+|const\s+)*(?:struct|union|enum)\s*\w*\s*@\s*\w*")
# C++: what is inside cannot be read.
_FOREIGN = re.compile(
    r"(?:template\s*<.*>\s*)?(?:(?:class|namespace)\s+\w+|(?:struct|class)\s+\w+\s*(?=:\s*\w))",
    re.DOTALL,
)
_MARKED = re.compile(r"\b[A-Za-z_]\w*\s*\([^()]*\)(?=\s*[A-Za-z_])")
_TAG = re.compile(r"(?:struct|union)\s+\w+\s*")
_METHOD = re.compile(
    r"[;{}]\s*+(?!struct\b|union\b|enum\b)[\w\s*~]*\w\s*\([^;{}]*\)\s*(?:const\s*)?(?::[^;{}]*)?\{"
)
_NEXT = re.compile(r"\s*")
# A head whose parameters are names only, before a declaration.
_OLD_STYLE = re.compile(r"(?:^|[;}])([^;{}()]*\([\w\s,]*\))(?=\s*[A-Za-z_])")
LONGEST = 10_000  # characters of a head


class Block(NamedTuple):
    """A block in braces, as offsets: where its head begins, its opening brace, and its end.

    `certain` means that the braces of the text balance. If the braces do not balance, a block ends
    at a brace in the first column.
    """

    head: int
    open: int
    end: int
    certain: bool


def blocks(text: str) -> list[Block]:
    """Return the outermost blocks in braces of a text, in order."""
    found, balanced = _counted(text)
    return found if balanced else _by_columns(text)


def _counted(text: str) -> tuple[list[Block], bool]:
    """Return the blocks in braces, and whether every brace has a counterpart."""
    found: list[Block] = []
    depth = around = after = 0
    start = -1
    balanced = True
    for match in _BRACES.finditer(text):
        at = match.start()
        if match[0] == "{":
            if depth == 0 and _LINKAGE.search(text, max(after, at - 40), at):
                around += 1
                after = at + 1
                continue
            start = start if depth else at
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                found.append(Block(_head(text, after, start), start, at + 1, True))
                after = at + 1
        else:
            balanced = balanced and around > 0
            around -= 1
            after = at + 1
    return found, balanced and depth == 0


def _by_columns(text: str) -> list[Block]:
    """Return the blocks of a text whose braces do not balance.

    A brace in the first column begins or ends a block, whatever the count of braces is.
    """
    found: list[Block] = []
    depth = after = 0
    start = -1
    for match in _BRACES.finditer(text):
        at = match.start()
        first = at == 0 or text[at - 1] == "\n"
        if match[0] == "{":
            if depth and first and (cut := text.rfind("}", start, at)) > 0:
                found.append(Block(_head(text, after, start), start, cut + 1, False))
                after, depth = cut + 1, 0
            start = start if depth else at
            depth += 1
        elif depth:
            depth = 0 if first and _begins_anew(text, at + 1) else depth - 1
            if depth == 0:
                found.append(Block(_head(text, after, start), start, at + 1, False))
                after = at + 1
        else:
            after = at + 1
    if depth:
        found.append(Block(_head(text, after, start), start, len(text), False))
    return found


def _begins_anew(text: str, position: int) -> bool:
    """Return whether the next text after `position` is in the first column, or there is none."""
    match = _NEXT.match(text, position)
    at = match.end() if match else position
    return at >= len(text) or (text[at - 1] == "\n" and text[at] not in "{}")


def _head(text: str, after: int, start: int) -> int:
    """Return the offset at which the text before a brace begins, after the last semicolon.

    If there is no text after the semicolon, the text before the semicolon is the parameter
    declarations of a K&R definition.
    """
    at = max(after, text.rfind(";", after, start) + 1)
    if at > after and not text[at:start].strip():
        first = max(0, after - 1, start - LONGEST)  # with the brace before it
        old_style = deque(_OLD_STYLE.finditer(text, first, start), maxlen=1)
        at = max(after, old_style[0].start(1)) if old_style else at
    match = _NEXT.match(text, at, start)
    return match.end() if match else at


def without_bodies(text: str, hidden: list[Block]) -> str:
    """Return the text with the blocks `hidden` emptied; length and line numbers stay the same."""
    pieces = []
    position = 0
    for block in hidden:
        pieces += [text[position : block.open + 1], blank(text[block.open + 1 : block.end - 1])]
        pieces += ["}"] if block.end > block.open + 1 else []
        position = block.end
    return "".join([*pieces, text[position:]])


def plain_heads(text: str, hidden: list[Block]) -> str:
    """Return the text with the blocks `hidden` emptied, and no macro calls before heads' types.

    Such a macro call is followed by a word, and its parentheses are not the last ones of the head,
    which contain the parameters.
    """
    pieces = []
    position = 0
    for block in hidden:
        last = _last_group(text, block)
        pieces.append(text[position : block.head])
        for start, end in ((block.head, last), (last, block.open)):
            pieces.append(_MARKED.sub(lambda match: blank(match[0]), text[start:end]))
        position = block.open
    return without_bodies("".join([*pieces, text[position:]]), hidden)


def _last_group(text: str, block: Block) -> int:
    """Return the offset of the ( that opens the last pair of outermost parentheses in a head."""
    depth = 0
    for at in range(block.open - 1, block.head, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if text[at] == "(" and depth == 0:
            return at
    return block.open


def is_function(text: str, block: Block) -> bool:
    """Return whether the text before a block looks like the head of a function, or like C++."""
    if block.open - block.head > LONGEST:
        return False
    head = _plain(text[block.head : block.open]).strip()
    if _FOREIGN.match(head):
        return True
    if "=" in head or "(" in head or ")" in head or _STATEMENT.search(head):
        return False
    return bool(_NAMED.search(head)) and not _TAGGED.fullmatch(head)


def is_class(text: str, block: Block) -> bool:
    """Return whether a block is a struct that contains functions, as only C++ allows."""
    head = text[block.head : block.open]
    return bool(_TAG.fullmatch(head) and _METHOD.search(text, block.open, block.end))


def is_statement(head: str) -> bool:
    """Return whether the text before a brace contains a word that begins a statement."""
    return bool(_STATEMENT.search(head) and _STATEMENT.search(_plain(head)))


def name(text: str, block: Block) -> str:
    """Return the name of the function whose head precedes `block`, as far as the text shows it."""
    head = _plain(text[block.head : block.open])
    if foreign := _FOREIGN.match(head.strip()):
        return " ".join(foreign[0].split())
    if _TAG.fullmatch(head):
        return " ".join(head.split())
    names: list[str] = _NAMED.findall(head)
    small = [word for word in names if not word.isupper()]
    return (small or names or ["?"])[-1]


def _plain(head: str) -> str:
    """Return a head in which @ replaces each outermost pair of parentheses with its contents."""
    before = ""
    while before != head:
        before = head
        head = _GROUP.sub("@", head)
    return head
