# SPDX-License-Identifier: MIT
"""Insert probes into a tree's packet functions: choose the functions, number the probes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from scanner import probe_list
from scanner.cached_tables import Run
from scanner.instrument.file_plan import Done, FilePlan, FilePlanner, Tree, Wanted, text_with_probes
from scanner.progress import Progress
from scanner.scan import scan
from scanner.source import inserted_probe_text as marks
from scanner.source.source_tree import folders, listing
from scanner.tables.three_tables import Options, Row, analyse
from scanner.worker_processes import Lost, run

DENIED = ("kbl_*", "__kbl_*")  # functions that probes call must not have probes


class Choice(NamedTuple):
    """The functions to instrument, chosen by folder ([]: net, or all), name pattern and level."""

    folders: list[str]
    patterns: list[str]
    level: int | None


class Instrumented(NamedTuple):
    """A tree with probes: (path, before, after) of each changed file, and the manifest."""

    files: list[tuple[str, str, str]]
    manifest: list[Row]
    left_out: list[Row]
    warnings: list[str]


def _scanned(root: Path, wanted: list[str]) -> list[str]:
    """Return the folders to read; include is one of them, because it has types and macros."""
    names = folders(root, wanted)
    both = wanted and "." not in names and "include" not in names and (root / "include").is_dir()
    return ["include", *names] if both else names


def _chosen(rows: Iterable[Row], choice: Choice, places: tuple[str, ...]) -> Iterator[Row]:
    for row in rows:
        inside = not places or row["file"].startswith(places)
        level = choice.level is None or (row["level"] or 0) <= choice.level
        named = not choice.patterns or any(
            fnmatchcase(row["function"], p) or fnmatchcase(f"{row['file']}:{row['function']}", p)
            for p in choice.patterns
        )
        if row["kind"] is not None and inside and level and named:
            yield row


def _type(text: str) -> tuple[str, int, int]:
    base = text.rstrip("*").rstrip()
    return base, text.count("*"), 0


def carriers(row: Row) -> tuple[str, ...]:
    """Return a function's carriers (packets and sock) in the form of a probe list's lines."""
    kinds = [_type(kind) for _, _, kind in row["parameters"]]
    return probe_list.carriers(kinds, _type(row["returns_stripped"]), row["skb_list"], every=True)


def _wanted(row: Row) -> Wanted:
    names = tuple(name for name, *_ in row["parameters"])
    places = [c.partition("@")[2] for c in carriers(row)]
    carried = tuple(names[int(p)] for p in places if p.isdigit() and int(p) < len(names))
    carried = tuple(name for name in carried if name.isidentifier())
    return Wanted(row["function"], row["line"], names, carried, row["macro"])


def _plans(
    root: Path, tree: Tree, rows: dict[str, list[Row]], jobs: int, progress: Progress
) -> Iterator[FilePlan]:
    progress.start("probes", len(rows))

    def make() -> Any:
        planner = FilePlanner(tree)

        def work(path: str) -> FilePlan:
            wanted = [_wanted(row) for row in rows[path]]
            return planner.plan(path, (root / path).read_bytes(), wanted)

        return work

    found: dict[str, FilePlan] = {}
    for path, plan in run(sorted(rows), jobs, make):
        progress.add(1)
        if isinstance(plan, Lost):
            plan = FilePlan(path, "", (), None, plan.reason)
        found[path] = plan
    progress.clear()
    yield from (found[path] for path in sorted(found))


def instrument(run_: Run, options: Options, choice: Choice, progress: Progress) -> Instrumented:
    """Return the tree's files after probes are put into the functions of `choice`.

    Raises BadTree.
    """
    chosen = folders(run_.root, choice.folders) if choice.folders else []
    names = _scanned(run_.root, chosen)
    found = scan(run_.root, names, run_.jobs, run_.store, progress)
    result = analyse(found.files, options, found.warnings)
    asked = chosen or [n for n in names if n != "include"] or names
    places = () if "." in asked else tuple(f"{name}/" for name in asked)
    rows: dict[str, list[Row]] = defaultdict(list)
    left: list[Row] = []
    for row in _chosen(result.functions, choice, places):
        if any(fnmatchcase(row["function"], pattern) for pattern in DENIED):
            left.append(_left(row, "it is part of the code that probes call"))
        elif row["file"].endswith(".h"):
            left.append(_left(row, "in a header: probes would go into every file that includes it"))
        else:
            rows[row["file"]].append(row)
    plans = list(_plans(run_.root, Tree(found.files), dict(rows), run_.jobs, progress))
    return _numbered(plans, rows, left, result.warnings, _used(run_.root))


def _used(root: Path) -> int:
    """Return the highest id of all probes in the tree, inside and outside the chosen folders."""
    found = (marks.ids(text) for _, text in probed(root, ["."], []))
    return max((number for numbers in found for number in numbers), default=0)


def probed(root: Path, names: list[str], warnings: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of each file with probes in the folders `names`.

    Appends a line to `warnings` for each file or folder that cannot be read.  Raises BadTree.
    """
    found = listing(root, names)
    warnings += found.warnings
    for file in found.files:
        try:
            data = (root / file.path).read_bytes()
        except OSError as problem:
            warnings.append(f"{file.path}: {problem.strerror}")
            continue
        if marks.INCLUDE.encode() in data:
            yield file.path, data.decode("latin-1")


