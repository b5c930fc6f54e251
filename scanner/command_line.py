# SPDX-License-Identifier: MIT
"""The command line of ``skbscan``."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from scanner import call_graph_drawing, facts_cache
from scanner.cached_tables import Run
from scanner.instrument import instrument_options
from scanner.tables.struct_forms import HUBS, Limits
from scanner.tables.three_tables import Options

_SEED = re.compile(r"(?:(?:struct|union) )?(?!(?:struct|union)\Z)[A-Za-z_]\w*")


def _seed(text: str) -> str:
    words = " ".join(text.split())
    if not _SEED.fullmatch(words):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a type such as 'struct sk_buff', 'skb_t'"
        )
    return words


def _drawing(text: str) -> Path:
    path = Path(text)
    if path.suffix and path.suffix not in (*call_graph_drawing.DRAWN, *call_graph_drawing.TEXT):
        endings = " ".join((*call_graph_drawing.TEXT, *call_graph_drawing.DRAWN))
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {endings}")
    return path


def _positive(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 1")
    return number


def _level(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 0")
    return int(text)


def _common(tree: str | None) -> argparse.ArgumentParser:
    """Return the options that every command has; `tree` is "?" if the tree may be left out."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "tree",
        type=Path,
        metavar="TREE",
        nargs=tree,
        help="a kernel's source, or any folder of C files",
    )
    parser.add_argument(
        "--dir",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder of TREE to scan; repeatable (default: include and net)",
    )
    parser.add_argument(
        "--type",
        type=_seed,
        default="struct sk_buff",
        metavar="'struct T'",
        help="the struct to search for, or a typedef of it (default: struct sk_buff)",
    )
    parser.add_argument(
        "--level",
        type=_level,
        metavar="N",
        help="follow structs that contain the struct, or a pointer to it, at most N levels deep "
        "(default: no limit)",
    )
    parser.add_argument(
        "--stop",
        action="append",
        metavar="TAG",
        help="do not follow struct TAG; repeatable; replaces the default list (widely used structs "
        "such as inode and net); '' for an empty list",
    )
    parser.add_argument(
        "--function-pointers",
        action="store_true",
        help="also follow structs that contain a pointer to a function with the struct among its "
        "arguments",
    )
    parser.add_argument(
        "--rule",
        choices=("flow", "type"),
        default="flow",
        help="how to find indirect use of an skb: type: by types only; flow: also by assignments "
        "and function results",
    )
    parser.add_argument(
        "--arch",
        default="",
        metavar="NAME",
        help="architecture whose copy is used where functions and macros exist once per "
        "architecture (default: the first in the tree of x86, i386, arm64, ...)",
    )
    parser.add_argument("--jobs", type=_positive, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--cache", type=Path, default=facts_cache.folder(), metavar="FOLDER")
    parser.add_argument("--no-cache", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress on stderr")
    return parser


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed arguments; exit with code 2 if they are wrong."""
    parser = argparse.ArgumentParser(
        prog="skbscan", description="Find the functions that handle a struct, in C source."
    )
    parser.add_argument("--version", action="version", version=f"skbscan {version('skbviewer')}")
    commands = parser.add_subparsers(dest="command", required=True)
    tree = _common(None)
    scan = commands.add_parser("scan", parents=[tree], help="scan a tree and print the summary")
    scan.add_argument(
        "--json", type=Path, metavar="OUT", help="write all tables as JSON to OUT; - for stdout"
    )
    scan.add_argument(
        "--fallbacks", action="store_true", help="list what pycparser could not read, and why"
    )
    table = commands.add_parser("tables", parents=[tree], help="print one of the tables")
    table.add_argument("table", choices=("polymorphism", "direct", "indirect", "summary"))
    form = table.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--csv", action="store_true")
    table.add_argument("-o", "--output", type=Path, metavar="OUT")
    drawn = commands.add_parser(
        "graph", parents=[tree], help="write the call graph of packet functions as DOT or a drawing"
    )
    drawn.add_argument("root", metavar="FUNCTION")
    drawn.add_argument("--depth", type=_level, default=3, metavar="N")
    drawn.add_argument(
        "--callers",
        action="store_true",
        help="draw the callers of FUNCTION instead of its callees",
    )
    drawn.add_argument(
        "-o",
        "--output",
        type=_drawing,
        metavar="OUT",
        help="OUT.dot and OUT.gv get the graph as text; OUT.svg, OUT.png and OUT.pdf get a "
        "picture, which the program dot draws",
    )
    probes = commands.add_parser(
        "probes", parents=[_common("?")], help="write the probe list for an unmodified kernel"
    )
    probes.add_argument(
        "--btf", type=Path, metavar="VMLINUX", help="a kernel image or /sys/kernel/btf/vmlinux"
    )
    probes.add_argument(
        "--modules",
        type=Path,
        metavar="FOLDER",
        action="append",
        default=[],
        help="folder with the kernel's modules, or /sys/kernel/btf",
    )
    probes.add_argument(
        "--system-map", type=Path, metavar="FILE", help="System.map or kallsyms of that kernel"
    )
    probes.add_argument(
        "--report",
        type=Path,
        metavar="OUT",
        help="write the functions that cannot be probed, each with the reason, as JSON",
    )
    probes.add_argument(
        "--inner",
        action="store_true",
        help="list the functions in table `indirect` that have neither a packet nor a socket as "
        "argument; their calls are recorded only inside other recorded calls",
    )
    probes.add_argument("-o", "--output", type=Path, metavar="OUT")
    instrument_options.add(commands, tree)
    return parser.parse_args(argv)


def options(args: argparse.Namespace) -> Options:
    """Return the options for making the tables, from the command line's arguments."""
    stops = HUBS if args.stop is None else tuple(s for s in args.stop if s)
    limits = Limits(args.level, stops, args.function_pointers)
    return Options(args.type, limits, args.rule == "flow", args.arch)


def run(args: argparse.Namespace) -> Run:
    """Return the tree, folders and cache that the arguments name."""
    store = None if args.no_cache else args.cache
    return Run(args.tree, args.dir, args.jobs, store)
