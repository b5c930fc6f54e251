# SPDX-License-Identifier: MIT
"""Read a source file's facts: normaliser, tree-sitter, then pycparser for each definition."""

from __future__ import annotations

import re
import time
from typing import Any

from tree_sitter import Node

from scanner.facts import (
    Fallback,
    FileFacts,
    Function,
    Init,
    Param,
    Record,
    Typedef,
    TypeRef,
)
from scanner.parse import (
    declarations,
    gnu_dialect,
    initialisers,
    tree_sitter_definitions,
    tree_sitter_fallback,
)
from scanner.parse.function_bodies import Body
from scanner.parse.function_for_pycparser import Island, parse_island, read_island
from scanner.parse.function_macros import pseudo_functions
from scanner.source import unclosed_brackets
from scanner.source.inserted_probe_text import without_probes
from scanner.source.macro_replacement import Normal, Normaliser, per_cpu_variables
from scanner.source.macro_table import MacroTable
from scanner.source.prepared_file import LONGEST_LINE, Prepared, longest_line, prepare, variants

_PLACE = re.compile(r":?(\d+):(?:\d+:)? ")  # a position in pycparser's messages
SECONDS = 120.0  # CPU time for one file; the largest file of a kernel takes three seconds
NAMED = 20  # most functions that a warning names; --fallbacks lists all of them
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_NOKPROBE = re.compile(r"^NOKPROBE_SYMBOL\((\w+)\)", re.MULTILINE)


class _OutOfTime(Exception):
    """Raised if reading a file takes too long; the text says at which line reading stopped."""


class FileReader:
    """Reads source files; all of them use one macro table.

    `seconds` is the CPU time allowed for one file; after this time, reading stops, and the facts
    read so far are kept. `cut` says whether the file that was read last was read only in part.
    """

    def __init__(self, table: MacroTable, seconds: float | None = None) -> None:
        self.table = table
        self.normaliser = Normaliser(table)
        self.seconds = SECONDS if seconds is None else seconds
        self.cut = False

    def read(self, path: str, data: bytes) -> FileFacts:
        """Return the facts of a file; its warnings name what could not be read."""
        self.cut = False
        if b"\0" in data:
            return _empty(path, "binary: it contains NUL bytes")
        if len(data) > LONGEST_LINE and (longest := longest_line(data)) > LONGEST_LINE:
            return _empty(path, f"a line of {longest} characters: not source code")
        data = without_probes(data)
        included = tuple(dict.fromkeys(_INCLUDE.findall(data.decode("latin-1"))))
        reading = _Reading(self, prepare(data), included)
        try:
            reading.variants()
        except _OutOfTime as problem:
            self.cut = True
            reading.warnings.append(str(problem))
        except (RecursionError, MemoryError) as problem:
            self.cut = True
            kind = type(problem).__name__
            reading.warnings.append(
                f"nested too deeply, or too large ({kind}): only a part was read"
            )
        reading.warnings += unclosed_brackets.warnings(data, reading.prepared, reading.uneven)
        return reading.facts(path)


def _empty(path: str, warning: str) -> FileFacts:
    return FileFacts(path, 0, (), (), (), (), (), (), (), (warning,), (0, 0, 0, 0))


