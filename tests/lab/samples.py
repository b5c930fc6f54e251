# SPDX-License-Identifier: MIT
"""The bundled recordings: their scenarios, and how they are recorded again.

The guest's clock counts instructions, so times do not depend on the machine that emulates it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.lab import debs, guest, record

FOLDER = record.TOP / "resources/samples"
TIMEOUT_S = 1800


class Sample(NamedTuple):
    """A folder of resources/samples, and which step of which kernel's guest it shows."""

    name: str
    step: str
    series: str


SAMPLES = (
    Sample("handshake", "handshake", "6.1"),
    Sample("drops", "drops", "6.12"),
    Sample("nat", "nat", "6.12"),
    Sample("bulk", "segments", "6.12"),
    Sample("ipv6-and-fragments", "ipv6-and-fragments", "6.12"),
    Sample("arp-and-neighbour", "arp-and-neighbour", "6.12"),
)
# With functions without an skb, which take no part in matching.  The step starts the recorder.
WITH_INNER = (Sample("locks-and-routes", "locks-and-routes", "6.12"),)
WORDS = ("sent=20", "segments=200K")


def renew(folder: Path) -> list[Path]:
    """Record all samples, in a guest of each kernel below ``folder``; replace the bundled ones."""
    return [
        path
        for series in debs.METAS
        for path in renew_some(record.prepare(folder / series, series), series)
    ]


def renew_some(built: record.Built, series: str) -> list[Path]:
    """Record the samples of one kernel again; return their files."""
    return renewed(built, [one for one in (*SAMPLES, *WITH_INNER) if one.series == series])


def renewed(built: record.Built, some: Sequence[Sample]) -> list[Path]:
    """Record the samples `some` again, all in one guest; return their files."""
    steps = tuple(one.step if one in WITH_INNER else f"+{one.step}" for one in some)
    out = record.run(built, guest.Run(steps, WORDS, counted=True, timeout_s=TIMEOUT_S), "samples")
    written = []
    for sample in some:
        (FOLDER / sample.name).mkdir(exist_ok=True)
        for suffix in (".kbl", ".pcap"):
            written.append(FOLDER / sample.name / f"{sample.name}{suffix}")
            shutil.copy(out / f"{sample.step}{suffix}", written[-1])
            written[-1].chmod(0o644)
    return written
