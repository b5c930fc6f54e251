# SPDX-License-Identifier: MIT
"""Compare two open sessions, or the packets of each session that a display filter selects."""

from __future__ import annotations

from ..analysis.comparison import Comparison, Side, StackPair, compare, stack_pairs
from ..analysis.comparison.estimate_differences import SMALLEST_CHANGE
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
    """Return the differences between session `a` and session `b`.

    `filters` are the display filters of a and b ("" means all packets); changes that are smaller
    than the fraction `least` are not reported.  Raises FilterError, BadInput and Cancelled.
    """
    report = progress or Silent()
    one, two = (
        Side(
            scope_of(session, text, report),
            session.conditions(),
            None if text else session.stats.stored(MEASUREMENTS),
        )
        for session, text in zip((a, b), filters, strict=True)
    )
    return compare(one, two, report, least)


def session_stack_pairs(
    a: Session, b: Session, filters: Filters = ("", ""), progress: Progress | None = None
) -> list[StackPair]:
    """Return pairs of call stacks, one of session `a` and one of session `b`.

    `filters` are two display filters: of `a` and of `b`.  Raises FilterError, BadInput and
    Cancelled.
    """
    report = progress or Silent()
    return stack_pairs(scope_of(a, filters[0], report), scope_of(b, filters[1], report))


def scope_of(session: Session, text: str, progress: Progress) -> Scope:
    """Return the scope of the rows (packets and rows K<n>) that match the display filter `text`.

    If `text` is "", lifetimes without a row are included.
    """
    rows = session.packets.select(text, kernel_only=True, progress=progress) if text else None
    return session.stats.scope(Chosen(rows), progress)
