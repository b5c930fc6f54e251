# SPDX-License-Identifier: MIT
"""What rules may need of a recording, and how to record it."""

from __future__ import annotations

import numpy as np

from ...records.kbl_layout import KblEvent
from .finding import Need

RECORD = "record with kblrecord and the bundled list of probes"
CALLS = "a kernel log with calls of the packets, without losses"


def calls() -> Need:
    """Legs whose calls were recorded with their returns, and without losses."""
    return Need(
        lambda case: len(case.rows) > 0,
        CALLS,
        f"{RECORD}; if records were lost, record fewer packets (kblrecord FILTER)",
    )


def peers() -> Need:
    """A packet that enough others can be compared with."""
    return Need(
        lambda case: bool(case.made.classes.comparable[case.rows].any()),
        "at least 8 packets on the same path, or through the same layers",
        "record for longer, so that similar packets are recorded as well",
    )


def capture() -> Need:
    """A capture."""
    return Need(
        lambda case: case.scope.columns.length("packet") > 0,
        "a capture",
        "run tcpdump on the host while kblrecord records",
    )


def functions(*names: str) -> Need:
    """At least one of these functions was probed."""
    return Need(
        lambda case: not set(names).isdisjoint(case.scope.function_names),
        f"a probe of {' or '.join(names)}",
        f"add {names[0]} to the list of probes (kblrecord -f)",
    )


def events(group: str, *kinds: KblEvent) -> Need:
    """The log has events of these kinds."""
    return Need(
        lambda case: bool(np.isin(case.event("event"), kinds).any()),
        f"events of the group {group}",
        "kblrecord -e all",
    )


def logs() -> Need:
    """A kernel log."""
    return Need(
        lambda case: bool(case.scope.kernels), "a kernel log", f"{RECORD} beside the capture"
    )


def calibration() -> Need:
    """The cost of the probes was measured."""
    return Need(
        lambda case: case.made.calibrated, "a calibration of the probes", "kblrecord --calibrate"
    )
