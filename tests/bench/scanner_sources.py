# SPDX-License-Identifier: MIT
"""``make bench-scanner-sources``: the scanner on sources that are no kernel's, against others.

Downloads four Debian source packages (40 MB) and compares: every function that ctags finds must be
found with the same end, or be named as unread; and what Coccinelle finds with a parameter of a
struct must be among the direct functions.  Exit code 1 if it is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.source.macro_replacement import close_paren
from scanner.tables.three_tables import Options, Result

# Package, the struct asked about, and the folders; u-boot has include and net as a kernel has.
PACKAGES: tuple[tuple[str, str, list[str]], ...] = (
    ("lwip", "struct pbuf", []),
    ("frr", "struct stream", []),
    ("dpdk", "struct rte_mbuf", []),
    ("u-boot", "struct udevice", ["."]),
)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|el\w+|endif)\b(.*)")
_FOREIGN = ("class ", "namespace ", "struct ", "template")
_QUERY = """
@r@
identifier f, p;
position at;
@@
f@at(..., %s *p, ...) { ... }

@script:python@
f << r.f;
at << r.at;
@@
print(at[0].file, f)
"""


class Tag(NamedTuple):
    """A function as ctags finds it, from its name's line to its end (0 if ctags does not say)."""

    file: str
    name: str
    line: int
    end: int


class Line(NamedTuple):
    """A figure. good: whether it meets its goal."""

    name: str
    value: str
    good: bool = True


def fetch(package: str, out: Path) -> Path:
    """Return the unpacked source of a Debian package, from the machine's own mirror."""
    tree = out / package
    if tree.is_dir():
        return tree
    (out / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(LABEL)|deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Created-By: Packages",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = {line.partition("|")[2] for line in listed.splitlines() if line.startswith("Debian|")}
    (out / "sources.list").write_text("\n".join([*sorted(lines), ""]))
    options = [
        "-q",
        f"-oDir::Etc::SourceList={out}/sources.list",
        "-oDir::Etc::SourceParts=/dev/null",
        f"-oDir::State::Lists={out}/lists",
    ]
    if not list((out / "lists").glob("*Sources*")):
        subprocess.run(["apt-get", *options, "update"], check=True)
    subprocess.run(["apt-get", *options, "source", "--download-only", package], cwd=out, check=True)
    described = sorted(out.glob(f"{package}_*.dsc"))[-1]
    subprocess.run(["dpkg-source", "--no-check", "-x", described, tree], check=True)
    return tree


def ctags(tree: Path, files: list[str]) -> list[Tag]:
    """Return every function definition that ctags finds in some files of a tree."""
    command = ["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+ne"]
    command += ["--output-format=json", "-f", "-", "-L", "-"]
    done = subprocess.run(
        command, cwd=tree, input="\n".join(files), capture_output=True, text=True, check=True
    )
    tags = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        Tag(t["path"], t["name"], t["line"], t.get("end", 0)) for t in tags if t["_type"] == "tag"
    ]


def only_in_c_plus_plus(text: str) -> set[int]:
    """Return the lines that only a C++ compiler sees."""
    found: set[int] = set()
    stack: list[bool] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _CONDITION.match(line)
        if match is None:
            found |= {number} if any(stack) else set()
        elif match[1].startswith("if"):
            stack.append(match[1] != "ifndef" and "__cplusplus" in match[2] and "!" not in match[2])
        elif stack and match[1] == "endif":
            stack.pop()
        elif stack:
            stack[-1] = False
    return found


class Comparison:
    """ctags' functions against those of a result, one after the other."""

    def __init__(self, tree: Path, result: Result) -> None:
        self._tree = tree
        rows = result.functions
        self._names = {(r["file"], name) for r in rows for name in (r["function"], r["macro"])}
        self._ends = {(row["file"], row["end_line"]) for row in rows}
        self._spans: dict[str, list[tuple[int, int]]] = {}
        for row in rows:
            self._spans.setdefault(row["file"], []).append((row["line"], row["end_line"]))
        self._unread: dict[str, list[tuple[int, int]]] = {}
        self._foreign: set[str] = set()
        for row in result.fallbacks:
            if row["kind"] == "function":
                lines = (row["line"], int(row["reason"].split()[-1]))
                self._unread.setdefault(row["file"], []).append(lines)
                if row["function"].startswith(_FOREIGN):
                    self._foreign.add(row["file"])
        self._macros = {
            name.decode()
            for path in (*tree.rglob("*.[ch]"),)
            if path.is_file()
            for name in _DEFINED.findall(path.read_bytes())
        }
        self._plus: dict[str, set[int]] = {}

    def verdict(self, tag: Tag) -> str:
        """Return what became of a function of ctags.

        found: name and end are the same.  other name: a function ends there, and ctags names it
        by a macro.  named: within what is named as unread.  no function: a macro's use within a
        function or without a body, which ctags takes for a function; or C++.  lost: none of these.
        """
        known = (tag.file, tag.name) in self._names
        if (tag.file, tag.end) in self._ends or (known and not tag.end):
            return "found" if known else "other name"
        if _within(tag.line, self._unread.get(tag.file, [])):
            return "named"
        used = tag.name in self._macros and (
            _within(tag.line, self._spans.get(tag.file, [])) or not self._has_body(tag)
        )
        if used or tag.file in self._foreign or tag.line in self._cplusplus(tag.file):
            return "no function"
        return "lost"

    def _has_body(self, tag: Tag) -> bool:
        """Say whether a brace follows the parameters; a comment between them counts as none."""
        text = (self._tree / tag.file).read_text(encoding="latin-1")
        rest = "".join(text.splitlines(keepends=True)[tag.line - 1 :])
        end = close_paren(rest, rest.find("(", rest.find(tag.name)))
        return end > 0 and rest[end:].lstrip().startswith("{")

    def _cplusplus(self, file: str) -> set[int]:
        if file not in self._plus:
            text = (self._tree / file).read_text(encoding="latin-1")
            self._plus[file] = only_in_c_plus_plus(text)
        return self._plus[file]


