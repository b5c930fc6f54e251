# SPDX-License-Identifier: MIT
"""Plan the probes of one file: parse every #if variant and join the results."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import NamedTuple

import tree_sitter_c
from tree_sitter import Language, Node, Query, QueryCursor

from scanner.facts import FileFacts, Macro
from scanner.instrument.function_plan import Edit, Plan, Shape, left_out, plan, text_with_edits
from scanner.instrument.function_returns import closing_brace, ends_in_return, returns
from scanner.instrument.include_insertion import place, serves, without
from scanner.instrument.return_type_text import Typedefs, is_scalar, is_void, result_text
from scanner.parse import tree_sitter_definitions
from scanner.source import inserted_probe_text as marks
from scanner.source.macro_replacement import Normal, Normaliser
from scanner.source.macro_table import MacroTable, learn
from scanner.source.prepared_file import prepare, variants

_WORD = re.compile(r"[A-Za-z_]\w*")
CLEANUPS = frozenset({"__cleanup", "__cleanup__", "__free", "guard", "scoped_guard", "CLASS"})
IF = ("if", "ifdef", "ifndef")
CONDITIONAL = "an #if in its head"
_BLOCK = re.compile(r"\(?\s*\{|do\b")
_CLEANUP = re.compile(r"\(\s*cleanup\s*\(")
_FUNCTIONS = Query(Language(tree_sitter_c.language()), "(function_definition type: (_)) @inner")


class Wanted(NamedTuple):
    """A function to be instrumented; `carriers` are the names of parameters that carry packets.

    `macro` is the macro that makes the function's head, or "".
    """

    name: str
    line: int
    parameters: tuple[str, ...]
    carriers: tuple[str, ...]
    macro: str


class Done(NamedTuple):
    """A function and its plan, or the reason why it is left out.

    If the function already has probes, `found` is a tuple of the probes' (id, carriers, mode,
    returns, ends).
    """

    wanted: Wanted
    plan: Plan | None
    reason: str
    found: tuple[int, tuple[str, ...], str, int, int] | None = None


class FilePlan(NamedTuple):
    """A file: its text, its functions, and the edit that includes the probe header.

    `problem` says why no probes can be put into the file; "" if they can.
    """

    path: str
    text: str
    functions: tuple[Done, ...]
    include: Edit | None
    problem: str = ""


class Tree:
    """A tree's macros and typedefs, and the macros that contain return statements or cleanups."""

    def __init__(self, files: list[FileFacts]) -> None:
        self.table: MacroTable = learn(macro for facts in files for macro in facts.macros)
        self.typedefs = Typedefs(files)
        headers = [m for f in files if f.path.endswith(".h") for m in f.macros]
        self._returning = _using(headers, {"return"})
        self._cleaning = _using(_open(headers), CLEANUPS)
        self._own = {f.path: f.macros for f in files}

    def hiding(self, path: str) -> dict[str, str]:
        """Return the macros that hide exits of functions in the file `path`, with the reasons."""
        own = self._own.get(path, ())
        found = dict.fromkeys(_using(_open(own), self._cleaning), "cleans up after a return")
        found |= dict.fromkeys(_using(own, self._returning), "may return from its caller")
        del found["return"]
        return found


def _open(macros: Iterable[Macro]) -> list[Macro]:
    """Return the macros whose bodies are not blocks in braces.

    A macro whose body is a block is left out, because the variables that it declares are cleaned up
    at the end of that block.
    """
    return [macro for macro in macros if not _BLOCK.match(macro.body)]


def _using(macros: Iterable[Macro], words: frozenset[str] | set[str]) -> set[str]:
    """Return `words` and all macros that contain one of them, directly or through other macros."""
    found = set(words)
    waiting = [(m.name, set(_WORD.findall(m.body))) for m in macros]
    while more := {name for name, used in waiting if name not in found and used & found}:
        found |= more
    return found


NO_PLACE = (
    "its file begins with a byte order mark and has no empty line where the #include of the probes "
    "could go"
)


