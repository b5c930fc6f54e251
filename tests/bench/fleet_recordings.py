# SPDX-License-Identifier: MIT
"""The generated recordings of `make bench-fleet`, and how many rows they have."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.records.kbl_layout import KBL_FILE_HEADER

from .generate import EVENTS_A_PACKET, Generated, generate

HOSTS = 20
SMALL = 10  # the pair of MachineSpeed has one of so many packets and records


class Fleet(NamedTuple):
    """The generated files, and how many packets, calls and records of logs are in them.

    `small` is a pair that is no part of the dataset.
    """

    files: tuple[Path, ...]
    small: tuple[Path, Path]
    packets: int
    calls: int
    records: int


def make_fleet(out: Path, pairs: int, packets: int, records: int) -> Fleet:
    """Write `pairs` logs with their captures; hosts are named in turn."""
    files: list[Path] = []
    sums = np.zeros(3, np.int64)
    for number in range(pairs):
        made = _make_pair(out, packets, records, number)
        stem = out / f"pair{number:04}"
        files += [made.log.replace(stem.with_suffix(".kbl"))]
        files += [made.capture.replace(stem.with_suffix(".pcap"))]
        _name_host(files[-2], f"host{number % HOSTS:02}")
        sums += (made.packets, made.written.calls, made.written.rows - made.written.calls)
    small = _make_pair(out, packets // SMALL, records // SMALL, pairs)
    return Fleet(tuple(files), (small.log, small.capture), *map(int, sums))


def _make_pair(out: Path, packets: int, records: int, number: int) -> Generated:
    calls = max(packets, round(records - EVENTS_A_PACKET * packets))
    return generate(out / "one", packets, calls, seed=number + 1)


def _name_host(log: Path, host: str) -> None:
    with log.open("r+b") as file:
        header = np.frombuffer(file.read(KBL_FILE_HEADER.itemsize), KBL_FILE_HEADER).copy()
        header["hostname"] = host
        file.seek(0)
        file.write(header.tobytes())