def _numbered(
    plans: list[FilePlan],
    rows: dict[str, list[Row]],
    left: list[Row],
    warnings: list[str],
    used: int,
) -> Instrumented:
    files = []
    manifest: list[Row] = []
    for plan in plans:
        own = rows[plan.path]
        if plan.problem:
            left += [_left(row, plan.problem) for row in own]
            continue
        numbers = []
        for row, done in zip(own, plan.functions, strict=True):
            if done.plan is None and done.found is None:
                left.append(_left(row, done.reason))
                continue
            if done.plan is not None:
                used += 1
                numbers.append(used)
            manifest.append(_entry(row, done, used))
        if numbers:
            files.append((plan.path, plan.text, text_with_probes(plan, numbers)))
    return Instrumented(files, sorted(manifest, key=lambda row: row["id"]), left, warnings)


def _entry(row: Row, done: Done, number: int) -> Row:
    """Return a function's manifest row; a later run makes an equal row from inserted probes."""
    if done.plan is not None:
        made = done.plan
        number, names, mode = number, made.carriers, made.mode
        exits, ends = made.returns, made.ends
    else:
        assert done.found is not None
        number, names, mode, exits, ends = done.found
    order = [name for name, *_ in row["parameters"]]
    kinds = {c.partition("@")[2]: c for c in carriers(row)}
    return {
        "id": number,
        "function": row["function"],
        "file": row["file"],
        "line": row["line"],
        "kind": row["kind"],
        "level": row["level"],
        "mode": mode,
        "returns": exits,
        "ends": ends,
        "carriers": [kinds[str(order.index(name))] for name in names],
        "arguments": list(names),
    }


def _left(row: Row, reason: str) -> Row:
    return {
        "function": row["function"],
        "file": row["file"],
        "line": row["line"],
        "reason": reason,
    }


class Undone(NamedTuple):
    """A tree without probes: (path, before, after) of each file, and what was not read.

    `others` says whether files outside these folders still have probes.
    """

    files: list[tuple[str, str, str]]
    others: bool
    warnings: list[str]


def undone(root: Path, names: list[str]) -> Undone:
    """Take the probes out of the folders `names`, or out of the whole tree.  Raises BadTree."""
    warnings: list[str] = []
    wanted = folders(root, names) if names else ["."]
    files = [(path, text, marks.strip(text)) for path, text in probed(root, wanted, warnings)]
    known = {path for path, *_ in files}
    others = bool(names) and any(path not in known for path, _ in probed(root, ["."], []))
    return Undone(files, others or bool(warnings), warnings)
