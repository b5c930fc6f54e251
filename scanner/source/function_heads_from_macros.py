# SPDX-License-Identifier: MIT
"""Function heads that macros such as SYSCALL_DEFINE make, written out as C."""

from __future__ import annotations

import re

from scanner.facts import Macro
from scanner.source.macro_replacement import Head

_DEFINES = re.compile(r"(COMPAT_)?(?:SYSCALL(?:32)?_DEFINE|(?:NOTRACE_)?(BPF)_CALL_)\d")
_PASTE = re.compile(r"\s*##\s*")
_TAIL = re.compile(r"((?:[A-Za-z_]\w*[\s*]+)+)([A-Za-z_]\w*)\s*\(([^()]*)\)$")


def split_arguments(text: str) -> list[str]:
    """Return the arguments: `text` split at the commas outside brackets of any kind."""
    parts = [""]
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [" ".join(part.split()) for part in parts]


def _paired(words: list[str]) -> str:
    """Return "T a, U b" for the words T, a, U, b."""
    pairs = zip(words[::2], words[1::2], strict=False)
    return ", ".join(f"{kind} {name}" for kind, name in pairs) or "void"


def substitute(macro: Macro, arguments: list[str]) -> str:
    """Return a macro's body, with `arguments` put in for parameters, and pasted tokens joined."""
    values = dict(zip(macro.params or (), arguments, strict=False))
    text = re.sub(r"[A-Za-z_]\w*", lambda m: values.get(m[0], m[0]), macro.body)
    return _PASTE.sub("", text)


def signature(head: Head, heads: dict[str, Macro]) -> str | None:
    """Return the C text of a macro's function head (``long sys_bind(int fd)``); None if unknown."""
    if not head.macro:
        return f"int {head.arguments}"
    words = split_arguments(head.arguments)
    define = _DEFINES.fullmatch(head.macro)
    if define and define[2]:
        return f"u64 {words[0]}({_paired(words[1:])})"
    if define:
        prefix = "compat_sys_" if define[1] else "sys_"
        return f"long {prefix}{words[0]}({_paired(words[1:])})"
    if head.macro in heads:
        tail = _TAIL.search(substitute(heads[head.macro], words))
        return f"{' '.join(tail[1].split())} {tail[2]}({tail[3]})" if tail else None
    return None
