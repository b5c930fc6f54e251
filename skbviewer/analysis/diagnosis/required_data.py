# SPDX-License-Identifier: MIT
"""The data that a rule may need in a recording, and how to record them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...records.kbl_layout import KblEvent
from .finding import Need

if TYPE_CHECKING:
    from .rule_inputs import Case

RECORD = "record with kblrecord and the bundled list of probes"
NO_LOG = (
    "on the host, run 'kblrecord -w FILE.kbl' as root while the capture runs, and open both files "
    "together"
)
CAPTURE = "a capture"
CHOSEN = "a chosen packet"
CHOOSE = "choose packets or a range of time that are in the session"
CALLS = "a kernel log with calls that handled the packets, and without lost records"


def calls() -> Need:
    """Return the need for calls of the chosen packets, with returns and without lost records."""
    return Need(
        lambda case: len(case.rows) > 0,
        CALLS,
        f"{RECORD}; if records were lost, record fewer packets ('kblrecord FILTER')",
    )


def peers() -> Need:
    """Return the need for enough packets that are similar to a chosen packet."""
    return Need(
        lambda case: bool(case.made.classes.are_comparable(case.rows).any()),
        "at least 8 packets on the same path, or through the same layers",
        "record for longer, so that similar packets are recorded as well",
    )


def capture() -> Need:
    """Return the need for a capture in the session."""
    return Need(
        lambda case: bool(case.scope.captures) or case.scope.columns.length("packet") > 0,
        CAPTURE,
        "run tcpdump on the host while kblrecord records",
    )


def functions(*names: str, how: str = "") -> Need:
    """Return the need for a probe on at least one of the functions `names`.

    `how` says how to record the probe.  If `how` is "", the advice is to add the first of `names`
    to the list of probes.
    """
    return Need(
        lambda case: any(
            not set(names).isdisjoint(set(kernel.functions.values()) - kernel.unarmed)
            for kernel in case.scope.kernels.values()
        ),
        f"a probe of {' or '.join(names)}",
        how or f"add {names[0]} to the list of probes ('kblrecord -f')",
    )


def events(group: str, *kinds: KblEvent) -> Need:
    """Return the need for a log that records the events of `group`.

    The recorder notes which groups of events were on, so even a log that has no event of the group
    may fulfil the need.  `kinds` are the kinds of events in `group`.
    """

    def how(case: Case) -> str:
        if case.scope.names_groups:
            return "kblrecord -e all"
        return (
            "'kblrecord -e all' of this version, whose logs say which event groups were on, so "
            "that the absence of an event shows something. This log does not say which event "
            "groups were on, and has no such event"
        )

    return Need(
        lambda case: (
            case.scope.has_recorded(group) or not case.event_kinds.isdisjoint(map(int, kinds))
        ),
        f"events of the group {group}",
        how,
    )


def logs() -> Need:
    """Return the need for a kernel log in the session."""
    return Need(lambda case: bool(case.scope.kernels), "a kernel log", NO_LOG)


def no_losses() -> Need:
    """Return the need for complete records of the chosen packets: none of them may be lost."""
    return Need(
        lambda case: not case.may_lack_records,
        "records that were lost",
        "record fewer packets ('kblrecord FILTER'), or use larger buffers",
    )


def headers() -> Need:
    """Return the need for packet headers in all logs that have drops of chosen packets."""
    return Need(
        lambda case: not case.has_headerless_drops,
        "headers of the dropped packets",
        f"{RECORD}: a log that only has events does not show which packets they are about",
    )


def calibration() -> Need:
    """Return the need for a calibration: the cost of the probes must have been measured."""
    return Need(
        lambda case: case.made.calibrated, "a calibration of the probes", "kblrecord --calibrate"
    )
