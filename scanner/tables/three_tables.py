# SPDX-License-Identifier: MIT
"""Make the three tables from the facts of a tree; later tables depend on earlier ones."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from scanner.facts import Fallback, FileFacts, Function, TypeRef
from scanner.source.architectures import main_architecture
from scanner.source.layer_by_folder import layer
from scanner.tables import direct_functions as direct_uses
from scanner.tables import struct_forms
from scanner.tables.callgraph import CallGraph
from scanner.tables.direct_functions import Direct, Use
from scanner.tables.indirect_functions import Indirect, Search, packet_edges
from scanner.tables.struct_forms import Closure, Limits
from scanner.tables.type_graph import Types, struct_named

Row = dict[str, Any]


class Options(NamedTuple):
    """The struct whose functions the tables list, and the rules for finding them.

    `seed` is the struct, or a typedef of it. `data_flow` means that the data-flow rule finds
    indirect use. `arch` is the architecture whose functions represent those of all; "" means the
    first one in PREFERRED that the tree has.
    """

    seed: str = "struct sk_buff"
    limits: Limits = Limits()
    data_flow: bool = True
    arch: str = ""


class Result(NamedTuple):
    """The tables as rows ready to print, and data that the commands other than `scan` need.

    `functions` has a row for every function definition.  `edges` are the calls between packet
    functions, as pairs of indices into `functions`.  `counts` are the numbers of the summary.
    `structs` are the names of all structs and unions that the tree defines.
    """

    polymorphism: list[Row]
    direct: list[Row]
    indirect: list[Row]
    functions: list[Row]
    edges: list[tuple[int, int]]
    counts: dict[str, Any]
    structs: list[str]
    fallbacks: list[Row]
    warnings: list[str]


def type_text(kind: TypeRef) -> str:
    """Return a type as C writes it, without a name."""
    stars = (" " if kind.stars else "") + "*" * kind.stars
    return f"{kind.base}{stars} (*)()" if kind.function else f"{kind.base}{stars}"


def analyse(files: list[FileFacts], options: Options, warnings: list[str]) -> Result:
    """Return the tables of a scanned tree."""
    seed = struct_named(files, options.seed)
    types = Types(files, seed)
    found = struct_forms.closure(types, seed, options.limits)
    table = direct_uses.direct(files, types, found, options.limits.function_pointers)
    main = main_architecture((facts.path for facts in files), options.arch)
    graph = CallGraph(files, types, main)
    uses = {id(entry.function): entry for entry in table}
    direct = {n for n, node in enumerate(graph.nodes) if id(node.function) in uses}
    reached = Search(graph, found, direct, options.data_flow).run()
    packet = direct | {entry.number for entry in reached}
    if options.arch not in ("", main):
        other = f"so {main} represents all" if main else "and the tree has no other architecture"
        warnings = [*warnings, f"{options.arch}: no such architecture, {other}"]
    if seed not in types.places:
        warnings = [*warnings, f"{seed} is not defined in the folders scanned"]
    functions = _functions(graph, uses, reached)
    forms = _forms(files, types, found)
    return Result(
        forms,
        [_direct_row(entry) for entry in table],
        [_indirect_row(graph, entry) for entry in reached],
        functions,
        list(packet_edges(graph, packet)),
        _counts(files, found, functions, forms),
        sorted({record.base for facts in files for record in facts.records}),
        [_fallback_row(facts.path, item) for facts in files for item in _in_order(facts)],
        warnings + [f"{facts.path}: {text}" for facts in files for text in facts.warnings],
    )


def _forms(files: list[FileFacts], types: Types, found: Closure) -> list[Row]:
    rows = []
    for form in sorted(found.forms.values(), key=lambda f: (f.level, f.name)):
        place = types.places.get(form.name)
        rows.append(
            _form(
                form.name,
                form.kind,
                form.level,
                "chain" if form.how == "alias" and form.via in types.named else form.how,
                form.member,
                found.chain(form.name)[1:],
                place,
            )
        )
    for name, base, level in struct_forms.function_types(types, found):
        rows.append(
            _form(
                name,
                "function type",
                level,
                "signature",
                "",
                found.chain(base),
                types.places.get(name),
            )
        )
    typed = set(types.aliases)
    for alias in struct_forms.aliases(files, found):
        if alias.name not in typed or alias.name not in found.forms:
            rows.append(
                _form(alias.name, "alias", 0, alias.how, "", [alias.via], (alias.file, alias.line))
            )
    return rows


def _form(
    name: str,
    kind: str,
    level: int,
    how: str,
    member: str,
    via: list[str],
    place: tuple[str, int] | None,
) -> Row:
    file, line = place or ("", 0)
    return {
        "function": None,
        "file": file,
        "line": line,
        "name": name.partition("@")[0],
        "kind": kind,
        "level": level,
        "how": how,
        "member": member,
        "via": [step.partition("@")[0] for step in via],
    }


def _place(file: str, function: Function) -> Row:
    return {"function": function.name, "file": file, "line": function.line}


def _use_row(use: Use) -> Row:
    return {
        "index": "ret" if use.where < 0 else use.where,
        "name": use.name,
        "type": type_text(use.type),
        "level": use.level,
    }


def _direct_row(entry: Direct) -> Row:
    uses = [_use_row(use) for use in entry.uses]
    return _place(entry.file, entry.function) | {
        "mark": entry.mark,
        "level": entry.level,
        "parameters": [u for u in uses if u["index"] != "ret"],
        "returns": next((u["type"] for u in uses if u["index"] == "ret"), None),
    }


def _indirect_row(graph: CallGraph, entry: Indirect) -> Row:
    node = graph.nodes[entry.number]
    seen = entry.witness
    caller, callee = graph.nodes[seen.caller], graph.nodes[seen.callee]
    return _place(node.file, node.function) | {
        "side": entry.side,
        "round": entry.round,
        "witness": {
            "caller": caller.function.name,
            "file": caller.file,
            "line": seen.line,
            "callee": callee.function.name,
            "by": seen.by,
        },
        "argument": seen.argument,
    }


def _functions(graph: CallGraph, uses: dict[int, Direct], reached: list[Indirect]) -> list[Row]:
    sides = {entry.number: entry.side for entry in reached}
    rows = []
    for number, (file, function) in enumerate(graph.nodes):
        entry = uses.get(id(function))
        kind = "direct" if entry else sides.get(number)
        listed = any(p.type.base == "struct list_head" for p in function.params)
        rows.append(
            _place(file, function)
            | {
                "end_line": function.end_line,
                "layer": layer(file),
                "kind": kind,
                "level": entry.level if entry else None,
                "static": function.static,
                "inline": function.inline,
                "variant": function.variant,
                "annotation": function.annotation,
                "macro": function.head,
                "copy": number in graph.copies,
                "parser": function.parser,
                "returns": type_text(function.returns),
                "parameters": [
                    [p.name, type_text(p.type), type_text(graph.types.strip(p.type))]
                    for p in function.params
                ],
                "returns_stripped": type_text(graph.types.strip(function.returns)),
                "skb_list": listed
                and any(v.type == TypeRef("struct sk_buff", 1) for v in function.variables),
            }
        )
    return rows


def _in_order(facts: FileFacts) -> list[Fallback]:
    return sorted(facts.fallbacks, key=lambda item: (item.line, item.kind, item.name))


def _fallback_row(path: str, item: Any) -> Row:
    return {
        "function": item.name,
        "file": path,
        "line": item.line,
        "kind": item.kind,
        "reason": item.reason.lstrip(": "),
    }


def _counts(files: list[FileFacts], found: Closure, functions: list[Row], forms: list[Row]) -> Row:
    """Return the numbers of the summary; functions with the same name in a file count once."""
    tops = Counter(f.path.rpartition("/")[0].partition("/")[0] for f in files)
    kinds = Counter(f["how"] for f in forms if f["kind"] == "alias")
    islands = [sum(column) for column in zip(*(f.islands for f in files), strict=True)] or [0] * 4
    failed = Counter(item.kind for f in files for item in f.fallbacks)
    return {
        "type": found.seed,
        "files": dict(sorted(tops.items())),
        "aliases": kinds["names"] + kinds["alias"],
        "aliases_by_chain": kinds["chain"],
        "aliases_by_cast_of_cb": kinds["view"],
        "customized_types": len(struct_forms.typedefs_naming(files, found.seed)),
        "nested_structures": sum(
            1
            for f in found.forms.values()
            if f.kind in ("struct", "union") and f.name != found.seed
        ),
        "source": _function_counts(functions, ".c"),
        "headers": _function_counts(functions, ".h"),
        "unread": failed["function"],
        "parsed": {
            kind: {"tried": tried, "fallbacks": failed[kind]}
            for kind, tried in zip(("signature", "struct", "typedef", "body"), islands, strict=True)
        },
    }


def _function_counts(functions: list[Row], ending: str) -> dict[str, int]:
    kinds: dict[tuple[str, str], str | None] = {}
    for row in functions:
        if row["file"].endswith(ending):
            key = (row["file"], row["function"])
            kinds[key] = "direct" if kinds.get(key) == "direct" else row["kind"] or kinds.get(key)
    count = Counter(kinds.values())
    return {
        "all": len(kinds),
        "direct": count["direct"],
        "callers": count["caller"],
        "callees": count["callee"],
    }