def _within(line: int, spans: list[tuple[int, int]]) -> bool:
    return any(first <= line <= last for first, last in spans)


def by_ctags(tree: Path, result: Result) -> Iterator[Line]:
    """Compare the functions."""
    files = sorted(
        path.relative_to(tree).as_posix()
        for path in tree.rglob("*.[ch]")
        if path.is_file() and not path.is_symlink()
    )
    files = [file for file in files if not any(part[0] == "." for part in file.split("/"))]
    comparison = Comparison(tree, result)
    verdicts = [(comparison.verdict(tag), tag) for tag in ctags(tree, files)]
    counts = Counter(verdict for verdict, _ in verdicts)
    lost = [tag for verdict, tag in verdicts if verdict == "lost"]
    whole = len(verdicts) - counts["no function"]
    share = (whole - counts["lost"]) / max(1, whole)
    yield Line("functions that ctags finds", f"{whole}")
    yield Line("  found, or named as unread", f"{share:.5f}", share >= 0.999)
    for verdict in ("found", "other name", "named", "no function"):
        yield Line(f"    {verdict}", str(counts[verdict]))
    text = ", ".join(f"{tag.file}:{tag.line} {tag.name}" for tag in lost[:10])
    yield Line("  lost in silence", f"{len(lost)} {text}".rstrip(), not lost)


def by_coccinelle(tree: Path, result: Result, seed: str) -> Iterator[Line]:
    """Compare the functions that have a parameter of the struct."""
    with tempfile.TemporaryDirectory() as folder:
        query = Path(folder) / "query.cocci"
        query.write_text(_QUERY % seed)
        command = ["spatch", "--very-quiet", "--no-includes", "--include-headers"]
        command += ["--sp-file", str(query), "--dir", "."]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    theirs = {tuple(line.removeprefix("./").split()) for line in done.stdout.splitlines()}
    theirs = {pair for pair in theirs if len(pair) == 2 and pair[0][0] != "."}
    ours = {(row["file"], row["function"]) for row in result.direct if _takes(row)}
    missed = sorted(theirs - ours)
    yield Line(f"with a parameter {seed} *, by spatch", str(len(theirs)), bool(theirs))
    yield Line("  with such a parameter, by skbscan", str(len(ours)))
    text = ", ".join(" ".join(pair) for pair in missed[:10])
    yield Line("  of spatch's not among ours", f"{len(missed)} {text}".rstrip(), not missed)


def _takes(row: dict[str, Any]) -> bool:
    return any(use["level"] == 0 for use in row["parameters"])


def bench(package: str, seed: str, folders: list[str], out: Path) -> Iterator[Line]:
    """Yield the figures of one package."""
    tree = fetch(package, out)
    before, cpu = time.monotonic(), os.times()
    run = Run(tree, list(folders), 2, None)
    result = tables(run, Options(seed), Progress(quiet=True))
    after = os.times()
    spent = sum(after[:4]) - sum(cpu[:4])
    counts = result.counts
    yield Line(".c and .h files", str(sum(counts["files"].values())))
    yield Line("scanned in", f"{time.monotonic() - before:.0f} s ({spent:.0f} s of CPU time)")
    for kind, parsed in counts["parsed"].items():
        share = 100 * parsed["fallbacks"] / max(1, parsed["tried"])
        yield Line(f"{kind} fall-backs", f"{share:.2f} %")
    yield from by_ctags(tree, result)
    yield from by_coccinelle(tree, result, seed)


def main() -> int:
    """Print a table a package."""
    parser = argparse.ArgumentParser(description="Measure skbscan on other sources than a kernel.")
    parser.add_argument("--out", type=Path, default=Path("build/scanner-sources"))
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="of those listed here")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    bad = 0
    for package, seed, folders in PACKAGES:
        if args.packages and package not in args.packages:
            continue
        print(f"\n{package}, {seed}", flush=True)
        for line in bench(package, seed, folders, args.out.resolve()):
            mark = "" if line.good else "  NOT REACHED"
            print(f"  {line.name:<44} {line.value}{mark}", flush=True)
            bad += not line.good
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
