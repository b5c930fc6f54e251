# SPDX-License-Identifier: MIT
"""``make bench-scanner``: how right and how fast the scanner is on Debian's kernels.

Downloads the sources of Linux 6.1 and 6.12 (290 MB) and the kernel of the lab, unpacks include
and net, and prints a table a tree.  Exits with code 1 if a figure misses its goal.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scanner import btf, summary_table
from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.tables.struct_forms import HUBS
from scanner.tables.three_tables import Options, Result

from . import scanner_oracle as oracle

VERSIONS = ("6.1", "6.12")
MIB = 1 << 20


class Line(NamedTuple):
    """A figure. wanted: its goal, or ""; good: whether it meets the goal."""

    name: str
    value: str
    wanted: str = ""
    good: bool = True


def fetch(package: str, folder: Path) -> Path:
    """Return the file of a Debian package, downloaded if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{package}_*.deb")):
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True)
    return sorted(folder.glob(f"{package}_*.deb"))[-1]


def source(version: str, out: Path) -> Path:
    """Return the folder with include and net of a kernel's source."""
    tree = out / f"linux-{version}"
    if not (tree / "net").is_dir():
        name = f"linux-source-{version}"
        with tempfile.TemporaryDirectory(dir=out) as folder:
            subprocess.run(["dpkg-deb", "-x", fetch(name, out / "debs"), folder], check=True)
            tree.mkdir(exist_ok=True)
            packed = f"{folder}/usr/src/{name}.tar.xz"
            parts = [f"{name}/include", f"{name}/net"]
            command = ["tar", "-xf", packed, "-C", str(tree), "--strip-components=1", *parts]
            subprocess.run(command, check=True)
    return tree


def image(version: str, out: Path) -> tuple[Path, Path] | None:
    """Return (vmlinuz, folder of modules) of Debian's cloud kernel of a version."""
    folder = out / f"image-{version}"
    if not folder.is_dir():
        pattern = rf"^linux-image-{version}\.[0-9.]+[-+a-z0-9]*-cloud-amd64$"
        done = subprocess.run(
            ["apt-cache", "search", "-n", pattern], capture_output=True, text=True, check=True
        )
        names = sorted(
            (line.split()[0] for line in done.stdout.splitlines()),
            key=lambda n: [
                int(p) for p in n.replace("+", "-").replace("-", ".").split(".") if p.isdigit()
            ],
        )
        if not names:
            return None
        deb = fetch(names[-1], out / "debs")
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
    return next((folder / "boot").glob("vmlinuz-*")), folder / "lib" / "modules"


def timed(command: list[str], tree: Path) -> str:
    """Return the time that another program takes for the same folders."""
    if shutil.which(command[0]) is None:
        return "not installed"
    before, cpu = time.monotonic(), os.times()
    subprocess.run(command, cwd=tree, capture_output=True, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    return f"{time.monotonic() - before:.1f} s ({spent:.1f} s of CPU)"


def memory(pid: int) -> int:
    """Return the resident bytes of a process and its children, now."""
    total = 0
    page = resource.getpagesize()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(folder.name) == pid or int(words[1]) == pid:
                total += int((folder / "statm").read_text().split()[2 - 1]) * page
        except (OSError, IndexError):
            continue
    return total


def watched(tree: Path, store: Path) -> tuple[float, float, int]:
    """Run skbscan as a user would; return seconds, seconds of CPU and the most bytes at once.

    Shared pages of the two processes count in each, so the bytes are an upper bound.
    """
    command = [sys.executable, "-m", "scanner.cli", "scan", str(tree), "-q", "--cache", str(store)]
    before, cpu = time.monotonic(), os.times()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, memory(process.pid))
        time.sleep(0.2)
    after = os.times()
    spent = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    if process.returncode:
        raise SystemExit(f"skbscan failed with {process.returncode}")
    return time.monotonic() - before, spent, most


def at_least(name: str, share: float, wanted: float) -> Line:
    return Line(name, f"{share:.4f}", f">= {wanted}", share >= wanted)


def at_most(name: str, value: float, wanted: float, unit: str) -> Line:
    return Line(name, f"{value:.2f} {unit}", f"<= {wanted} {unit}", value <= wanted)


def speed(tree: Path, out: Path) -> Iterator[Line]:
    store = out / f"cache-{tree.name}"
    shutil.rmtree(store, ignore_errors=True)
    wall, cpu, most = watched(tree, store)
    yield at_most("first run", wall, 60, "s")
    yield Line("  its CPU time, two processes", f"{cpu:.1f} s")
    yield Line("  load of this machine meanwhile", f"{os.getloadavg()[0]:.1f}")
    yield at_most("memory", most / MIB, 1536, "MiB")
    wall, cpu, _ = watched(tree, store)
    yield at_most("second run (cache)", wall, 5, "s")
    yield Line("  its CPU time", f"{cpu:.1f} s")
    yield Line(
        "ctags -R include net", timed(["ctags", "-R", "-f", os.devnull, "include", "net"], tree)
    )
    with tempfile.TemporaryDirectory() as folder:
        command = ["cscope", "-b", "-k", "-R", "-s", "include", "-s", "net", "-f", f"{folder}/c"]
        yield Line("cscope -b include net", timed(command, tree))


