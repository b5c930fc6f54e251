# SPDX-License-Identifier: MIT
"""The type of a function's result, written so that the body can declare a variable of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from tree_sitter import Node

from scanner.facts import FileFacts, TypeRef

_STORAGE = re.compile(
    r"\b(?:static|extern|inline|__inline(?:__)?|__always_inline|register|auto|_Noreturn|"
    r"__extension__|__restrict(?:__)?|restrict)\b"
)
_QUALIFIER = re.compile(r"\b(?:const|volatile|__const(?:__)?|__volatile(?:__)?)\b")
_TRAILING = re.compile(r"(?:\s*\b(?:const|volatile)\b)+\s*$")
_TAGGED = re.compile(r"(?:struct|union|enum) (\w+)")
_NUMBER = frozenset(
    ("unsigned", "signed", "long", "short", "int", "char", "_Bool", "float", "double")
)
_INTEGER = _NUMBER - {"float", "double"}


class Typedefs:
    """Every typedef of a tree."""

    def __init__(self, files: Iterable[FileFacts]) -> None:
        self._types: dict[str, set[TypeRef]] = defaultdict(set)
        for facts in files:
            for typedef in facts.typedefs:
                self._types[typedef.name].add(typedef.type)

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def void(self, name: str) -> bool:
        """Return whether some typedef of this name means void."""
        return any(kind[:2] == ("void", 0) for kind in self._types.get(name, ()))

    def scalar(self, base: str, depth: int = 0) -> bool:
        """Return whether the type `base` is an integer or a pointer by all its definitions."""
        if base.startswith("enum ") or all(word in _INTEGER for word in base.split()):
            return bool(base)
        kinds = self._types.get(base)
        return (
            depth < 8
            and bool(kinds)
            and all(
                kind.stars > 0 or kind.function or self.scalar(kind.base, depth + 1)
                for kind in kinds or ()
            )
        )


def _function_declarator(node: Node) -> tuple[Node | None, bool]:
    """Return a definition's function declarator, and whether only pointer stars enclose it."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return None, False
    name = declarator.child_by_field_name("declarator")
    return declarator, name is not None and name.type == "identifier"


def result_text(node: Node, text: str, shadowed: set[str], typedefs: Typedefs) -> str | None:
    """Return the type of a definition's result, such as ``struct sk_buff *``.

    `text` is the normalised file. `shadowed` are names that mean something else inside the
    function's body. Returns None if the type cannot be written safely inside the body.
    """
    declarator, plain = _function_declarator(node)
    if declarator is None or not plain:
        return None
    whole = " ".join(_STORAGE.sub(" ", text[node.start_byte : declarator.start_byte]).split())
    base, star, stars = whole.partition("*")
    stars = _TRAILING.sub("", star + stars)
    bare = " ".join(_QUALIFIER.sub(" ", base).split())
    if not star:
        base = bare
    words = bare.split()
    known = (
        not words
        or bare == "void"
        or all(word in _NUMBER for word in words)
        or _TAGGED.fullmatch(bare) is not None
        or (len(words) == 1 and bare in typedefs and bare not in shadowed)
    )
    if not known or re.fullmatch(r"[\s*]*(?:(?:const|volatile)[\s*]+)*", stars) is None:
        return None
    return f"{base.strip() or 'int'} {stars}".strip()


def is_void(kind: str, typedefs: Typedefs) -> bool:
    """Return whether a function with the result type `kind` returns nothing."""
    return kind == "void" or typedefs.void(kind)


def is_scalar(kind: str, typedefs: Typedefs) -> bool:
    """Return whether a result of the type `kind` can be passed to a probe as one number."""
    return "*" in kind or typedefs.scalar(kind)
