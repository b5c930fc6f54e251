# SPDX-License-Identifier: MIT
"""The command line.  Exit codes: 0 fine, 1 done with warnings about the data, 2 unusable input."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from . import __version__, readers
from .export import dump_lines, path_lines, path_xml
from .records import BadInput, Cancelled, KernelLog, PacketRow
from .session import Session, import_files

JSON_KEYS = PacketRow._fields[: PacketRow._fields.index("functions") + 1]
PAGE = 1000


class Stderr:
    """Progress on stderr, at most ten times a second, only when somebody looks."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._shown and now - self._last > 0.1:
            self._last = now
            print(f"\r{what}: {100 * done // max(total, 1):3d} %\033[K", end="", file=sys.stderr)

    def close(self) -> None:
        if self._last:
            print("\r\033[K", end="", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, or the window when the first word is no command."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words and (words[0] in COMMANDS or words[0] in ("-h", "--help", "--version")):
            arguments = _parser().parse_args(words)
            return int(arguments.run(arguments))
        from .gui.app import run  # Qt is loaded only for the window

        return run([Path(word) for word in words])
    except BadInput as error:
        return _fail(str(error))
    except KeyError as error:
        return _fail(str(error.args[0]))
    except (Cancelled, KeyboardInterrupt):
        return _fail("cancelled")
    except BrokenPipeError:  # the reader of our output (head, less) has gone
        sys.stderr.close()
        return 0


def _fail(text: str) -> int:
    print(f"skbviewer: {text}", file=sys.stderr)
    return 2


def _warn(warnings: Iterable[str]) -> int:
    """List warnings about the data; the exit code that follows from them."""
    listed = list(warnings)
    for warning in listed:
        print(f"warning: {warning}", file=sys.stderr)
    return 1 if listed else 0


def _import(arguments: argparse.Namespace) -> int:
    progress = Stderr()
    try:
        result = import_files(arguments.files, arguments.output, progress)
    finally:
        progress.close()
    return _warn(result.warnings)


def _info(arguments: argparse.Namespace) -> int:
    info = Session.open(arguments.session).info()
    if arguments.json:
        print(json.dumps(info, indent=2))
    else:
        print("\n".join(_info_lines(info)))
    return _warn(info["warnings"])


def _info_lines(info: dict[str, Any]) -> Iterable[str]:
    for source in info["sources"]:
        detail = ", ".join(f"{k} {v}" for k, v in source["detail"].items())
        yield f"{source['kind']:<7} {source['path']}  {source['rows']} rows, {source['size']} bytes"
        yield f"        sha256 {source['sha256']}"
        yield f"        {detail}"
    for name in ("packets", "records", "series", "calls", "lost_records"):
        yield f"{name.replace('_', ' '):<13} {info[name]}"
    for name in ("recorder", "events"):
        if info[name]:
            yield f"{name:<13} {_counts(info[name])}"
    yield "matches       " + _counts(info["matches"])
    for protocol, counts in info["matches_by_protocol"].items():
        yield f"  {protocol:<11} {_counts(counts)}"
    for clock in info["clock"]:
        for segment in clock["segments"]:
            yield (
                f"clock         source {clock['source']} - kbl {clock['kbl']}: offset "
                f"{segment['offset_ns']} ns, drift {segment['drift_ppm']:.3f} ppm, "
                f"residual {segment['residual_ns']} ns from {segment['pairs']} pairs"
            )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', '-')}" for name, count in counts.items())


def _packets(arguments: argparse.Namespace) -> int:
    session = Session.open(arguments.session)
    if arguments.kernel_only:
        fetch: Callable[[int, int], Sequence[Any]] = session.kernel_only
        total, keys = session.kernel_only_count(), None
    else:
        fetch, total, keys = session.packets, session.packet_count(), JSON_KEYS
    rows = (row for first in range(1, total + 1, PAGE) for row in fetch(first, PAGE))
    objects = ({k: v for k, v in row._asdict().items() if not keys or k in keys} for row in rows)
    if arguments.json:
        for item in objects:
            print(json.dumps(item, ensure_ascii=False))
    elif arguments.csv:
        _print_csv(objects)
    elif arguments.kernel_only:
        for item in objects:
            print("  ".join(f"{key}={value}" for key, value in item.items() if value is not None))
    else:
        _print_table(session, total)
    return 0


def _print_csv(objects: Iterable[dict[str, Any]]) -> None:
    writer = csv.writer(sys.stdout)
    for number, item in enumerate(objects):
        if number == 0:
            writer.writerow(item)
        writer.writerow(item.values())


def _print_table(session: Session, total: int) -> None:
    head = ("No.", "Time", "Source", "Destination", "Proto", "Len", "Kernel us", "Func", "Match")
    layout = "{:>5} {:>13} {:<17} {:<17} {:<6} {:>5} {:>10} {:>4} {:<9} {}"
    print(layout.format(*head, "Info"))
    start = session.packets(1, 1)[0].ts_ns if total else 0
    for first in range(1, total + 1, PAGE):
        for row in session.packets(first, PAGE):
            kernel = "" if row.kernel_ns is None else f"{row.kernel_ns / 1000:.3f}"
            functions = "" if row.functions is None else row.functions
            seconds = f"{(row.ts_ns - start) / 1e9:.9f}"
            ends = (row.source_text, row.destination_text, row.protocol_name, row.len)
            print(
                layout.format(row.number, seconds, *ends, kernel, functions, row.verdict, row.info)
            )


def _path(arguments: argparse.Namespace) -> int:
    path = Session.open(arguments.session).path(arguments.packet, arguments.series)
    if arguments.json:
        legs = [leg._asdict() | {"calls": [c._asdict() for c in leg.calls]} for leg in path.legs]
        for leg in legs:
            for rows in ("waits", "events"):
                leg[rows] = [row._asdict() for row in leg[rows]]
        packet = None if path.packet is None else path.packet.number
        rest = {"wire_ns": path.wire_ns, "wire_error_ns": path.wire_error_ns}
        epoch = {"epoch_offset_ns": path.epoch_offset_ns}
        print(json.dumps({"packet": packet} | rest | epoch | {"legs": legs}, indent=1))
    elif arguments.xml:
        print(path_xml(path))
    else:
        for line in path_lines(path):
            print(line)
    return 0


def _export(arguments: argparse.Namespace) -> int:
    session = Session.open(arguments.session)
    if arguments.csv:
        session.export_csv(arguments.packet, arguments.csv)
    if arguments.png:
        from .gui.render import render_png  # pictures need Qt, but no display

        render_png(session, arguments.png, arguments.packet)
    return 0


def _dump(arguments: argparse.Namespace) -> int:
    log = readers.read(arguments.file, Stderr())
    if not isinstance(log, KernelLog):
        raise BadInput(arguments.file, None, "not a KBL")
    for line in dump_lines(log):
        print(line)
    return _warn(log.warnings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skbviewer",
        description="What did the kernel do with this packet? Without a command the window opens.",
        epilog="skbviewer [FILE...] opens the window with captures, KBLs or a session.",
    )
    parser.add_argument("--version", action="version", version=f"skbviewer {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_import(commands)
    info = _command(commands, "info", "counts, matches, losses and clock fit of a session", _info)
    info.add_argument("session", type=Path)
    info.add_argument("--json", action="store_true")
    packets = _command(commands, "packets", "the packet list with its matches", _packets)
    packets.add_argument("session", type=Path)
    packets.add_argument("--kernel-only", action="store_true", help="packet lives never captured")
    _formats(packets, "json", "csv")
    path = _command(commands, "path", "a packet's way through the kernel", _path)
    path.add_argument("session", type=Path)
    which = path.add_mutually_exclusive_group(required=True)
    which.add_argument("--packet", type=int, metavar="N")
    which.add_argument("--series", type=int, metavar="N")
    _formats(path, "json", "tree", "xml")
    export = _command(commands, "export", "the annotated path as a picture or table", _export)
    export.add_argument("session", type=Path)
    export.add_argument("--packet", type=int, metavar="N", default=1)
    form = export.add_mutually_exclusive_group(required=True)
    form.add_argument("--png", type=Path, metavar="OUT")
    form.add_argument("--csv", type=Path, metavar="OUT")
    dump = _command(commands, "dump", "a KBL's records as text", _dump)
    dump.add_argument("file", type=Path)
    return parser


def _add_import(commands: Any) -> None:
    parser = _command(commands, "import", "build a session from captures and KBLs", _import)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="S.skbv")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")


def _command(
    commands: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def _formats(parser: argparse.ArgumentParser, *names: str) -> None:
    group = parser.add_mutually_exclusive_group()
    for name in names:
        group.add_argument(f"--{name}", action="store_true")


COMMANDS = ("import", "info", "packets", "path", "export", "dump")
