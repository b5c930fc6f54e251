# SPDX-License-Identifier: MIT
"""skbviewer dataset: keep the tables of many recordings in one folder, and query all of them."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..readers.printable_names import printable
from ..records import BadInput, counted
from .command_parsers import NO_INNER, Commands, add_inner, command, formats
from .query_output import print_answer
from .terminal_output import Stderr, print_line, warn
from .time_range_option import two_times

if TYPE_CHECKING:
    from ..dataset.add_task import Outcome
    from ..dataset.session_manifests import Manifest
    from ..session.query_thread import Answer

NEEDED = ("cryptography", "dask", "distributed", "duckdb", "pyarrow")
MISSING = "datasets need {}: pip install 'skbviewer[dataset]'"
HELP = """docs/datasets.md explains how files become pairs, the layout of DIR, which filters work on
a dataset, and what happens when a process is killed."""
DIR = "folder of the dataset"
MOST_S = 1_000_000  # seconds before and after a packet
WITHIN = (
    "largest difference between the capture times of the same packet on two hosts, in seconds "
    "(default: 5); each time is on the clock of its sniffer"
)


def add(commands: Commands) -> None:
    """Add the command and its subcommands to `commands`."""
    text = "keep the tables of many recordings in one folder, and query all of them"
    parser: argparse.ArgumentParser = commands.add_parser("dataset", help=text, description=text)
    parser.epilog = HELP
    inner = parser.add_subparsers(required=True, metavar="COMMAND", help="one of these commands")
    _adding(inner)
    formats(_of(inner, "info", "list hosts, times, sessions and sizes", _info), "json")
    _packets(inner)
    _stats(inner)
    _finding(inner)
    _dropping(inner)
    _opening(inner)
    made = _of(inner, "hosts", "list pairs of recordings that have packets in common", _hosts)
    formats(made, "json", "csv", json="print a JSON array of objects")
    made = _of(inner, "query", "print the result of a SELECT over the tables", _query)
    made.add_argument("sql", metavar="SQL", help="one SELECT statement")
    formats(made, "json", "csv", json="print a JSON array of objects")


def _of(
    inner: Commands, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = command(inner, name, text, run)
    parser.add_argument("folder", type=Path, metavar="DIR", help=DIR)
    return parser


def _adding(inner: Commands) -> None:
    parser = _of(inner, "add", "import recordings, and add their tables to the dataset", _add)
    text = (
        "kernel logs and captures; A.kbl and A.pcap are imported together; write LOG+CAPTURE to "
        "import files with different names together"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=text)
    parser.add_argument(
        "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N",
        help="number of local workers, which import in parallel (default: one for each CPU)",
    )  # fmt: skip
    parser.add_argument(
        "--scheduler", default="", metavar="ADDR",
        help="address of a Dask scheduler; its workers do the imports",
    )  # fmt: skip
    add_inner(parser, f"{NO_INNER}; a session that has them is replaced")


def _finding(inner: Commands) -> None:
    parser = _of(inner, "find", "show the path of a packet through all hosts", _find)
    text = "the id of the packet's session (or the first digits of the id), and the packet's number"
    parser.add_argument("--packet", required=True, metavar="SESSION:N", help=text)
    parser.add_argument("--within", type=_window_ns, default="5", metavar="SECONDS", help=WITHIN)
    formats(parser, "json", "csv", json="print a JSON array of objects")


def _dropping(inner: Commands) -> None:
    parser = _of(inner, "drop", "remove the sessions that ended before a time", _drop)
    text = (
        "a date or a time, in UTC if no time zone is given; examples: 2026-11-21, "
        "2026-11-21T18:00+01:00"
    )
    parser.add_argument("--before", required=True, metavar="T", help=text)


def _opening(inner: Commands) -> None:
    parser = _of(inner, "open", "make a session from the input files of several sessions", _open)
    text = "only sessions of this host (a name that `info` lists); needs '--range'"
    parser.add_argument("--host", metavar="H", help=text)
    text = (
        "only sessions that overlap the time from A to B (dates or times, by default UTC; a "
        "missing A or B means no limit); needs '--host'"
    )
    parser.add_argument("--range", metavar="A,B", help=text)
    text = (
        "instead of '--host' and '--range': use the session of this packet, and the sessions of "
        "the candidates that `find` lists"
    )
    parser.add_argument("--packet", metavar="SESSION:N", help=text)
    parser.add_argument("--within", type=_window_ns, default="5", metavar="SECONDS", help=WITHIN)
    text = "session file to write"
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="S.skbv", help=text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _window_ns(text: str) -> int:
    """Parse a number of seconds; return ns."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= MOST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds up to {MOST_S}")
    return round(seconds * 1e9)