class _Reading:
    """The facts of one file while its variants are read."""

    def __init__(self, reader: FileReader, prepared: Prepared, included: tuple[str, ...]) -> None:
        self.reader = reader
        self.included = included
        self.prepared = prepared
        self.functions: dict[int, Function] = {}
        self.texts: set[tuple[int, str]] = set()
        self.records: dict[tuple[str, int], Record] = {}
        self.typedefs: dict[tuple[str, int], Typedef] = {}
        self.variables: dict[Param, None] = {}
        self.inits: dict[Init, None] = {}
        self.fallbacks: dict[Fallback, None] = {}
        self.warnings: list[str] = []
        self.uneven: list[unclosed_brackets.Uneven | None] = []
        self.unread: dict[int, tuple[int, int, str]] = {}  # by brace: lines and name
        self.tried = [0, 0, 0, 0]
        self.end = time.process_time() + reader.seconds
        self.unprobed = frozenset(_NOKPROBE.findall(prepared.text))

    def facts(self, path: str) -> FileFacts:
        """Return the facts of the file that were found in all variants."""
        return FileFacts(
            path,
            len(self.prepared.newlines),
            tuple(self._annotated(self.functions[key]) for key in sorted(self.functions)),
            tuple(self.records.values()),
            tuple(self.typedefs.values()),
            self.prepared.macros,
            tuple(self.variables),
            tuple(self.inits),
            tuple(self.fallbacks),
            tuple(self.warnings),
            (self.tried[0], self.tried[1], self.tried[2], self.tried[3]),
            tuple(pseudo_functions(self.prepared.macros)),
            self.included,
        )

    def variants(self) -> None:
        """Read every #if variant and merge the facts that they show."""
        for variant, chosen in variants(self.prepared):
            self.uneven.append(unclosed_brackets.uneven(chosen))
            for kind, name in per_cpu_variables(chosen):
                self.variables[Param(name, TypeRef(kind.rstrip(" *"), kind.count("*")))] = None
            normal = self.reader.normaliser.normalise(chosen)
            found = tree_sitter_definitions.find_islands(normal.text)
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
            for item in found.unread:
                lines = (self.prepared.line(item.start), self.prepared.line(item.end - 1))
                self.unread[item.brace] = (*lines, _called(item, normal))
        self._unread()

    def _unread(self) -> None:
        """Warn about text that looks like a function and could not be read in any variant."""
        read = {function.body for function in self.functions.values()}
        lost = sorted(item for brace, item in self.unread.items() if brace not in read)
        for line, last, name in lost:
            reason = f"not read, up to line {last}"
            self.fallbacks[Fallback("function", name, line, reason)] = None
        if lost:
            listed = ", ".join(f"{name} (line {line})" for line, _, name in lost[:NAMED])
            more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
            self.warnings.append(f"not read: {listed}{more}")

    def _annotated(self, function: Function) -> Function:
        if function.name in self.unprobed and not function.annotation:
            return function._replace(annotation="NOKPROBE_SYMBOL")
        return function

    def _fall_back(
        self, kind: str, name: str, line: int, problem: Exception, first: int = 0
    ) -> None:
        """Record the reason why a definition was not read.

        first: the line of the file at which the definition begins.
        """
        reason = str(problem)
        if place := _PLACE.match(reason):
            # The line before the island has the names of its types.
            at = max(first or line, (first or line) + int(place[1]) - 2)
            reason = f"line {at}: {reason[place.end() :]}"
        self.fallbacks[Fallback(kind, name, line, reason)] = None

    def _new(self, node: Node, text: str) -> bool:
        """Return whether no earlier variant had this definition; raises _OutOfTime."""
        if time.process_time() > self.end:
            place = f"at line {self.prepared.line(node.start_byte)}"
            spent = f"{self.reader.seconds:.0f} s of CPU time"
            raise _OutOfTime(
                f"stopped reading after {spent} {place}: the text after this line is not read"
            )
        key = (node.start_byte, text)
        if key in self.texts:
            return False
        self.texts.add(key)
        return True

    def _record(self, node: Node, text: str, found: tree_sitter_definitions.Found) -> None:
        island = text[node.start_byte : node.end_byte]
        if not self._new(node, island):
            return
        self.tried[1] += 1
        line = self.prepared.line(node.start_byte)
        types = found.type_names(node.start_byte, node.end_byte)
        base = tree_sitter_fallback.base_type(node)
        try:
            record = declarations.record(gnu_dialect.record_text(island), types - {base[7:]}, line)
        except declarations.Unreadable as problem:
            self._fall_back("struct", base, line, problem)
            record = Record(base, line, tree_sitter_fallback.members(node))
        self.records[record.base, line] = record
        if "struct_group_tagged" in island:
            self._groups(island, types, line)

    def _groups(self, island: str, types: frozenset[str], line: int) -> None:
        """Read the structs that the macro struct_group_tagged defines inside a struct."""
        for tag, text in gnu_dialect.tagged_groups(island):
            self.tried[1] += 1
            try:
                group = declarations.record(gnu_dialect.record_text(text), types - {tag}, line)
            except declarations.Unreadable as problem:
                self._fall_back("struct", f"struct {tag}", line, problem)
            else:
                self.records[group.base, line] = group

    def _typedef(self, node: Node, text: str, found: tree_sitter_definitions.Found) -> None:
        island = text[node.start_byte : node.end_byte]
        if not self._new(node, island):
            return
        self.tried[2] += 1
        line = self.prepared.line(node.start_byte)
        types = found.type_names(node.start_byte, node.end_byte)
        try:
            defined = declarations.typedefs(gnu_dialect.record_text(island), types, line)
        except declarations.Unreadable as problem:
            name, stars, function = tree_sitter_fallback.declarator_parts(
                node.child_by_field_name("declarator")
            )
            self._fall_back("typedef", name, line, problem)
            base = tree_sitter_fallback.base_type(node.child_by_field_name("type"))
            defined = [Typedef(name, line, TypeRef(base, stars, function), ())]
        for item in defined:
            if isinstance(item, Record):
                self.records[item.base, line] = item
            else:
                self.typedefs[item.name, line] = item

    def _function(
        self, node: Node, normal: Normal, found: tree_sitter_definitions.Found, variant: int
    ) -> None:
        name = tree_sitter_definitions.name_node(node)
        text = normal.old_style[node.start_byte : node.end_byte]
        if name is None or not self._new(node, text):
            return
        function = self._read_function(node, normal, found, variant)
        if function is None:
            return
        earlier = self.functions.get(name.start_byte)
        if earlier is not None:
            function = _unite(earlier, function)
        self.functions[name.start_byte] = function

    def _read_function(
        self, node: Node, normal: Normal, found: tree_sitter_definitions.Found, variant: int
    ) -> Function | None:
        island = read_island(self.prepared, normal, found, node, self.reader.normaliser)
        if island is None:
            return None
        if island.unknown_head:
            reason = f"head by {island.head}"
            self.fallbacks[Fallback("signature", island.name, island.line, reason)] = None
        self.tried[0] += 1
        self.tried[3] += 1
        parsed, parser, problems = parse_island(island)
        for kind, problem in problems:
            self._fall_back(kind, island.name, island.line, problem, island.first)
        end_line = self.prepared.line(node.end_byte - 1)
        return _assemble(island, parsed, parser, end_line, variant)


