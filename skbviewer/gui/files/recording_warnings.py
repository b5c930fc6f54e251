# SPDX-License-Identifier: MIT
"""Messages about missing inputs of a recording, and its warnings."""

from __future__ import annotations

from ..base.recording_interface import Recording

NO_KBL = (
    "No kernel log (.kbl) is open: packets are listed without their path through the kernel. To "
    "see the packets' path through the kernel, also open the .kbl that was recorded at the same "
    "time."
)
NO_CAPTURE = (
    "No packet capture is open: the list shows packets as the kernel saw them (K1, K2, …). To see "
    "the captured packets, also open the capture that was recorded at the same time."
)


def missing(recording: Recording) -> str | None:
    """Return a message about a missing input file or, if none is missing, about the warnings.

    The message has the first warning and the number of the other warnings. Returns None if no file
    is missing and there are no warnings.
    """
    kinds = {source.kind for source in recording.sources()}
    lines = []
    if not any(kind.is_log for kind in kinds):
        lines.append(NO_KBL)
    elif all(kind.is_log for kind in kinds):
        lines.append(NO_CAPTURE)
    warnings = [line for source in recording.sources() for line in source.warnings]
    if warnings:
        more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
        lines.append(f"{warnings[0]}{more}")
    return "\n".join(lines) or None
