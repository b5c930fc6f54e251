# SPDX-License-Identifier: MIT
"""The bundled recordings: which scenario each is, and recording them anew.

Times must tell of the kernel and not of the machine that emulates it: the guest's clock counts
instructions.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.lab import guest, record

FOLDER = record.TOP / "resources/samples"
TIMEOUT_S = 1800


class Sample(NamedTuple):
    """A folder of resources/samples, and the step of the guest which it shows."""

    name: str
    step: str


SAMPLES = (
    Sample("handshake", "handshake"),
    Sample("drops", "drops"),
    Sample("nat", "nat"),
    Sample("bulk", "segments"),
    Sample("ipv6-and-fragments", "ipv6-and-fragments"),
    Sample("arp-and-neighbour", "arp-and-neighbour"),
)
WORDS = ("sent=20", "segments=400K")


def renew(folder: Path) -> list[Path]:
    """Record all samples in one guest of 6.1 below ``folder`` and replace the bundled ones."""
    built = record.prepare(folder)
    steps = tuple(f"+{sample.step}" for sample in SAMPLES)
    out = record.run(built, guest.Run(steps, WORDS, counted=True, timeout_s=TIMEOUT_S), "samples")
    written = []
    for sample in SAMPLES:
        (FOLDER / sample.name).mkdir(exist_ok=True)
        for suffix in (".kbl", ".pcap"):
            written.append(FOLDER / sample.name / f"{sample.name}{suffix}")
            shutil.copy(out / f"{sample.step}{suffix}", written[-1])
            written[-1].chmod(0o644)
    return written
