# SPDX-License-Identifier: MIT
"""Prepare the text of one function definition for pycparser, from tree-sitter's node."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tree_sitter import Node

from scanner.parse import declarations, gnu_dialect, tree_sitter_definitions, tree_sitter_fallback
from scanner.source import function_heads_from_macros
from scanner.source.brace_blocks import is_statement
from scanner.source.macro_replacement import Normal, Normaliser
from scanner.source.macro_table import KEYWORDS
from scanner.source.prepared_file import Prepared

_UNTOUCHED = re.compile(
    r"\b(noinstr|notrace|__naked|__no_instrument_function|__kprobes|nokprobe_inline|__init|__exit"
    r"|__initfunc|__noscs|__net_init|__net_exit|__devinit|__devexit|__cpuinit|__cpuexit|__meminit|__memexit)\b"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_TYPES = ("struct", "union", "enum", "unsigned", "signed", "long", "short")


class Island(NamedTuple):
    """A function definition before it is parsed.

    `text` is the text for pycparser; its lines are lines of the file, from line `first` on. `types`
    are the type names used in the text. `head` is the macro that makes the head, or "";
    `unknown_head` means that the definition of this macro is unknown. `annotations` are words of
    the head that forbid a probe. `inside` is the node that holds the statements of the body.
    """

    name: str
    line: int
    first: int
    text: str
    types: frozenset[str]
    head: str
    unknown_head: bool
    node: Node
    brace: Node
    inside: Node
    annotations: tuple[str, ...]


def read_island(
    prepared: Prepared,
    normal: Normal,
    found: tree_sitter_definitions.Found,
    node: Node,
    normaliser: Normaliser,
) -> Island | None:
    """Return a function_definition's text for pycparser; None if it declares no function."""
    name = tree_sitter_definitions.name_node(node)
    brace = node.child_by_field_name("body")
    if name is None or brace is None:
        return None
    inside = found.inside(brace)
    start = node.start_byte
    text = normal.old_style[start : node.end_byte]
    types = found.type_names(start, node.end_byte)
    if text[: brace.start_byte - start] != normal.text[start : brace.start_byte]:
        types -= tree_sitter_fallback.parameter_names(node)
        types |= _declared_types(text[: brace.start_byte - start])
    if is_statement(text[: brace.start_byte - start]):
        return None  # error recovery made a function of a macro that holds statements
    line = prepared.line(name.start_byte)
    declared = prepared.text.rfind("\n", 0, start) + 1
    words = _UNTOUCHED.findall(prepared.text, declared, brace.start_byte)
    against = tuple(dict.fromkeys(words))
    head = normal.heads.get(name.start_byte)
    if head is None:
        label = text[name.start_byte - start : name.end_byte - start]
        first = prepared.line(start)
        return Island(label, line, first, text, types, "", False, node, brace, inside, against)
    written = function_heads_from_macros.signature(head, normaliser.table.heads)
    if not head.macro:
        label = head.arguments.partition("(")[0].split()[-1]
        types |= _declared_types(head.arguments)
        text = f"{written}{text[brace.start_byte - start :]}"
        first = prepared.line(start)
        return Island(label, line, first, text, types, "", False, node, brace, inside, against)
    unknown = written is None
    label = head.macro
    if written is None:
        arguments = function_heads_from_macros.split_arguments(head.arguments)
        while len(arguments) > 1 and KEYWORDS.issuperset(arguments[0].split()):
            arguments = arguments[1:]  # a type such as "unsigned int"
        label = arguments[0] if arguments[0].isidentifier() else label
        written = f"int {label}()"
    written = normaliser.plain(written)
    text = f"{written} {text[brace.start_byte - start :]}"
    types |= frozenset(_plain_types(written))
    first = prepared.line(brace.start_byte)
    return Island(
        label, line, first, text, types, head.macro, unknown, node, brace, inside, against
    )


def parse_island(island: Island) -> tuple[Any, str, list[tuple[str, Exception]]]:
    """Return pycparser's FuncDef of a function, the part of it that can be used, and the failures.

    The part is "pycparser" for the whole function, "signature" for only the head, and "tree-sitter"
    if nothing can be used (the FuncDef is None).
    """
    problems: list[tuple[str, Exception]] = []
    text, types = island.text, island.types
    try:
        return _definition(gnu_dialect.body_text(text, types), types), "pycparser", problems
    except declarations.Unreadable as problem:
        problems.append(("body", problem))
    try:
        return _definition(text.partition("{")[0] + "{}", types), "signature", problems
    except declarations.Unreadable as problem:
        problems.append(("signature", problem))
    return None, "tree-sitter", problems


def _declared_types(head: str) -> frozenset[str]:
    """Return the type names in the parameter declarations of a K&R definition."""
    found = set()
    for declaration in head.rpartition(")")[2].split(";"):
        words = [
            w for w in _NAME.findall(declaration) if w not in ("register", "const", "volatile")
        ]
        if (
            len(words) > 1
            and words[0] not in tree_sitter_definitions.BASIC
            and words[0] not in _NO_TYPES
        ):
            found.add(words[0])
    return frozenset(found)


def _plain_types(written: str) -> list[str]:
    """Return the type names in a head that a macro makes.

    In a head that a macro makes, a type is one word, or "struct", "union" or "enum" with a tag.
    """
    words = written.replace("*", " ").replace("(", " , ").replace(")", " ").split()
    known = (
        "struct",
        "union",
        "enum",
        "const",
        "unsigned",
        "long",
        "int",
        "char",
        "void",
        "short",
        "signed",
        "static",
        "inline",
        ",",
    )
    found = []
    for before, word, after in zip([","] + words, words, words[1:] + [","], strict=False):
        plain = word.isidentifier() and word not in known and before not in known[:3]
        if plain and after != "," and not after.startswith(","):
            found.append(word)
    return found


def _definition(text: str, types: frozenset[str]) -> Any:
    for declared in declarations.parse(text, types):
        if type(declared).__name__ == "FuncDef":
            return declared
    raise declarations.Unreadable("no function")
