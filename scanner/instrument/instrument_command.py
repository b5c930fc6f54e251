# SPDX-License-Identifier: MIT
"""``skbscan instrument``: write a patch, change the files in place, or remove the probes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path

from scanner import command_line, table_output
from scanner.instrument import probe_runtime as runtime
from scanner.instrument.instrument_tree import Choice, Instrumented, instrument, undone
from scanner.instrument.unified_patch import diff_lines
from scanner.progress import Progress
from scanner.source.source_tree import BadTree


def command(args: argparse.Namespace) -> int:
    """Run `skbscan instrument`; return the exit code."""
    if args.undo:
        return _undo(args)
    added = runtime.additions(args.tree) if args.runtime else []
    choice = Choice(args.dir, args.select, args.level)
    made = instrument(
        command_line.run(args), command_line.options(args), choice, Progress(args.quiet)
    )
    if args.manifest is not None:  # before the tree is changed, because it may not be writable
        whole = {"functions": made.manifest, "left_out": made.left_out}
        table_output.write([json.dumps(whole, indent=1)], args.manifest)
    if args.in_place:
        _write_all(args.tree, made.files)
        runtime.write(args.tree, added)
    elif args.patch is not None:
        _patch(args.patch, made, added)
    for text in [*_summary(made), *(f"warning: {text}" for text in made.warnings)]:
        print(f"skbscan: {text}", file=sys.stderr)
    return 1 if made.warnings else 0


def _undo(args: argparse.Namespace) -> int:
    """Remove probes, and the probes' runtime if no file needs it any more; return the exit code."""
    if args.select or args.manifest is not None or args.level is not None:
        raise BadTree(
            "'--undo' removes all probes; it cannot be combined with '--select', '--level' or "
            "'--manifest'"
        )
    made = undone(args.tree, args.dir)
    _write_all(args.tree, made.files)
    if not made.others:
        runtime.write(args.tree, runtime.removals(args.tree))
    print(f"probes removed from {len(made.files)} files")
    if made.others:
        print(
            "skbscan: the code that probes call was kept, because other files may have probes",
            file=sys.stderr,
        )
    for text in made.warnings:
        print(f"skbscan: warning: {text}", file=sys.stderr)
    return 1 if made.warnings else 0


def _write_all(root: Path, changes: list[tuple[str, str, str]]) -> None:
    """Replace each file as a whole, so that no file is half written after an interrupt."""
    for path, _, new in changes:
        target = root / path
        beside = target.with_name(f".{target.name}.skbscan")
        try:
            beside.write_bytes(new.encode("latin-1"))
            os.chmod(beside, target.stat().st_mode & 0o7777)
            beside.replace(target)
        except OSError as problem:
            # What write() raises does not name the file.
            raise OSError(problem.errno, problem.strerror, str(target)) from None
        finally:
            beside.unlink(missing_ok=True)


def _patch(out: Path, made: Instrumented, added: list[runtime.Change]) -> None:
    lines = (line for path, old, new in made.files for line in diff_lines(path, old, new))
    data = "".join([*lines, *runtime.patch(added)]).encode("latin-1")
    table_output.write_bytes(data, out)


def _summary(made: Instrumented) -> list[str]:
    exits = sum(row["returns"] for row in made.manifest)
    ends = sum(row["ends"] for row in made.manifest)
    scopes = sum(row["mode"] == "scope" for row in made.manifest)
    lines = [
        f"{len(made.manifest)} functions with probes ({scopes} by scope), at {exits} returns and "
        f"{ends} ends of bodies; {len(made.files)} files to change"
    ]
    reasons = Counter(row["reason"] for row in made.left_out)
    lines += [f"left out: {count} {reason}" for reason, count in reasons.most_common()]
    return lines
