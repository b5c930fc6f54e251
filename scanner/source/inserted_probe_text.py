# SPDX-License-Identifier: MIT
"""The text of probes, and its removal: inserted text is recognised by its form alone.

``@`` is a placeholder for the function's id, which is chosen later.  No inserted text contains a
newline, except PREFIX, which makes the compiler count lines from 1 again.
"""

from __future__ import annotations

import re

INCLUDE = "#include <linux/kbl_probe.h>"
PREFIX = f"{INCLUDE}\n#line 1\n"
RESULT = "kbl_ret"
KEEP = f"{{ {RESULT} = ("
DROP = "{ KBL_VOID ("
NOTHING = "{ KBL_NOTHING"
END = "KBL_LEAVE(@); "
PLAIN = ("{ KBL_LEAVE(@); ", " }")

LOCAL_LABELS = re.compile(r"(?:\s*\b__label__\b[^;]*;)*")
_ENTERED = re.compile(r" KBL_ENTER(_SCOPE)?\((\d+)((?:, \w+)*)\);")
_RETURNS = re.compile(
    r"\{ (?:kbl_ret = \(|KBL_VOID \(|KBL_NOTHING\b|KBL_LEAVE\(\d+\); return[ \t]*; \})"
)
_INCLUDED = re.compile(rf"^{re.escape(INCLUDE)}", re.MULTILINE)
_BACK = (
    (re.compile(r" KBL_ENTER(?:_SCOPE)?\(\d+(?:, \w+)*\);(?: KBL_RESULT\([^;{}]*?\);)?"), ""),
    (re.compile(r"\{ KBL_LEAVE\(\d+\); (return[ \t]*;) \}"), r"\1"),
    (re.compile(r"\{ (?:kbl_ret = \(|KBL_VOID \(|KBL_NOTHING\b)"), "return"),
    (
        re.compile(r"\)?; KBL_LEAVE(?:\(\d+\)|_VALUE\(\d+, kbl_ret\)); return(?: kbl_ret)?; \}"),
        ";",
    ),
    (re.compile(r"KBL_LEAVE\(\d+\); (?=\})"), ""),
    (_INCLUDED, ""),
)


def enter(carriers: list[str], kind: str | None, scope: bool) -> str:
    """Return the text of an entry probe for a function with these carriers (argument names).

    `kind` is the C type of the result that the probe keeps; None if it keeps none.  `scope` means
    that the exit probe is a cleanup.
    """
    word = "KBL_ENTER_SCOPE" if scope else "KBL_ENTER"
    kept = f" KBL_RESULT({kind});" if kind else ""
    return f" {word}({', '.join(['@', *carriers])});{kept}"


def leave(opened: str, value: bool) -> str:
    """Return the text that replaces the semicolon of a return statement.

    `opened` is the text that replaced the word `return`: KEEP, DROP or NOTHING. `value` means that
    the result is a number or a pointer; such a result is passed to the probe.
    """
    if opened == KEEP:
        call = f"KBL_LEAVE_VALUE(@, {RESULT})" if value else "KBL_LEAVE(@)"
        return f"); {call}; return {RESULT}; }}"
    return f"{')' if opened == DROP else ''}; KBL_LEAVE(@); return; }}"


def has_probes(text: str) -> bool:
    """Return whether a file has probes."""
    return INCLUDE in text


def includes(text: str) -> list[int]:
    """Return the offsets in `text` at which the header of the probes is included."""
    return [match.start() for match in _INCLUDED.finditer(text)]


def entry_probe(text: str, brace: int) -> tuple[int, list[str], bool] | None:
    """Return (id, carriers, is_scope) of the entry probe after a brace; None if there is none.

    `brace` is the offset of the brace.  `is_scope` means that the exit probe is a cleanup.
    """
    labels = LOCAL_LABELS.match(text, brace + 1)
    match = _ENTERED.match(text, labels.end() if labels else brace + 1)
    if match is None:
        return None
    return int(match[2]), re.findall(r"\w+", match[3]), bool(match[1])


def ids(text: str) -> list[int]:
    """Return the ids of the probes in a file."""
    return [int(match[2]) for match in _ENTERED.finditer(text)]


def lines_before(text: str) -> int:
    """Return how many lines were inserted before the file's first line."""
    return PREFIX.count("\n") if text.startswith(PREFIX) else 0


def without_probes(data: bytes) -> bytes:
    """Return a file as it was before probes were inserted; a file without probes is unchanged."""
    if INCLUDE.encode() not in data:
        return data
    return strip(data.decode("latin-1")).encode("latin-1")


def count(body: str, number: int) -> tuple[int, int]:
    """Return how many return statements and how many ends of a function's body have a probe.

    An end of the body counts only if its probe has the id `number`.
    """
    returns = len(_RETURNS.findall(body))
    return returns, len(re.findall(rf"KBL_LEAVE\({number}\); \}}", body))


def strip(text: str) -> str:
    """Return the text as it was before probes were inserted."""
    text = text.removeprefix(PREFIX)
    for pattern, new in _BACK:
        text = pattern.sub(new, text)
    return text
