# SPDX-License-Identifier: MIT
"""Blank comments, literals and directives of C text without changing its length.

Every function here takes and returns latin-1 text (one character a byte) and keeps its length and
newlines. Offsets into the result are therefore also offsets into the file.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

_TOKENS = re.compile(
    r"""/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)|//(?:[^\\\n]++|\\\n?)*+"""
    r"""|"(?:\\.|[^"\\\n])*(?:"|$)|'(?:\\.|[^'\\\n])*(?:'|$)""",
    re.DOTALL | re.MULTILINE,
)
# With the newline before it: searching for one character is many times as fast as for ^.
_DIRECTIVE = re.compile(r"\n[ \t]*+#(?:[^\\\n]++|\\\n?)*+")
_KEYWORD = re.compile(r"[ \t]*#[ \t]*([a-z]+)[ \t]*")
# For gcc, a backslash continues the line even if blanks follow it.
_APART = re.compile(r"\\([ \t]+)\n")
_CONTINUED = re.compile(r"\\\n")
_KNOWN = {
    "0": False,
    "1": True,
    "__cplusplus": False,
    "__ASSEMBLY__": False,
    "__ASSEMBLER__": False,
    "__INCLUDE_LEVEL__": True,
}
MAX_VARIANTS = 8


class Branch(NamedTuple):
    """One branch of an #if group: the text between two directives.

    `truth` is the value of the branch's condition; None if it is unknown.
    """

    start: int
    end: int
    truth: bool | None


class Group(NamedTuple):
    """The branches of an #if that lies in branch `inside` of the group `outer` (-1: in none)."""

    branches: list[Branch]
    outer: int
    inside: int


class Directive(NamedTuple):
    """A directive: its keyword, the text after the keyword joined into one line, and two offsets.

    The directive begins at `start` and ends before `end`.
    """

    keyword: str
    rest: str
    start: int
    end: int


