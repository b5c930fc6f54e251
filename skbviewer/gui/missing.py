# SPDX-License-Identifier: MIT
"""What a recording lacks or warns of, in words; None if nothing."""

from __future__ import annotations

from .contract import Recording

NO_KBL = (
    "No kernel recording (.kbl) is open: packets are listed, their way through the kernel is not "
    "known. Open the .kbl recorded at the same time to join them."
)
NO_CAPTURE = (
    "No packet capture is open: the list shows packets as the kernel saw them (K1, K2, …). "
    "Open the capture taken at the same time to join them."
)


def missing(recording: Recording) -> str | None:
    """The part that is missing, then the first warning and how many more there are."""
    kinds = {source.kind for source in recording.sources()}
    lines = []
    if "kbl" not in kinds:
        lines.append(NO_KBL)
    elif kinds == {"kbl"}:
        lines.append(NO_CAPTURE)
    warnings = [line for source in recording.sources() for line in source.warnings]
    if warnings:
        more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
        lines.append(f"{warnings[0]}{more}")
    return "\n".join(lines) or None
