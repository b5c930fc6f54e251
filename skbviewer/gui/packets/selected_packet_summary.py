# SPDX-License-Identifier: MIT
"""The strip below the list: the selected packet, its verdict, drop and time in the kernel."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, QMargins, Qt
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from skbviewer.records import MAYBE_LOST, POINTS_ONLY, PacketPath

from ..base import wording
from ..base.theme import DROP_COLOURS, VERDICT_COLOURS, is_dark, themed
from .packet_rows import ListRow

MARGINS = QMargins(10, 6, 10, 6)


def headline(row: ListRow) -> str:
    """Return a packet's title: "Packet 3: 10.0.0.1 → 10.0.0.2 TCP"."""
    kind = "Packet" if row.packet is not None else "Kernel-only packet"
    ends = f"{row.source} → {row.destination}  " if row.source or row.destination else ""
    return f"{kind} {row.number}: {ends}{row.protocol}"


def totals(path: PacketPath, row: ListRow | None = None) -> str:
    """Return as text the time in kernel and the number of functions in all legs except candidates.

    `row` is the packet's row of the list.  If there are only candidates, or if the times of the
    legs are unknown, the text says this.
    """
    if not path.legs:
        return "no kernel log has records of this packet"
    legs, others = (
        wording.legs(len(path.certain_legs)),
        len(path.legs) - len(path.certain_legs),
    )
    if not path.certain_legs:
        return wording.candidates(others)
    if others:
        legs = f"{legs} and {wording.candidates(others)}"
    timed = [leg for leg in path.certain_legs if leg.note != POINTS_ONLY] or path.certain_legs
    if any(leg.kernel_ns is None for leg in timed):
        why = next((leg.note for leg in timed if leg.note), MAYBE_LOST)
        return f"{why}, {legs}"
    count = sum(leg.functions or 0 for leg in timed)
    return f"{_spent(path, row)}, {wording.functions(count)}, {legs}"


def _spent(path: PacketPath, row: ListRow | None) -> str:
    """Return "2.035 ms in the kernel (76.9 µs busy, 1.958 ms waiting)", for example.

    The legs of a row K<n> may overlap, and only `row` has the time of all legs together.
    """
    whole = path.packet or row or path.legs[0]
    kernel_ns, busy_ns, wait_ns = whole.kernel_ns, whole.busy_ns, whole.wait_ns
    if kernel_ns is None or busy_ns is None:
        known = sum(leg.kernel_ns or 0 for leg in path.certain_legs)
        return f"{wording.duration(known if kernel_ns is None else kernel_ns)} in the kernel"
    parts = [f"{wording.duration(busy_ns)} busy"]
    unknown_ns = kernel_ns - busy_ns - (wait_ns or 0)
    for ns, word in ((wait_ns, "waiting"), (unknown_ns, "unknown")):
        parts += [f"{wording.duration(ns)} {word}"] if ns else []
    return f"{wording.duration(kernel_ns)} in the kernel ({', '.join(parts)})"


def drop_text(row: ListRow) -> str:
    """Return how a packet was lost: "Dropped: NO_SOCKET at icmp_rcv+0x1f4"; "" if it was not."""
    if not row.drop or not row.lost:
        return ""
    return f"Dropped: {row.drop}" + (f" at {row.drop_place}" if row.drop_place else "")


class Summary(QLabel):
    """Two lines of rich text.  The tooltip shows the text that does not fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("summary")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._shown: tuple[ListRow | None, PacketPath | None] = (None, None)
        self.setContentsMargins(MARGINS)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_path(self, row: ListRow | None, path: PacketPath | None) -> None:
        """Show the selected row and its path; None shows nothing."""
        self._shown = (row, path)
        if row is None or path is None:
            self.clear()
            return
        colour = themed(VERDICT_COLOURS.get(row.verdict, ("#555", "#bbb")), is_dark(self.palette()))
        verdict = html.escape(wording.VERDICT.get(row.verdict, row.verdict))
        head, sums, drop = headline(row), totals(path, row), drop_text(row)
        red = themed(DROP_COLOURS, is_dark(self.palette())).name()
        lost = f" &nbsp;·&nbsp; <b style='color:{red}'>{html.escape(drop)}</b>" if drop else ""
        whole = "" if row.info == row.protocol else row.info
        other = path.packet.elsewhere if path.packet is not None else ()
        if other:
            head += f" (in the kernel also {wording.addresses(other)})"
        self.setToolTip(f"{whole}\n{row.reason}".strip())
        info = html.escape(self._cut(whole, head, ""))
        reason = html.escape(self._cut(row.reason, f"●_{verdict}{drop}", f"__·__{sums}__·__"))
        self.setText(
            f"<b>{html.escape(head)}</b>&nbsp; {info}<br>"
            f"<span style='color:{colour.name()}'><b>●&nbsp;{verdict}</b></span>{lost}"
            f" &nbsp;·&nbsp; {html.escape(sums)} &nbsp;·&nbsp; {reason}"
        )

    def _cut(self, text: str, bold: str, plain: str) -> str:
        """Return `text`, shortened to the width that remains after a bold and a plain text."""
        font = QFont(self.font())
        font.setBold(True)
        before = QFontMetrics(font).horizontalAdvance(bold) + MARGINS.left() + MARGINS.right()
        room = self.width() - before - self.fontMetrics().horizontalAdvance(f"{plain}__")
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0))

    # Qt's own names

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.show_path(*self._shown)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.show_path(*self._shown)
