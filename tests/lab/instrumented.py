# SPDX-License-Identifier: MIT
"""The guest whose kernel carries its probes: built, booted, recorded by the third back end."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.lab import debs, guest, small_kernel
from tests.lab.record import (
    KMOD,
    TOP,
    Built,
    build_kbltest,
    build_module,
    build_program,
    run,
)

FOLDER = TOP / "build/lab/instrumented"
TIMEOUT_S = 600


class Instrumented(NamedTuple):
    """A guest that has run: its kernel, the output of its build, and its files."""

    small: small_kernel.Small
    folder: Path
    out: Path


def prepare(folder: Path) -> tuple[small_kernel.Small, Built]:
    """Build the kernel with probes, and all that its guest needs, below ``folder``."""
    small = small_kernel.build(folder, probes=True)
    kernel = small.kernel
    kmod = build_module(kernel, folder)
    programs = [kmod / "kblrecord", build_program("traffic", folder), build_program("fuzz", folder)]
    lists = {name: folder / f"{name}.txt" for name in ("probes", "probes-6.1")}
    listed = (KMOD / "probes-6.1.txt").read_text()
    lists["probes-6.1"].write_text(listed)
    lists["probes"].write_text(listed + "\n".join(inlined(folder, kernel)) + "\n")
    built = Built(kernel, folder, kmod, build_kbltest(kernel, folder), programs, lists)
    return small, built


def inlined(folder: Path, kernel: debs.Kernel) -> list[str]:
    """Return lines of a probe list: functions with an skb that have probes, but no symbol."""
    known = small_kernel.symbols(kernel)
    plain = {name.partition(".")[0] for name in known}
    rows = small_kernel.manifest(folder)
    once = Counter(row["function"] for row in rows)
    return [
        " ".join((row["function"], *small_kernel.carriers(row)))
        for row in rows
        if row["function"] not in plain
        and once[row["function"]] == 1
        and "skb@0" in row["carriers"]
    ]


@functools.cache
def instrumented(folder: Path = FOLDER) -> Instrumented:
    """Record the basic scenario, then try the sites of a module; at most once a session."""
    small, built = prepare(folder)
    how = guest.Run(("+basic", "module-sites"), patched=True, timeout_s=TIMEOUT_S)
    return Instrumented(small, folder, run(built, how, "basic"))
