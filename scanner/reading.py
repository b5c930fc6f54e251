# SPDX-License-Identifier: MIT
"""One source file into facts: normaliser, then tree-sitter, then pycparser for each island."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from tree_sitter import Node

from scanner import declarations, dialect, heads, initialisers, islands, loose
from scanner.blanking import (
    Directive,
    branch_groups,
    choose_branches,
    directives,
    hide_literals,
    variant_count,
)
from scanner.bodies import Body
from scanner.facts import (
    Fallback,
    FileFacts,
    Function,
    Init,
    Macro,
    Param,
    Record,
    Typedef,
    TypeRef,
)
from scanner.macros import MacroTable, read_define, worth_keeping
from scanner.normalise import Normal, Normaliser, per_cpu_variables
from scanner.pseudo import pseudo_functions


class Prepared(NamedTuple):
    """A file whose comments and literals are hidden, and its directives."""

    text: str
    directives: list[Directive]
    newlines: list[int]
    macros: tuple[Macro, ...]

    def line(self, offset: int) -> int:
        """Return the line of a byte offset, from 1."""
        return bisect_right(self.newlines, offset - 1) + 1


def prepare(data: bytes) -> Prepared:
    """Hide comments and literals, and read the directives."""
    text = hide_literals(data.decode("latin-1"))
    newlines = [m.start() for m in _NEWLINE.finditer(text)]
    found = directives(text)
    macros = []
    for directive in found:
        if directive.keyword == "define":
            line = bisect_right(newlines, directive.start - 1) + 1
            macro = read_define(directive, line)
            if macro and worth_keeping(macro):
                macros.append(macro)
    return Prepared(text, found, newlines, tuple(macros))


LONGEST_LINE = 250_000  # characters; a file with a longer line was not written by hand
_NEWLINE = re.compile(r"\n")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\n|[^\n])*", re.MULTILINE)


def defines(data: bytes) -> list[Macro]:
    """Return the macros of a file by a quick look at its #define lines; their line is 0."""
    found: list[Macro] = []
    if len(data) > LONGEST_LINE and _longest_line(data) > LONGEST_LINE:
        return found
    for match in _DEFINE.findall(data):
        text = hide_literals(match.decode("latin-1"))
        for directive in directives(text):
            macro = read_define(directive, 0)
            if macro and worth_keeping(macro):
                found.append(macro)
    return found


class FileReader:
    """Reads files under one macro table."""

    def __init__(self, table: MacroTable) -> None:
        self.table = table
        self.normaliser = Normaliser(table)

    def read(self, path: str, data: bytes) -> FileFacts:
        """Return the facts of a file; whatever cannot be read is in its warnings."""
        if b"\0" in data:
            return _empty(path, "binary: it has zero bytes")
        if len(data) > LONGEST_LINE and (longest := _longest_line(data)) > LONGEST_LINE:
            return _empty(path, f"a line of {longest} characters: no source code")
        prepared = prepare(data)
        reading = _Reading(self, prepared)
        reading.variants()
        return reading.facts(path)


def _longest_line(data: bytes) -> int:
    return max(map(len, data.split(b"\n")))


def _empty(path: str, warning: str) -> FileFacts:
    return FileFacts(path, 0, (), (), (), (), (), (), (), (warning,), (0, 0, 0, 0))