def _packets(inner: Commands) -> None:
    parser = _of(
        inner, "packets", "print the packets of all sessions, ordered by time", _list_packets
    )
    _filter(parser)
    formats(parser, "json", "csv", json="print a JSON array of objects")


def _stats(inner: Commands) -> None:
    parser = _of(inner, "stats", "print a table of statistics over all sessions", _table)
    text = (
        "callgraph, conversations, drops, endpoints, functions, latency, layers, processes or "
        "programs"
    )
    parser.add_argument("table", metavar="TABLE", help=text)
    _filter(parser)
    formats(parser, "json", "csv", json="print a JSON array of objects")


def _filter(parser: argparse.ArgumentParser) -> None:
    text = "only packets that match this display filter"
    parser.add_argument("--filter", default="", metavar="F", help=text)


@contextmanager
def _libraries() -> Iterator[None]:
    """Raise BadInput with a one-line message if a library of the extra is missing."""
    try:
        yield
    except ImportError as error:
        library = (error.name or "").partition(".")[0]
        if library not in NEEDED:
            raise
        raise BadInput("dataset", None, MISSING.format(library)) from error


def _add(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset import add_command
    progress = Stderr()
    listed: list[Outcome] = []
    try:
        found = add_command.add_all(
            arguments.folder, list(map(str, arguments.files)), arguments.jobs,
            arguments.scheduler, progress, arguments.inner,
        )  # fmt: skip
        for outcome in found:
            progress.close()
            listed.append(outcome)
            if not outcome.error:
                print(f"{outcome.session}  {_pair(outcome)}: {outcome.text}", flush=True)
    finally:
        progress.close()
    code = warn(line for each in listed for line in each.warnings)
    code |= warn(add_command.repeat_warnings(arguments.folder, {each.session for each in listed}))
    failed = [f"not added: {_pair(each)}: {each.error}" for each in listed if each.error]
    return 2 if warn(failed) and len(failed) == len(listed) else code or int(bool(failed))


def _pair(outcome: Outcome) -> str:
    """Return the path of the first file, and the names of the other files in its folder."""
    first, *others = outcome.files
    here = first.relative_to(Path.cwd()) if first.is_relative_to(Path.cwd()) else first
    names = [path.name if path.parent == first.parent else str(path) for path in others]
    return printable(" + ".join([str(here), *names]))


def _info(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset import session_manifests
    found = session_manifests.read_all(arguments.folder)
    if arguments.json:
        print(
            json.dumps(_totals(found) | {"sessions": [_object(each) for each in found]}, indent=1)
        )
        return 0
    for each in found:
        rows = counted(each.rows("packets"), "packet"), counted(each.rows("calls"), "call")
        print_line(f"{each.session}  {_time(each.begin_ns)} to {_time(each.end_ns)}  {each.host}")
        print(f"    {', '.join(rows)}, {each.size} bytes")
        for original in each.originals:
            print_line(f"    {original.path}  sha256 {original.sha256}")
    for name, value in _totals(found).items():
        print_line(f"{name:<9} {', '.join(value) if isinstance(value, list) else value}")
    return 0


def _time(ns: int) -> str:
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _object(manifest: Manifest) -> dict[str, object]:
    tables = {name: {"rows": rows, "bytes": size} for name, (rows, size) in manifest.tables.items()}
    originals = [each._asdict() for each in manifest.originals]
    return manifest._asdict() | {"originals": originals, "tables": tables}


def _totals(found: list[Manifest]) -> dict[str, int | list[str]]:
    hosts = sorted({each.host for each in found})
    return {
        "count": len(found),
        "hosts": hosts,
        "packets": sum(each.rows("packets") for each in found),
        "calls": sum(each.rows("calls") for each in found),
        "records": sum(each.records for each in found),
        "bytes": sum(each.size for each in found),
    }


def _find(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.find_packet import find
    words = arguments.folder, arguments.packet, arguments.within
    return _answered(arguments, lambda of: find(*words, of))


def _hosts(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.host_pairs import host_pairs
    return _answered(arguments, lambda of: host_pairs(arguments.folder, of))


def _drop(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.drop_sessions import drop, time_ns
    for each in drop(arguments.folder, time_ns(arguments.before)):
        print_line(f"{each.session}  {_time(each.begin_ns)} to {_time(each.end_ns)}  {each.host}")
    return 0


def _open(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.open_as_session import original_files
        from ..session import import_files
    progress = Stderr()
    try:
        sessions = _wanted_sessions(arguments, progress)
        files = original_files(arguments.folder, sessions, progress)
        result = import_files(files, arguments.output, progress)
    finally:
        progress.close()
    return warn(result.warnings)


def _wanted_sessions(arguments: argparse.Namespace, progress: Stderr) -> list[Manifest]:
    """Return the sessions that may have a packet, or those of a host in a range of time."""
    by_packet = arguments.packet is not None
    by_host = arguments.host is not None and arguments.range is not None
    if by_packet == (arguments.host is not None or arguments.range is not None) or not (
        by_packet or by_host
    ):
        raise KeyError("expected '--host' and '--range', or '--packet'")
    with _libraries():
        from ..dataset.drop_sessions import time_ns
        from ..dataset.open_as_session import sessions_of
        from ..dataset.packet_sessions import sessions_of_packet
    if by_packet:
        return sessions_of_packet(arguments.folder, arguments.packet, arguments.within, progress)
    try:
        begin, end = two_times(arguments.range, time_ns)
    except ValueError as error:
        what = "expected 'A,B', 'A,' or ',B', where A and B are dates or times"
        raise KeyError(f"--range {arguments.range}: {what}") from error
    if begin > end:
        raise KeyError(f"--range {arguments.range}: the first time is after the second")
    return sessions_of(arguments.folder, arguments.host, begin, end)


def _query(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.query_thread import BOUNDS, query
    return _answered(arguments, lambda of: query(arguments.folder, arguments.sql, BOUNDS, of))


def _list_packets(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.packets import packets
    return _answered(arguments, lambda of: packets(arguments.folder, arguments.filter, of))


WHY_LEFT = "filters of datasets choose captured packets only"


def _table(arguments: argparse.Namespace) -> int:
    with _libraries():
        from ..dataset.stats.statistics import lifetimes_left_out, lost_records, statistics
    words = arguments.folder, arguments.table, arguments.filter
    code = _answered(arguments, lambda of: statistics(*words, of))
    left = lifetimes_left_out(*words)
    lines = [f"{counted(left, 'skb lifetime')} without a captured packet left out: {WHY_LEFT}"]
    progress = Stderr()
    try:
        lost = lost_records(*words, progress)
    finally:
        progress.close()
    return code | warn([*(lines if left else []), *lost])


def _answered(arguments: argparse.Namespace, ask: Callable[[Stderr], Answer]) -> int:
    progress = Stderr()
    try:
        found = ask(progress)
    finally:
        progress.close()
    print_answer(found, arguments)
    return warn([found.cut] if found.cut else [])