class FilePlanner:
    """Plans one file after another."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.normaliser = Normaliser(tree.table)

    def plan(self, path: str, data: bytes, wanted: list[Wanted]) -> FilePlan:
        """Return a file's plan; `problem` is set if its edits cannot be undone to the byte."""
        text = data.decode("latin-1")
        reading = _Reading(self, path, data, text)
        functions = tuple(reading.done(item) for item in wanted)
        plans = [done.plan for done in functions if done.plan]
        if not plans:
            return FilePlan(path, text, functions, None)
        include = None
        starts = [p.start for p in plans]
        if not serves(reading.prepared.text, marks.includes(text), starts):
            at = place(text, reading.prepared.text, starts)
            if at < 0 and data.startswith(BOM_UTF8):  # which a line must not precede
                return FilePlan(path, text, functions, None, NO_PLACE)
            include = Edit(at, at, marks.INCLUDE) if at >= 0 else Edit(0, 0, marks.PREFIX)
        result = FilePlan(path, text, functions, include)
        before = marks.strip(text) if marks.has_probes(text) else text
        if marks.strip(text_with_probes(result, range(1, 1 + len(plans)))) != before:
            return result._replace(
                problem="some of its own text looks like a probe, so '--undo' would remove it"
            )
        return result


def text_with_probes(file: FilePlan, ids: Iterable[int]) -> str:
    """Return the text of a file after its planned probes are inserted.

    `ids` has an id for each function with a plan, in the order of the functions.
    """
    edits = [file.include] if file.include else []
    plans = [done.plan for done in file.functions if done.plan]
    for item, number in zip(plans, ids, strict=False):
        edits += [edit._replace(text=edit.text.replace("@", str(number))) for edit in item.edits]
    return text_with_edits(file.text, sorted(edits))


def _overlapping(variants: list[dict[tuple[int, str], Node]]) -> set[tuple[int, str]]:
    """Return functions whose bodies overlap another function's body in some #if variant."""
    spans = []
    for nodes in variants:
        for key, node in nodes.items():
            body = node.child_by_field_name("body")
            if body is not None:
                spans.append((body.start_byte, body.end_byte, key))
    spans.sort()
    found = set()
    reach: tuple[int, tuple[int, str]] = (-1, (0, ""))
    for start, end, key in spans:
        if start < reach[0] and key != reach[1]:
            found |= {key, reach[1]}
        reach = max(reach, (end, key))
    return found


