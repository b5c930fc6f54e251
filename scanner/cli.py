# SPDX-License-Identifier: MIT
"""``skbscan``: find the functions of a C source tree that handle a struct.

Exit codes: 0 fine, 1 done with warnings about the tree (they are listed), 2 unusable
input or arguments, 130 interrupted, 143 ended by SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, NoReturn

from scanner import arguments, btf, graph_drawing, output, probes, summary
from scanner.instrument import instrument_command
from scanner.progress import Progress
from scanner.results import tables
from scanner.source.source_tree import BadTree
from scanner.tables.three_tables import Result

_TEXT = {"polymorphism": output.polymorphism, "direct": output.direct, "indirect": output.indirect}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    args = arguments.parse(argv)
    if argv is None:
        signal.signal(signal.SIGTERM, _end)
    try:
        return _COMMANDS[args.command](args)
    except (BadTree, graph_drawing.NoGraph, btf.BadBtf) as problem:
        print(f"skbscan: {problem}", file=sys.stderr)
    except BrokenPipeError:
        output.forget(sys.stdout)
        return 0
    except OSError as problem:
        print(f"skbscan: {problem.filename}: {problem.strerror}", file=sys.stderr)
        if problem.filename == output.STANDARD:  # otherwise it is tried once more at the end
            output.forget(sys.stdout)
    except KeyboardInterrupt:
        print("skbscan: interrupted", file=sys.stderr)
        return 130
    return 2


def _end(number: int, _: FrameType | None) -> NoReturn:
    """End the program so that files that are not complete are removed."""
    raise SystemExit(128 + number)


def _tables(args: argparse.Namespace) -> Result:
    return tables(arguments.run(args), arguments.options(args), Progress(args.quiet))


def _finish(warnings: list[str]) -> int:
    """List the warnings on stderr; return the exit code."""
    for text in warnings:
        print(f"skbscan: warning: {text}", file=sys.stderr)
    return 1 if warnings else 0


def _scan(args: argparse.Namespace) -> int:
    result = _tables(args)
    if args.json is not None:
        output.write([json.dumps(_whole(args, result), indent=None)], args.json)
    if args.json is None or str(args.json) != "-":
        output.write(summary.lines(result.counts), None)
    if args.fallbacks:
        output.write(map(output.fallback, result.fallbacks), None)
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
        output.write(_summary(args, result.counts), args.output)
        return _finish(result.warnings)
    rows = getattr(result, args.table)
    if args.json:
        output.write(output.as_json(rows), args.output)
    elif args.csv:
        output.write(output.as_csv(rows), args.output)
    else:
        output.write(map(_TEXT[args.table], rows), args.output)
    return _finish(result.warnings)


def _summary(args: argparse.Namespace, counts: dict[str, Any]) -> Iterable[str]:
    if args.json:
        return [json.dumps(counts)]
    if args.csv:
        return output.as_csv(list(summary.flat(counts)))
    return summary.lines(counts)


def _graph(args: argparse.Namespace) -> int:
    result = _tables(args)
    seen, edges = graph_drawing.reachable(
        result.functions, result.edges, args.root, args.depth, args.callers
    )
    text = graph_drawing.dot(result.functions, seen, edges)
    if args.output is not None and args.output.suffix in graph_drawing.DRAWN:
        output.write_bytes(graph_drawing.drawing(text, args.output.suffix), args.output)
    else:
        output.write([text.rstrip("\n")], args.output)
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
    output.write(probes.lines(found), args.output)
    if args.report:
        output.write(output.as_json(found.unprobed), args.report)
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
