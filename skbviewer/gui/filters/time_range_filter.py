# SPDX-License-Identifier: MIT
"""Filter the packet list by the range selected on the timeline, and by the present filter."""

from __future__ import annotations

from collections.abc import Callable

from ..base.recording_interface import Recording


class RangeFilter:
    """Adds a range to the display filter; `current` returns the applied filter, `apply` sets it."""

    def __init__(self, current: Callable[[], str], apply: Callable[[str], None]) -> None:
        self._current, self._apply = current, apply
        self._before = ""
        self._made: str | None = None

    def select(
        self, recording: Recording | None, times: tuple[int, int] | None, more: str = ""
    ) -> None:
        """Show only packets in a range of session time, packets that match `more`, or both.

        `times` is (begin, end) in ns.  The new conditions replace the conditions of the last call.
        Without `times` and `more`, the last conditions are only removed.
        """
        now = self._current()
        before = self._before if now == self._made else now
        if recording is None or (times is None and not more):
            if now == self._made:
                self._apply(before)
            self._made = None
            return
        wanted = more
        if times is not None:
            wanted = recording.timeline.range_filter(times)
            if " || " in wanted:  # several interfaces with clocks of their own
                wanted = f"({wanted})"
            wanted = f"{wanted} && {more}" if more else wanted
        self._before = before
        self._made = f"({before}) && {wanted}" if before else wanted
        self._apply(self._made)
