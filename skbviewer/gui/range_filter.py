# SPDX-License-Identifier: MIT
"""A range selected on the timeline filters the list, beside the filter that is there."""

from __future__ import annotations

from collections.abc import Callable

from .contract import Recording


class RangeFilter:
    """`current` tells the filter that is applied, `apply` applies another."""

    def __init__(self, current: Callable[[], str], apply: Callable[[str], None]) -> None:
        self._current, self._apply = current, apply
        self._before = ""
        self._made: str | None = None

    def select(self, recording: Recording | None, times: tuple[int, int] | None) -> None:
        """Filter to a range of session time, in place of an earlier one; None filters no more."""
        now = self._current()
        before = self._before if now == self._made else now
        if times is None or recording is None:
            if now == self._made:
                self._apply(before)
            self._made = None
            return
        wanted = recording.range_filter(times)
        self._before = before
        self._made = f"({before}) && {wanted}" if before else wanted
        self._apply(self._made)
