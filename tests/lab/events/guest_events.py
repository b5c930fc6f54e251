# SPDX-License-Identifier: MIT
"""Run the guest that provokes each event, and take its raw slots."""

from __future__ import annotations

import bisect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.records import kbl_layout as layout
from tests.lab import debs, guest, initramfs
from tests.lab.kbl_check import Record, split
from tests.lab.record import Built

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 600
# Steps of the lab whose tools and kernel modules these cases need too.
NEEDED = ("drops", "segments")
CASES = ("tables", "packets", "syscalls", "machine", "everycall")
PROGRAMS = ("calls", "machine", "unread", "everycall")


class Symbols(NamedTuple):
    """The text of the guest's kernel: sorted addresses and their names."""

    stext: int
    addresses: list[int]
    names: list[str]

    def name(self, offset: int) -> str:
        """Return the symbol that `offset` from _stext lies in; a return address lies behind."""
        return self.names[bisect.bisect_right(self.addresses, self.stext + offset - 1) - 1]


class Case(NamedTuple):
    """One recording: what each CPU wrote, in the order written."""

    folder: Path
    records: list[Record]

    def events(self, *kinds: layout.KblEvent) -> Iterator[Record]:
        """Yield the EVENT records of these kinds."""
        for record in self.records:
            if record.head["kind"] == layout.KblKind.EVENT and record.head["event"] in kinds:
                yield record


def run(built: Built, cases: tuple[str, ...] = CASES) -> Path:
    """Run a guest through cases, below the folder of `built`; returns the folder of its files.

    Raises guest.GuestFailed or RuntimeError.
    """
    folder = built.folder / f"events-{cases[0]}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        warn = ("-Wall", "-Wextra", "-Werror", "-pthread")
        source = str(HERE / f"{name}.c")
        debs.run("gcc", "-O2", *warn, "-static", "-o", str(folder / name), source)
    lists = [HERE / "freers.txt", HERE / "enqueuers.txt"]
    files = [*lists, *(HERE / f"{case}.sh" for case in cases)]
    programs = [*built.programs, *(folder / name for name in PROGRAMS)]
    parts = initramfs.Parts(HERE / "init.sh", built.kmod / "kbl.ko", programs, files, NEEDED)
    words = (f"cases={','.join(cases)}",)
    # With a thread for each CPU, the guest of 6.1 stood still in two of three runs of all tests,
    # once just when probes were armed; but in none of 150 boots of the cases of packets alone.
    how = guest.Run(steps=(), words=words, patched=True, timeout_s=TIMEOUT_S)
    return guest.boot(built.kernel, initramfs.build(built.kernel, parts, folder), folder, how)


def load(out: Path, name: str) -> Case:
    """Return the recording of one case; a torn record is an AssertionError."""
    records: list[Record] = []
    for cpu in sorted((out / name).glob("cpu[0-9]*")):
        records += split(int(cpu.name[3:]), cpu.read_bytes())
    return Case(out / name, records)


def symbols(out: Path) -> Symbols:
    """Return the guest's text symbols."""
    rows = (line.split() for line in (out / "kallsyms").read_text().splitlines())
    text = sorted((int(row[0], 16), row[2]) for row in rows if row[1] in "tTwW")
    stext = next(address for address, name in text if name == "_stext")
    return Symbols(stext, [address for address, _ in text], [name for _, name in text])


def ext(record: Record, kind: layout.KblExtType) -> np.void | None:
    """Return the first EXT slot of a type."""
    return next((s for s, t in zip(record.slots, record.ext, strict=True) if t == kind), None)


def stack(record: Record) -> list[int]:
    """Return the offsets from _stext of a drop's stack."""
    slots = [s for s, t in zip(record.slots, record.ext, strict=True)
             if t == layout.KblExtType.DROP]  # fmt: skip
    return [int(o) for s in slots for o in s["stack"]][: int(slots[0]["depth"])]


def stat(case: Case, name: str) -> int:
    """Return a number of the module's statistics."""
    rows = (line.split() for line in (case.folder / "stats").read_text().splitlines())
    return next(int(row[1]) for row in rows if row[0] == name)


def with_footprint(case: Case, *kinds: layout.KblEvent) -> Iterator[tuple[Record, Record | None]]:
    """Yield the events of these kinds, each with the skb's last FOOTPRINT on its CPU."""
    last: dict[tuple[int, int], Record] = {}
    for record in case.events(*kinds, layout.KblEvent.FOOTPRINT):
        key = (record.cpu, int(record.head["skb"]))
        if record.head["event"] == layout.KblEvent.FOOTPRINT:
            last[key] = record
        else:
            yield record, last.get(key)
