# SPDX-License-Identifier: MIT
"""The findings of a diagnosis: a ranked list, and the selected finding with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.diagnosis import Evidence, Finding, packets_filter

from ..base import wording
from ..base.empty_view_hint import EmptyText
from ..base.theme import DROP_COLOURS, VERDICT_COLOURS, chip, is_dark, themed

TITLES = ("#", "Severity", "Cause", "Packets", "Cost (µs)", "Finding")
COUNTS = (3, 4)
COLUMN_GAP = 8  # pixels
COLOURS = {
    "critical": DROP_COLOURS,
    "warning": VERDICT_COLOURS["ambiguous"],
    "note": VERDICT_COLOURS["kernel-only"],
}
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
FACT = Qt.ItemDataRole.UserRole
NO_FILTER = "No display filter can select these packets"


class FindingView(QSplitter):
    """The list of findings and, below the list, the selected finding.

    `evidence_chosen` carries an Evidence with an id. `filter_asked` carries a display filter, and
    whether to apply it.
    """

    evidence_chosen = Signal(object)
    filter_asked = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._findings: Sequence[Finding] = ()
        self.list, self.evidence = QTreeWidget(), QTreeWidget()
        self.empty = EmptyText(self.list)
        self.text, self.advice = QLabel(), QLabel()
        self.show_packets = QPushButton("Show &Packets")
        self._build()
        self.list.currentItemChanged.connect(lambda *_: self._show_current())
        self.list.itemActivated.connect(lambda *_: self._filter())
        self.evidence.itemClicked.connect(lambda item, _: self._choose(item))
        self.evidence.itemActivated.connect(lambda item, _: self._choose(item))
        self.show_packets.clicked.connect(self._filter)

    def _build(self) -> None:
        self.list.setHeaderLabels(TITLES)
        self.list.setAccessibleName("Findings")
        self.evidence.setAccessibleName("Evidence")
        self.evidence.setHeaderHidden(True)
        for view in (self.list, self.evidence):
            view.setRootIsDecorated(False)
            view.setUniformRowHeights(True)
            view.setAlternatingRowColors(True)
        for at in COUNTS:
            self.list.headerItem().setTextAlignment(at, RIGHT)
        for label in (self.text, self.advice):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.show_packets.setAutoDefault(False)
        self.show_packets.setEnabled(False)
        detail = QWidget()
        column = QVBoxLayout(detail)
        column.setContentsMargins(0, 6, 0, 0)
        column.addWidget(self.text)
        column.addWidget(self.evidence, 1)
        row = QHBoxLayout()
        row.addWidget(self.advice, 1)
        row.addWidget(self.show_packets, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        self.addWidget(self.list)
        self.addWidget(detail)
        self.setChildrenCollapsible(False)
        self.setSizes([240, 340])

    def show_findings(self, findings: Sequence[Finding], empty: str) -> None:
        """Show `findings` in this order; if there are none, show the text `empty`."""
        self._findings = findings
        self.list.clear()
        dark = is_dark(self.palette())
        for rank, one in enumerate(findings, 1):
            cost = "" if one.cost_ns is None else wording.microseconds(one.cost_ns)
            texts = [str(rank), one.severity, one.rule, f"{one.number:,}", cost, one.text]
            item = QTreeWidgetItem(self.list, texts)
            item.setIcon(1, chip(themed(COLOURS[one.severity], dark)))
            for at in COUNTS:
                item.setTextAlignment(at, RIGHT)
        for at in range(len(TITLES) - 1):
            self.list.resizeColumnToContents(at)
            self.list.setColumnWidth(at, self.list.columnWidth(at) + COLUMN_GAP)
        self.empty.show_text("" if findings else empty)
        if findings:
            self.list.setCurrentIndex(self.list.model().index(0, 0))
        else:
            self._show_current()

    def current(self) -> Finding | None:
        """Return the selected finding."""
        at = self.list.currentIndex().row()
        return self._findings[at] if 0 <= at < len(self._findings) else None

    def _show_current(self) -> None:
        one = self.current()
        self.evidence.clear()
        self.text.setText("" if one is None else one.text)
        self.advice.setText("" if one is None else f"Advice: {one.advice}")
        text = None if one is None else packets_filter(one.rows)
        self.show_packets.setEnabled(text is not None)
        self.show_packets.setToolTip(text[:200] if text else NO_FILTER)
        for fact in () if one is None else one.evidence:
            self._add(fact)

    def _add(self, fact: Evidence) -> None:
        item = QTreeWidgetItem(self.evidence, [fact.text])
        item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 4))
        item.setData(0, FACT, fact)
        item.setToolTip(0, fact.text)
        if fact.id is None:
            return
        font = QFont(self.evidence.font())
        font.setUnderline(True)
        item.setFont(0, font)
        item.setForeground(0, self.palette().link())
        item.setToolTip(0, f"{fact.text}\nClick to go to the packet of this {fact.kind}")

    def _choose(self, item: QTreeWidgetItem) -> None:
        fact: Evidence = item.data(0, FACT)
        if fact.id is not None:
            self.evidence_chosen.emit(fact)

    def _filter(self) -> None:
        one = self.current()
        text = None if one is None else packets_filter(one.rows)
        if text is not None:
            self.filter_asked.emit(text, True)