class _Reading:
    """The facts of one file while its variants are read."""

    def __init__(self, reader: FileReader, prepared: Prepared) -> None:
        self.reader = reader
        self.prepared = prepared
        self.functions: dict[int, Function] = {}
        self.texts: set[tuple[int, str]] = set()
        self.records: dict[tuple[str, int], Record] = {}
        self.typedefs: dict[tuple[str, int], Typedef] = {}
        self.variables: dict[Param, None] = {}
        self.inits: dict[Init, None] = {}
        self.fallbacks: dict[Fallback, None] = {}
        self.warnings: list[str] = []
        self.tried = [0, 0, 0, 0]

    def facts(self, path: str) -> FileFacts:
        """Return what was found."""
        return FileFacts(
            path,
            len(self.prepared.newlines),
            tuple(self.functions[key] for key in sorted(self.functions)),
            tuple(self.records.values()),
            tuple(self.typedefs.values()),
            self.prepared.macros,
            tuple(self.variables),
            tuple(self.inits),
            tuple(self.fallbacks),
            tuple(self.warnings),
            (self.tried[0], self.tried[1], self.tried[2], self.tried[3]),
            tuple(pseudo_functions(self.prepared.macros)),
        )

    def variants(self) -> None:
        """Read every #if variant and unite what they show."""
        text = self.prepared.text
        groups = branch_groups(self.prepared.directives, len(text))
        for variant in range(variant_count(groups)):
            chosen = choose_branches(text, self.prepared.directives, groups, variant)
            for kind, name in per_cpu_variables(chosen):
                self.variables[Param(name, TypeRef(kind.rstrip(" *"), kind.count("*")))] = None
            normal = self.reader.normaliser.normalise(chosen)
            found = islands.find(normal.text)
            for node in found.records:
                self._record(node, normal.text, found)
            for node in found.typedefs:
                self._typedef(node, normal.text, found)
            for node in found.variables:
                params, inits = initialisers.variables(node)
                self.variables.update(dict.fromkeys(params))
                self.inits.update(dict.fromkeys(inits))
            for node in found.functions:
                self._function(node, normal, found, variant)

    def _fall_back(self, kind: str, name: str, line: int, problem: Exception) -> None:
        self.fallbacks[Fallback(kind, name, line, str(problem))] = None

    def _new(self, node: Node, text: str) -> bool:
        """Say whether this island was not read in an earlier variant."""
        key = (node.start_byte, text)
        if key in self.texts:
            return False
        self.texts.add(key)
        return True

    def _record(self, node: Node, text: str, found: islands.Found) -> None:
        island = text[node.start_byte : node.end_byte]
        if not self._new(node, island):
            return
        self.tried[1] += 1
        line = self.prepared.line(node.start_byte)
        types = found.type_names(node.start_byte, node.end_byte)
        base = loose.base_type(node)
        try:
            record = declarations.record(dialect.record_text(island), types - {base[7:]}, line)
        except declarations.Unreadable as problem:
            self._fall_back("struct", base, line, problem)
            record = Record(base, line, loose.members(node))
        self.records[record.base, line] = record

    def _typedef(self, node: Node, text: str, found: islands.Found) -> None:
        island = text[node.start_byte : node.end_byte]
        if not self._new(node, island):
            return
        self.tried[2] += 1
        line = self.prepared.line(node.start_byte)
        types = found.type_names(node.start_byte, node.end_byte)
        try:
            defined = declarations.typedefs(dialect.record_text(island), types, line)
        except declarations.Unreadable as problem:
            name, stars, function = loose.declared(node.child_by_field_name("declarator"))
            self._fall_back("typedef", name, line, problem)
            base = loose.base_type(node.child_by_field_name("type"))
            defined = [Typedef(name, line, TypeRef(base, stars, function), ())]
        for item in defined:
            if isinstance(item, Record):
                self.records[item.base, line] = item
            else:
                self.typedefs[item.name, line] = item

    def _function(self, node: Node, normal: Normal, found: islands.Found, variant: int) -> None:
        name = islands.name_node(node)
        text = normal.old_style[node.start_byte : node.end_byte]
        if name is None or not self._new(node, text):
            return
        function = self._read_function(node, name, text, normal, found, variant)
        if function is None:
            return
        earlier = self.functions.get(name.start_byte)
        if earlier is not None:
            function = _unite(earlier, function)
        self.functions[name.start_byte] = function

    def _read_function(
        self,
        node: Node,
        name: Node,
        text: str,
        normal: Normal,
        found: islands.Found,
        variant: int,
    ) -> Function | None:
        brace = node.child_by_field_name("body")
        if brace is None:
            return None
        line = self.prepared.line(name.start_byte)
        first = self.prepared.line(node.start_byte)
        types = found.type_names(node.start_byte, node.end_byte)
        if (
            text[: brace.start_byte - node.start_byte]
            != normal.text[node.start_byte : brace.start_byte]
        ):
            types -= loose.parameter_names(node)
        label = text[name.start_byte - node.start_byte : name.end_byte - node.start_byte]
        made = ""
        head = normal.heads.get(name.start_byte)
        if head is not None:
            made = head.macro
            written = heads.signature(head, self.reader.table.heads)
            body = text[brace.start_byte - node.start_byte :]
            first = self.prepared.line(brace.start_byte)
            if written is None:
                arguments = heads.split_arguments(head.arguments)
                label = arguments[0] if arguments[0].isidentifier() else head.macro
                written = f"int {label}()"
                self.fallbacks[Fallback("signature", label, line, f"head by {made}")] = None
            written = self.reader.normaliser.plain(written)
            text = f"{written} {body}"
            types |= frozenset(_plain_types(written))
        self.tried[0] += 1
        self.tried[3] += 1
        parsed, parser = self._parse(text, types, label, line, first)
        start = text.partition("{")[0].split()
        base = (
            label,
            line,
            self.prepared.line(node.end_byte - 1),
            node.start_byte,
            brace.start_byte,
            node.end_byte,
            "static" in start,
            "inline" in start,
            variant,
            made,
        )
        return _assemble(base, parsed, parser, node, brace, first)

    def _parse(
        self, text: str, types: frozenset[str], label: str, line: int, first: int
    ) -> tuple[object, str]:
        """Return pycparser's definition, and how much of it can be used."""
        try:
            return _definition(dialect.body_text(text, types), types), "pycparser"
        except declarations.Unreadable as problem:
            self._fall_back("body", label, line, problem)
        try:
            return _definition(text.partition("{")[0] + "{}", types), "signature"
        except declarations.Unreadable as problem:
            self._fall_back("signature", label, line, problem)
        return None, "tree-sitter"