def islands(result: Result) -> Iterator[Line]:
    limits = {"signature": 0.5, "struct": 1.0, "typedef": 1.0, "body": 3.0}
    for kind, parsed in result.counts["parsed"].items():
        share = 100 * parsed["fallbacks"] / max(1, parsed["tried"])
        yield at_most(f"{kind} fall-backs", share, limits[kind], "%")


def by_ctags(result: Result, tree: Path) -> Iterator[Line]:
    for folder, wanted in (("net", 0.998), ("include", 0.0)):
        found = oracle.score(
            oracle.definitions(result.functions, folder), oracle.ctags(tree, folder)
        )
        line = at_least(f"definitions in {folder} against ctags", found.recall, wanted)
        missed = ", ".join(name.split()[1] for name in found.missed[:8])
        yield line._replace(value=f"{line.value} (missed {len(found.missed)}: {missed} ...)")


def by_btf(full: Result, kernel: btf.Kernel) -> Iterator[Line]:
    rows = oracle.comparable(kernel, full.functions)
    yield Line("functions unique by name in net and BTF", str(len(rows)))
    yield Line("  same number of parameters", f"{oracle.parameter_counts(kernel, rows):.4f}")
    for limit, recall, precision in (
        (0, 1.0, 0.999),
        (1, 0.0, 0.0),
        (2, 0.0, 0.0),
        (None, 0.999, 0.998),
    ):
        levels = oracle.closure(kernel.types, HUBS, limit)
        found = oracle.direct(kernel, rows, levels, limit)
        name = "full closure" if limit is None else f"level {limit}"
        yield at_least(
            f"direct, {name}: recall of {found.found + len(found.missed)}", found.recall, recall
        )._replace(wanted=f">= {recall}" if recall else "")
        if found.missed:
            yield Line("  missed", ", ".join(found.missed[:10]))
        yield at_least(f"direct, {name}: precision", found.precision, precision)._replace(
            wanted=f">= {precision}" if precision else ""
        )
        if found.extra:
            yield Line("  extra", ", ".join(found.extra[:10]))
    levels = oracle.closure(kernel.types, HUBS, None)
    known = oracle.named_structs(kernel.types)
    ours = {row["name"] for row in full.polymorphism if row["kind"] in ("struct", "union")}
    found = oracle.score(ours & known, set(levels) & set(full.structs))
    yield at_least(
        f"nested structures known to both: recall of {found.found + len(found.missed)}",
        found.recall,
        0.99,
    )
    yield at_least("nested structures known to both: precision", found.precision, 0.99)
    yield Line("  missed", ", ".join(found.missed[:12]))
    yield Line("  extra", ", ".join(found.extra[:12]))


def named(result: Result) -> Line:
    """Return the functions that the work of 2010 names, as far as the tree still has them."""
    kinds: dict[str, set[str | None]] = {}
    for row in result.functions:
        kinds.setdefault(row["function"], set()).add(row["kind"])
    there = [name for name in oracle.NAMED if name in kinds]
    lost = [name for name in there if kinds[name] == {None}]
    text = f"{len(there) - len(lost)} of {len(there)}" + (
        f" (not: {' '.join(lost)})" if lost else ""
    )
    return Line("functions named in 2010 that exist, found", text, "all", not lost)


def bench(version: str, out: Path) -> list[Line]:
    tree = source(version, out)
    lines = list(speed(tree, out))
    run = Run(tree, [], 2, out / f"cache-{tree.name}")
    result = tables(run, Options(), Progress(quiet=True))
    lines += islands(result)
    lines += by_ctags(result, tree)
    lines.append(named(result))
    found = image(version, out)
    if found is None:
        lines.append(Line("Debian's kernel with BTF", "none of this version in apt"))
    else:
        lines += by_btf(result, btf.kernel(found[0], [found[1]], None))
    lines += [Line(text, "") for text in summary_table.lines(result.counts)]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure skbscan.")
    parser.add_argument("--out", type=Path, default=Path("build/scanner"))
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    bad = 0
    for version in args.versions:
        print(f"\nlinux-source-{version}, include and net")
        for line in bench(version, args.out.resolve()):
            mark = "" if line.good else "  NOT REACHED"
            print(f"  {line.name:<52} {line.value:<24} {line.wanted}{mark}".rstrip(), flush=True)
            # What 6.12 reaches is printed beside; what must be reached is said of 6.1.
            bad += not line.good and version == VERSIONS[0]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
