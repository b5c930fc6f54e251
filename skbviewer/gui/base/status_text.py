# SPDX-License-Identifier: MIT
"""The texts of the status bar."""

from __future__ import annotations

from pathlib import Path

from skbviewer.session.kernel.log_names import log_names
from skbviewer.session.match_again import rules_words

from . import wording
from .recording_interface import Recording

BETWEEN = "  ·  "  # separates two parts


def list_text(packets: int, kernel_only: int, shown: int, marked: int, ignored: int) -> str:
    """Return the first text of the status bar: "Packets: 60 · Displayed: 12 (20.0 %) · Marked: 1".

    Numbers of kernel-only, marked and ignored rows are left out if they are 0.  `kernel_only` is
    the number of rows K<n> that can be listed; 0 if they are hidden.
    """
    every = packets + kernel_only
    share = f" ({shown / every:.1%})".replace("%", " %") if every else ""
    parts = [f"Packets: {packets:,}"]
    parts += [f"Kernel-only: {kernel_only:,}"] if kernel_only else []
    parts += [f"Displayed: {shown:,}{share}"]
    parts += [f"Marked: {marked:,}"] if marked else []
    parts += [f"Ignored: {ignored:,}"] if ignored else []
    return BETWEEN.join(parts)


def status_text(recording: Recording) -> str:
    """Return the second text of the status bar: "Matched: 18 · ...", then the clock offset."""
    info = recording.info()
    matches = info["matches"]
    parts = (
        ("Matched", matches["exact"]),
        ("Ambiguous", matches["ambiguous"]),
        ("Wire-only", matches["wire_only"]),
        *((("Sampled out", matches["sampled_out"]),) if "sampled_out" in matches else ()),
        ("Kernel-only", matches["kernel_only"]),
        ("Lost records", info["lost_records"]),
    )
    nameless = recording.packets.all_kernel_only_count() - recording.packets.kernel_only_count()
    more = {"Kernel-only": f" (+ {nameless:,} without an address)"} if nameless > 0 else {}
    counts = BETWEEN.join(f"{what}: {number:,}{more.get(what, '')}" for what, number in parts)
    other = rules_words(recording.rules())
    rules = [f"Matched by {other}"] if other else []
    return BETWEEN.join([*rules, counts, *clock_texts(recording)[:1]])


def clock_texts(recording: Recording) -> list[str]:
    """Return one text per fitted capture clock: "Clock offset: 1.234567890 s ± 250 ns".

    If there are several clocks, each text also names its capture; if there are several logs, each
    text also names its log. With several logs, there is also a text for each further log: "Clock of
    b.kbl to a.kbl: ± 632.4 µs".
    """
    info, sources = recording.info(), recording.sources()
    clocks = info.get("clock", [])
    names = {each.id: Path(each.path).name for each in sources}
    logs = log_names(sources)
    texts = []
    for clock in clocks:
        of = f" of {names[clock['source']]}" if len(clocks) > 1 else ""
        of += f" to {logs[clock['kbl']]}" if logs else ""
        for segment in clock["segments"]:
            offset = wording.seconds(round(segment["offset_ns"]))
            error = wording.duration(round(segment["residual_ns"]))
            where = f" of interface {segment['interface']}" if "interface" in segment else ""
            texts.append(f"Clock offset{where}{of}: {offset} s ± {error}")
    for way in info.get("one_way", []):
        error = wording.duration(-(-way["uncertainty_ns"] // 2))  # from the middle of the bounds
        texts.append(f"Clock of {logs[way['other']]} to {logs[way['kbl']]}: ± {error}")
    return texts