def blank(text: str) -> str:
    """Return `text` with every character but newlines replaced by a space."""
    if "\n" not in text:
        return " " * len(text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _hide(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] == "/":
        # A newline that a backslash escapes stays escaped: it may be inside a #define.
        if "\n" not in text:
            return " " * len(text)
        hidden = "\\\n".join([blank(part) for part in text.split("\\\n")])
        line = match.string.rfind("\n", 0, match.start()) + 1
        if match.string[line : match.start()].lstrip().startswith("#"):
            hidden = hidden.replace(" \n", "\\\n")
        return hidden
    if text[0] == '"':
        if "\n" in text or text[-1] != '"' or len(text) == 1:
            whole = len(text) > 2 and text[-1] == '"'
            return _continued(text[:-2]) + '""' if whole else _continued(text)
        return '"' + "~" * (len(text) - 2) + '"'
    return "0" + _continued(text[1:])


def _continued(text: str) -> str:
    """Blank a literal; a newline that a backslash escapes stays escaped, as in a #define."""
    return "\\\n".join([blank(part) for part in text.split("\\\n")])


def plain_lines(text: str) -> str:
    """Return the text with Unix line ends, and no space between a backslash and a newline."""
    if "\r" in text:
        text = text.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
    return _APART.sub(r"\1\\\n", text)


def hide_literals(text: str) -> str:
    """Blank comments, fill strings with tildes, turn character constants into 0."""
    text = _TOKENS.sub(_hide, plain_lines(text))
    return text if text.isascii() else re.sub(r"[\x80-\xff]", "_", text)


def open_comment(data: bytes) -> int:
    """Return the offset of a comment that is not closed; -1 if all comments are closed."""
    begin = data.rfind(b"/*")
    if begin < 0 or begin < data.rfind(b"*/") - 1:
        return -1
    found = deque(_TOKENS.finditer(data.decode("latin-1")), maxlen=1)
    if not found or not found[0][0].startswith("/*"):
        return -1
    last = found[0][0]
    return -1 if last.endswith("*/") and len(last) > 3 else found[0].start()


def directives(text: str) -> list[Directive]:
    """Return the directives of a text whose literals are hidden."""
    found = []
    for match in _DIRECTIVE.finditer("\n" + text):
        written = match[0][1:]
        keyword = _KEYWORD.match(written)
        if keyword:
            rest = _CONTINUED.sub(" ", written[keyword.end() :]).strip()
            start = match.start()  # the text has an extra newline in front, so subtract one
            found.append(Directive(keyword[1], rest, start, start + len(written)))
    return found


def _truth(directive: Directive) -> bool | None:
    if directive.keyword == "else":
        return True
    words = directive.rest.replace("(", " ").replace(")", " ").split()
    if directive.keyword in ("ifdef", "ifndef"):
        known = _KNOWN.get(words[0]) if words else None
        return known if known is None or directive.keyword == "ifdef" else not known
    if len(words) == 1 and words[0] in ("0", "1"):
        return _KNOWN[words[0]]
    if len(words) == 2 and words[0] == "defined":
        return _KNOWN.get(words[1])
    if len(words) == 2 and words[0] == "!defined" and words[1] in _KNOWN:
        return not _KNOWN[words[1]]
    return None


def branch_groups(found: list[Directive], length: int) -> list[Group]:
    """Return the #if groups (#if to #endif), ordered by the positions of their #if.

    A group without #endif extends to the end of the text.
    """
    groups: list[Group] = []
    stack: list[tuple[int, Directive]] = []
    for directive in found:
        if directive.keyword in ("if", "ifdef", "ifndef"):
            outer = stack[-1][0] if stack else -1
            inside = len(groups[outer].branches) if stack else 0
            stack.append((len(groups), directive))
            groups.append(Group([], outer, inside))
        elif directive.keyword in ("elif", "else", "endif", "elifdef") and stack:
            group, opened = stack.pop()
            branch = Branch(opened.end, directive.start, _truth(opened))
            groups[group].branches.append(branch)
            if directive.keyword != "endif":
                stack.append((group, directive))
    for group, opened in stack:
        groups[group].branches.append(Branch(opened.end, length, _truth(opened)))
    return groups


def _candidates(group: Group) -> list[int]:
    chosen = []
    for index, branch in enumerate(group.branches):
        if branch.truth is not False:
            chosen.append(index)
        if branch.truth:
            break
    return chosen


def _unseen(
    groups: list[Group], candidates: list[list[int]], seen: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Return the branches that no variant had yet, and the branches that contain one of these."""
    found: set[tuple[int, int]] = set()
    for number, branches in enumerate(candidates):
        for branch in branches:
            if (number, branch) in seen:
                continue
            path = [(number, branch)]
            outer, inside = groups[number].outer, groups[number].inside
            while outer >= 0 and inside in candidates[outer]:
                path.append((outer, inside))
                outer, inside = groups[outer].outer, groups[outer].inside
            if outer < 0:
                found.update(path)
    return found


def choices(groups: list[Group]) -> Iterator[list[int]]:
    """Yield a list for each variant of the text: the chosen branch of each #if group.

    Variant 0 takes the first branch of all groups and variant 1 the last one, so that groups that
    belong together change together. Further variants follow until every branch has been in a
    variant.
    """
    candidates = [_candidates(group) for group in groups]
    seen: set[tuple[int, int]] = set()
    for variant in range(MAX_VARIANTS):
        wanted = _unseen(groups, candidates, seen)
        if variant and not wanted:
            return
        chosen: list[int] = []
        visible: list[bool] = []
        for number, branches in enumerate(candidates):
            group = groups[number]
            shown = group.outer < 0 or (
                visible[group.outer] and chosen[group.outer] == group.inside
            )
            pick = branches[0] if branches else -1
            if branches and variant == 1:
                pick = branches[-1]
            elif variant > 1:
                pick = next((b for b in branches if (number, b) in wanted), pick)
            visible.append(shown)
            chosen.append(pick)
            if shown:
                seen.add((number, pick))
        yield chosen


def choose_branches(
    text: str, found: list[Directive], groups: list[Group], chosen: list[int]
) -> str:
    """Return the text of one #if variant: directives and branches not chosen are blanked."""
    spans = [(d.start, d.end) for d in found]
    for group, keep in zip(groups, chosen, strict=True):
        spans += [(b.start, b.end) for i, b in enumerate(group.branches) if i != keep]
    pieces = []
    position = 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        start = max(start, position)
        pieces += [text[position:start], blank(text[start:end])]
        position = end
    pieces.append(text[position:])
    # What is left of escaped newlines is outside directives.
    return "".join(pieces).replace("\\\n", " \n")
