# SPDX-License-Identifier: MIT
"""The module's filter built for user space, with sanitizers, and asked for verdicts."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
KMOD = HERE.parents[2] / "kmod"
PARTS = ("words", "id", "parse", "facts", "sample", "eval")


class Answer(NamedTuple):
    """Verdicts, a letter (N, U, Y) a subject; or the place, length and reason of an error."""

    verdicts: str
    error: tuple[int, int, str] | None


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Return where the programs are built; removed at the end of the run."""
    return tempfile.TemporaryDirectory(prefix="filter")


@functools.cache
def program(name: str, parts: tuple[str, ...], sanitizers: str = "address,undefined") -> Path:
    """Build one of the test programs with parts of the module's filter."""
    target = Path(folder().name) / name
    sources = [HERE / f"{name}.c", *(KMOD / f"kbl_filter_{part}.c" for part in parts)]
    subprocess.run(
        ["gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
         f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-pthread",
         f"-I{HERE}", f"-I{KMOD}", "-o", str(target), *map(str, sources)],
        check=True,
    )  # fmt: skip
    return target


def answer(line: str) -> Answer:
    """Parse a line of the program."""
    at, _, rest = line.partition(" ")
    if not at.isdigit():
        return Answer(line, None)
    length, _, why = rest.partition(" ")
    return Answer("", (int(at), int(length), why))


def ask(texts: list[bytes], subjects: list[bytes]) -> list[Answer]:
    """Ask for the verdicts of each text (without newlines and NULs) over all subjects."""
    file = Path(folder().name) / "subjects"
    file.write_bytes(b"".join(subjects))
    done = subprocess.run(
        [str(program("verdicts", PARTS)), str(file)],
        input=b"".join(text + b"\n" for text in texts), capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return [answer(line) for line in done.stdout.decode().split("\n")[:-1]]