class _Reading:
    """The variants of one file."""

    def __init__(self, planner: FilePlanner, path: str, data: bytes, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = planner.tree
        self.prepared = prepare(data)
        self.hiding = planner.tree.hiding(path)
        self.hidden = without(self.prepared.text, self.prepared.directives)
        self.variants: list[tuple[str, Normal, dict[tuple[int, str], Node]]] = []
        for _, chosen in variants(self.prepared):
            normal = planner.normaliser.normalise(chosen)
            found = tree_sitter_definitions.find_islands(normal.text)
            self.variants.append((chosen, normal, self._by_place(found.functions, normal)))
        self.overlapping = _overlapping([nodes for _, _, nodes in self.variants])

    def _by_place(self, nodes: list[Node], normal: Normal) -> dict[tuple[int, str], Node]:
        found = {}
        for node in nodes:
            name = tree_sitter_definitions.name_node(node)
            if name is not None and node.child_by_field_name("body") is not None:
                made = normal.heads.get(name.start_byte)
                label = normal.text[name.start_byte : name.end_byte]
                if made is not None:
                    label = "" if made.macro else made.arguments.partition("(")[0].split()[-1]
                line = self.prepared.line(name.start_byte) - marks.lines_before(self.text)
                found[line, label] = node
        return found

    def done(self, wanted: Wanted) -> Done:
        """Return the plan of a function, or the reason why there is none."""
        key = (wanted.line, "" if wanted.macro else wanted.name)
        shapes: list[Shape] = []
        for chosen, normal, nodes in self.variants:
            node = nodes.get(key)
            if node is None:
                continue
            head = self._head(chosen, node)
            if reason := left_out(head, self.path, wanted.name):
                return Done(wanted, None, reason)
            if found := self._probed(chosen, node):
                return Done(wanted, None, "", found)
            shape = self._shape(node, chosen, normal, head, wanted)
            if isinstance(shape, str):
                return Done(wanted, None, shape)
            shapes.append(shape)
        if not shapes:
            return Done(wanted, None, "its definition is not found in the file")
        return self._planned(wanted, shapes)

    def _planned(self, wanted: Wanted, shapes: list[Shape]) -> Done:
        first = shapes[0]
        if (wanted.line, "" if wanted.macro else wanted.name) in self.overlapping:
            return Done(
                wanted, None, "several #if branches contain a head for the same function body"
            )
        if re.search(rf"\b(?:{marks.RESULT}|KBL_\w+)\b", self.hidden[first.brace : first.close]):
            return Done(
                wanted,
                None,
                "its body already uses kbl_ret or a name with KBL_; the probes need these names",
            )
        call = f"{wanted.name}({', '.join(wanted.parameters)})"
        always = _WORD.findall(self._always(first.brace - len(first.head), first.brace))
        carriers = [name for name in wanted.carriers if wanted.macro or name in always]
        made = plan(shapes, call, carriers, self.text, self.hidden)
        return Done(wanted, made, "")

    def _head(self, chosen: str, node: Node) -> str:
        """Return a function's declaration: all text between the preceding ; or } and its body."""
        body = node.child_by_field_name("body")
        assert body is not None
        before = max(chosen.rfind(mark, 0, node.start_byte) for mark in ";}")
        return chosen[before + 1 : body.start_byte].lstrip()

    def _shape(
        self, node: Node, chosen: str, normal: Normal, head: str, wanted: Wanted
    ) -> Shape | str:
        body = node.child_by_field_name("body")
        assert body is not None
        brace = body.start_byte
        close = closing_brace(chosen, brace)
        if close != node.end_byte - 1:
            return "its braces do not balance"
        kind = result_text(node, normal.text, set(wanted.parameters), self.tree.typedefs)
        found = returns(chosen, brace, close)
        return Shape(
            head,
            brace,
            close,
            kind,
            kind is not None and is_void(kind, self.tree.typedefs),
            kind is not None and is_scalar(kind, self.tree.typedefs),
            tuple(found),
            not ends_in_return(chosen, brace, close, found)
            or self._conditional(brace, found[-1].start),
            self._hidden(chosen, brace, close, node, wanted)
            or (CONDITIONAL if self._directive(brace - len(head), brace) else ""),
        )

    def _probed(self, chosen: str, node: Node) -> tuple[int, tuple[str, ...], str, int, int] | None:
        """Return id, carriers, mode and number of exits of a function's existing probes."""
        body = node.child_by_field_name("body")
        assert body is not None
        probe = marks.entry_probe(self.text, body.start_byte)
        if probe is None:
            return None
        close = closing_brace(chosen, body.start_byte)
        inside = self.text[body.start_byte : close + 1 if close > 0 else node.end_byte]
        exits, ends = marks.count(inside, probe[0])
        return probe[0], tuple(probe[1]), "scope" if probe[2] else "explicit", exits, ends

    def _directive(self, start: int, end: int) -> bool:
        """Return whether a preprocessor directive lies between two offsets."""
        return any(start <= d.start < end for d in self.prepared.directives)

    def _conditional(self, start: int, end: int) -> bool:
        """Return whether the offset `end` lies in an #if that begins after the offset `start`."""
        words = [d.keyword for d in self.prepared.directives if start <= d.start < end]
        return sum((w in IF) - (w == "endif") for w in words) > 0

    def _always(self, start: int, end: int) -> str:
        """Return the text between two offsets without the parts that an #if may exclude."""
        pieces = []
        depth = 0
        for directive in self.prepared.directives:
            if start <= directive.start < end:
                pieces += [self.hidden[start : directive.start]] if depth == 0 else []
                start = directive.end
                depth += directive.keyword in IF
                depth -= directive.keyword == "endif"
        return " ".join([*pieces, self.hidden[start:end]])

    def _hidden(self, chosen: str, brace: int, close: int, node: Node, wanted: Wanted) -> str:
        """Return the reason why a body's text may hide exits; "" if it shows all exits."""
        if wanted.macro:
            return f"its head is made by {wanted.macro}"
        for word in _WORD.findall(chosen[brace:close]):
            if word in self.hiding:
                return f"{word} {self.hiding[word]}"
        if _CLEANUP.search(chosen, brace, close):
            return "a variable has a cleanup attribute, whose code runs after a return"
        inner = QueryCursor(_FUNCTIONS).captures(node).get("inner", [])
        if any(other.start_byte > brace for other in inner):
            return "a function inside it"
        return ""
