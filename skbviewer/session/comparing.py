# SPDX-License-Identifier: MIT
"""Compare two open sessions, or the packets that display filters choose of them."""

from __future__ import annotations

from ..analysis.comparison import Comparison, Measurements, Side, StackPair, compare, stack_pairs
from ..analysis.comparison.differences import SMALLEST_CHANGE
from ..analysis.stats import Chosen, Scope
from ..records import Progress, Silent
from .kernel.session_statistics import MEASUREMENTS
from .session import Session

Filters = tuple[str, str]


def comparison_of(
    a: Session,
    b: Session,
    filters: Filters = ("", ""),
    least: float = SMALLEST_CHANGE,
    progress: Progress | None = None,
) -> Comparison:
    """Return the changes from `a` to `b`.

    `filters` are the display filters of a and b ("": all packets); changes below the fraction
    `least` are not reported. Raises FilterError, BadInput and Cancelled.
    """
    report = progress or Silent()
    one, two = (
        Side(
            scope_of(session, text, report),
            session.conditions(),
            None if text else _stored(session),
        )
        for session, text in zip((a, b), filters, strict=True)
    )
    return compare(one, two, report, least)


def _stored(session: Session) -> Measurements | None:
    """Return what the import measured of all packets; None if calls are left out now."""
    found: Measurements | None = session.stats.stored_or(
        MEASUREMENTS, session.stats.shown(Chosen()), lambda: None
    )
    return found


def session_stack_pairs(
    a: Session, b: Session, filters: Filters = ("", ""), progress: Progress | None = None
) -> list[StackPair]:
    """Return the call stacks of sessions `a` and `b`, paired.

    `filters` are display filters, one for each session.  Raises FilterError, BadInput and
    Cancelled.
    """
    report = progress or Silent()
    return stack_pairs(scope_of(a, filters[0], report), scope_of(b, filters[1], report))


def scope_of(session: Session, text: str, progress: Progress) -> Scope:
    """Return the passes of the rows (packets and rows K<n>) that match the display filter `text`.

    If `text` is "", the passes of lifetimes without a row are included.
    """
    rows = session.packets.select(text, kernel_only=True, progress=progress) if text else None
    return session.stats.scope(Chosen(rows), progress)
