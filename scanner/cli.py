# SPDX-License-Identifier: MIT
"""``skbscan``: find the functions of a C source tree that handle a struct.

The exit code is 0 on success, 1 if there are warnings about the tree (they are listed), 2 if input
or arguments are unusable, 130 after an interrupt, and 143 after SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, NoReturn

from scanner import btf, call_graph_drawing, command_line, summary_table, table_output
from scanner import probe_list as probes
from scanner.cached_tables import tables
from scanner.instrument import instrument_command
from scanner.progress import Progress
from scanner.source.source_tree import BadTree
from scanner.tables.three_tables import Result

_TEXT = {
    "polymorphism": table_output.polymorphism,
    "direct": table_output.direct,
    "indirect": table_output.indirect,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `skbscan` command that `argv` names; return the exit code."""
    args = command_line.parse(argv)
    if argv is None:
        signal.signal(signal.SIGTERM, _end)
    try:
        return _COMMANDS[args.command](args)
    except (BadTree, call_graph_drawing.NoGraph, btf.BadBtf) as problem:
        print(f"skbscan: {problem}", file=sys.stderr)
    except BrokenPipeError:
        table_output.forget(sys.stdout)
        return 0
    except OSError as problem:
        print(f"skbscan: {problem.filename}: {problem.strerror}", file=sys.stderr)
        if problem.filename == table_output.STANDARD:  # otherwise it is tried once more at the end
            table_output.forget(sys.stdout)
    except KeyboardInterrupt:
        print("skbscan: interrupted", file=sys.stderr)
        return 130
    return 2


def _end(number: int, _: FrameType | None) -> NoReturn:
    """End the program by an exception, so that incomplete files are removed."""
    raise SystemExit(128 + number)


def _tables(args: argparse.Namespace) -> Result:
    return tables(command_line.run(args), command_line.options(args), Progress(args.quiet))


def _finish(warnings: list[str]) -> int:
    """List the warnings on stderr; return the exit code."""
    for text in warnings:
        print(f"skbscan: warning: {text}", file=sys.stderr)
    return 1 if warnings else 0


def _scan(args: argparse.Namespace) -> int:
    result = _tables(args)
    if args.json is not None:
        table_output.write([json.dumps(_whole(args, result), indent=None)], args.json)
    if args.json is None or str(args.json) != "-":
        table_output.write(summary_table.lines(result.counts), None)
    if args.fallbacks:
        table_output.write(map(table_output.fallback, result.fallbacks), None)
    return _finish(result.warnings)


def _whole(args: argparse.Namespace, result: Result) -> dict[str, object]:
    return {
        "tree": args.tree.name or str(args.tree),
        "type": result.counts["type"],
        "counts": result.counts,
        "functions": result.functions,
        "polymorphism": result.polymorphism,
        "direct": result.direct,
        "indirect": result.indirect,
        "fallbacks": result.fallbacks,
        "warnings": result.warnings,
    }


def _print_tables(args: argparse.Namespace) -> int:
    result = _tables(args)
    if args.table == "summary":
        table_output.write(_summary(args, result.counts), args.output)
        return _finish(result.warnings)
    rows = getattr(result, args.table)
    if args.json:
        table_output.write(table_output.as_json(rows), args.output)
    elif args.csv:
        table_output.write(table_output.as_csv(rows), args.output)
    else:
        table_output.write(map(_TEXT[args.table], rows), args.output)
    return _finish(result.warnings)


def _summary(args: argparse.Namespace, counts: dict[str, Any]) -> Iterable[str]:
    if args.json:
        return [json.dumps(counts)]
    if args.csv:
        return table_output.as_csv(list(summary_table.flat(counts)))
    return summary_table.lines(counts)


def _graph(args: argparse.Namespace) -> int:
    result = _tables(args)
    seen, edges = call_graph_drawing.reachable(
        result.functions, result.edges, args.root, args.depth, args.callers
    )
    text = call_graph_drawing.dot(result.functions, seen, edges)
    if args.output is not None and args.output.suffix in call_graph_drawing.DRAWN:
        table_output.write_bytes(call_graph_drawing.drawing(text, args.output.suffix), args.output)
    else:
        table_output.write([text.rstrip("\n")], args.output)
    return _finish(result.warnings)


def _probes(args: argparse.Namespace) -> int:
    if args.tree is None and args.btf is None:
        raise BadTree("the command probes needs TREE, '--btf VMLINUX', or both")
    result = _tables(args) if args.tree is not None else None
    kernel = btf.kernel(args.btf, args.modules, args.system_map) if args.btf else None
    if args.inner and result is None:
        raise BadTree("probes --inner needs a TREE")
    found = (
        probes.inner_list(result, kernel)
        if args.inner and result is not None
        else probes.probe_list(result, kernel, args.level)
    )
    table_output.write(probes.lines(found), args.output)
    if args.report:
        table_output.write(table_output.as_json(found.unprobed), args.report)
    for text in probes.report(found):
        print(f"skbscan: {text}", file=sys.stderr)
    return _finish(result.warnings if result else [])


_COMMANDS = {
    "scan": _scan,
    "tables": _print_tables,
    "graph": _graph,
    "probes": _probes,
    "instrument": instrument_command.command,
}

if __name__ == "__main__":
    sys.exit(main())
