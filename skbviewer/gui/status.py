# SPDX-License-Identifier: MIT
"""The status bar's words on a recording."""

from __future__ import annotations

from pathlib import Path

from . import wording
from .contract import Recording

BETWEEN = "  ·  "  # two parts


def list_text(packets: int, lives: int, shown: int, marked: int, ignored: int) -> str:
    """ "Packets: 60 · Displayed: 12 (20.0 %) · Marked: 1"; what is none is left out.

    `lives` are the rows K<n> that could be listed: 0 where these are not shown.
    """
    every = packets + lives
    share = f" ({shown / every:.1%})".replace("%", " %") if every else ""
    parts = [f"Packets: {packets:,}"]
    parts += [f"Kernel-only: {lives:,}"] if lives else []
    parts += [f"Displayed: {shown:,}{share}"]
    parts += [f"Marked: {marked:,}"] if marked else []
    parts += [f"Ignored: {ignored:,}"] if ignored else []
    return BETWEEN.join(parts)


def status_text(recording: Recording) -> str:
    """ "Matched: 18 · ...", with the clock offset at the end."""
    info = recording.info()
    matches = info["matches"]
    parts = (
        ("Matched", matches["exact"]),
        ("Ambiguous", matches["ambiguous"]),
        ("Wire-only", matches["wire_only"]),
        ("Kernel-only", matches["kernel_only"]),
        ("Lost records", info["lost_records"]),
    )
    counts = BETWEEN.join(f"{what}: {number:,}" for what, number in parts)
    return BETWEEN.join([counts, *clock_texts(recording)[:1]])


def clock_texts(recording: Recording) -> list[str]:
    """One text per fitted capture clock: "Clock offset: 1.234567890 s ± 250 ns".

    It names the capture where there is more than one clock.
    """
    clocks = recording.info().get("clock", [])
    names = {each.id: Path(each.path).name for each in recording.sources()}
    texts = []
    for clock in clocks:
        of = f" of {names[clock['source']]}" if len(clocks) > 1 else ""
        for segment in clock["segments"]:
            offset = wording.seconds(round(segment["offset_ns"]))
            error = wording.duration(round(segment["residual_ns"]))
            texts.append(f"Clock offset{of}: {offset} s ± {error}")
    return texts