def _called(item: tree_sitter_definitions.Unread, normal: Normal) -> str:
    """Return the name of a function that was not read, or of the macro that makes its head."""
    made = [head for at, head in normal.heads.items() if item.start <= at < item.brace]
    return made[-1].macro or item.name if made else item.name


def _assemble(island: Island, parsed: Any, parser: str, end_line: int, variant: int) -> Function:
    body: Body | tree_sitter_fallback.LooseBody
    if parser == "pycparser":
        body = Body(island.first - 2)
        body.read(parsed.body)
    else:
        body = tree_sitter_fallback.LooseBody(island.first - island.node.start_point.row)
        body.read(island.inside)
    name = island.name
    if parsed is not None:
        params, variadic = declarations.parameters(parsed.decl.type, parsed.param_decls)
        result = declarations.result(parsed.decl.type)
        name = parsed.decl.name
    else:
        params, variadic = tree_sitter_fallback.parameters(island.node)
        result = tree_sitter_fallback.result(island.node)
    words = island.text.partition("{")[0].split()
    return Function(
        name,
        island.line,
        end_line,
        island.node.start_byte,
        island.brace.start_byte,
        island.node.end_byte,
        "static" in words,
        "inline" in words,
        variant,
        island.head,
        parser,
        result,
        params,
        tuple(body.variables),
        tuple(body.calls),
        tuple(body.assigns),
        variadic,
        island.annotations[0] if island.annotations else "",
    )


def _unite(one: Function, other: Function) -> Function:
    """Join a function's definitions in two #if variants: the result has the calls of both."""
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