def _plain_types(written: str) -> list[str]:
    """Type names in a head that a macro made; there every type is one word or has a tag."""
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


def _definition(text: str, types: frozenset[str]) -> object:
    for declared in declarations.parse(text, types):
        if type(declared).__name__ == "FuncDef":
            return declared
    raise declarations.Unreadable("no function")


def _assemble(
    base: tuple[str, int, int, int, int, int, bool, bool, int, str],
    parsed: object,
    parser: str,
    node: Node,
    brace: Node,
    first: int,
) -> Function:
    body: Body | loose.LooseBody
    if parser == "pycparser":
        body = Body(first - 2)
        body.read(parsed.body)  # type: ignore[attr-defined]
    else:
        body = loose.LooseBody(first - node.start_point.row)
        body.read(brace)
    label = base[0]
    if parsed is not None:
        declaration = parsed.decl  # type: ignore[attr-defined]
        params, variadic = declarations.parameters(declaration.type, parsed.param_decls)  # type: ignore[attr-defined]
        result = declarations.result(declaration.type)
        label = declaration.name
    else:
        params, variadic = loose.parameters(node)
        result = loose.result(node)
    return Function(
        label,
        *base[1:],
        parser,
        result,
        params,
        tuple(body.variables),
        tuple(body.calls),
        tuple(body.assigns),
        variadic,
    )


def _unite(one: Function, other: Function) -> Function:
    """The same definition in two #if variants: the calls and variables of both."""
    shift = len(one.calls)
    moved = [_renumber(c.args, shift) for c in other.calls]
    calls = [c._replace(args=a) for c, a in zip(other.calls, moved, strict=True)]
    assigns = [a._replace(atoms=_renumber((a.atoms,), shift)[0]) for a in other.assigns]
    return one._replace(
        variables=(*one.variables, *(v for v in other.variables if v not in one.variables)),
        calls=(*one.calls, *calls),
        assigns=(*one.assigns, *assigns),
        end=max(one.end, other.end) if one.parser == "tree-sitter" else one.end,
    )


def _renumber(args: tuple[tuple[str, ...], ...], shift: int) -> tuple[tuple[str, ...], ...]:
    def move(atom: str) -> str:
        if not atom.startswith("@"):
            return atom
        number, dot, rest = atom[1:].partition(".")
        return f"@{int(number) + shift}{dot}{rest}"

    return tuple(tuple(move(atom) for atom in atoms) for atoms in args)
