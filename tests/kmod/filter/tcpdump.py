# SPDX-License-Identifier: MIT
"""Evaluate a filter with libpcap's compiler: tcpdump reads a capture of made packets."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import dpkt

PATH = shutil.which("tcpdump", path="/usr/bin:/usr/sbin:/bin:/sbin") or "tcpdump"


def write(path: Path, frames: list[bytes]) -> None:
    """Write a capture whose times are the packets' numbers."""
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file)
        for number, frame in enumerate(frames):
            writer.writepkt(frame, ts=number)


def run(*arguments: str) -> tuple[bytes, str]:
    """Return tcpdump's output and its error message, "" if it has none."""
    done = subprocess.run([PATH, *arguments], capture_output=True, check=False)
    return done.stdout, done.stderr.decode() if done.returncode else ""


def matches(capture: Path, text: str) -> set[int] | None:
    """Return the numbers of the packets that match; None: the text is no filter.

    Without libpcap's optimizer: 1.10.3's turns some long expressions into wrong ones.
    """
    out, complaint = run("-O", "-r", str(capture), "-w", "-", text)
    if "expression rejects all packets" in complaint:
        return set()
    if complaint:
        return None
    return {int(ts) for ts, _ in dpkt.pcap.Reader(io.BytesIO(out))}
