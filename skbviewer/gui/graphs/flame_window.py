# SPDX-License-Identifier: MIT
"""Statistics > Flame Graph: call stacks by self time, calls or a counter; a click zooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)

from skbviewer.analysis.display_filter import expression_for
from skbviewer.analysis.graphs.flame_boxes import FlameBoxes, Weight, flame_boxes
from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.stats.call_stacks import StackTree
from skbviewer.records import Progress

from ..base.graph_plot import duration
from ..base.layer_legend import Legend
from ..base.recording_interface import Recording
from ..base.shown_packets import View
from ..base.theme import is_dark, layer_colours
from ..packets.selection import Selection
from .flame_view import FlameView
from .graph_window import GraphWindow

HINT = "Click to zoom, right-click to filter the list by a function."


class FlameGraph(GraphWindow):
    """The call stacks of the chosen packets as a flame graph; `weight` is the unit of widths."""

    title = "Flame Graph"

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(selection, view, parent)
        self.tree: StackTree | None = None
        self.graph, self.legend = FlameView(), Legend()
        self.weight, self.search = QComboBox(), QLineEdit()
        self.reset = QPushButton("Reset &Zoom")
        self._build()
        self._link()
        self.recolour()
        self.count()

    def _build(self) -> None:
        self.clear.hide()  # nothing in this window makes a range
        for one in (Weight.SELF, Weight.CALLS):
            self.weight.addItem(one.value, one.value)
        self.weight.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        label = QLabel("&Width:")
        label.setBuddy(self.weight)
        self.search.setPlaceholderText("Find a function")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(220)
        self.reset.setAutoDefault(False)
        self.reset.setEnabled(False)
        for widget in (label, self.weight, self.search, self.reset):
            self.top.addWidget(widget)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.StyledPanel)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self.graph)
        self.middle.addWidget(area, 1)
        self.middle.addWidget(self.legend)

    def _link(self) -> None:
        self.weight.activated.connect(lambda _: self._lay_out())
        self.search.textChanged.connect(self.graph.highlight)
        self.reset.clicked.connect(lambda: self.graph.zoom_to(-1))
        self.graph.hovered.connect(self._describe)
        self.graph.zoom_changed.connect(lambda: self.reset.setEnabled(self.graph.zoomed >= 0))
        self.graph.menu_asked.connect(self._show_menu)

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that collects call stacks and lays out their boxes.

        The function runs in another thread.  If the packets have no calls or no counted events, the
        function returns a message.
        """
        weight = self._weight()

        def count(progress: Progress) -> tuple[StackTree, FlameBoxes] | str:
            tree = recording.graphs.stacks(chosen, progress)
            boxes = flame_boxes(tree, weight)
            if weight is Weight.COUNTER and not tree.counter:
                return "The hardware counter counted no events in the calls of these packets."
            return (tree, boxes) if len(boxes.depth) else "These packets have no recorded calls."

        return count

    def show_made(self, made: tuple[StackTree, FlameBoxes]) -> None:
        """Show the call stacks, and draw their boxes."""
        self.tree, boxes = made
        self._offer(self.tree.counter)
        self._show_boxes(boxes)

    def _offer(self, counter: str) -> None:
        """Offer the hardware counter as a width of boxes, if the logs have one."""
        at = self.weight.findData(Weight.COUNTER.value)
        if counter and at < 0:
            self.weight.addItem(f"{Weight.COUNTER.value}: {counter}", Weight.COUNTER.value)
        elif not counter and at >= 0:
            self.weight.removeItem(at)

    def erase(self) -> None:
        """Remove all boxes from the graph."""
        self.tree = self.graph.boxes = None
        self.graph.update()

    def _lay_out(self) -> None:
        """Lay out the counted stacks by the chosen weight, in another thread."""
        tree, weight = self.tree, self._weight()
        if tree is None:
            self.count()
        else:
            self.tasks.start("Counting", lambda _: flame_boxes(tree, weight), self._show_boxes)

    def _weight(self) -> Weight:
        return Weight(self.weight.currentData())

    def _show_boxes(self, boxes: FlameBoxes) -> None:
        self.graph.show_boxes(boxes)
        self._legend(boxes)
        self._describe(-1)

    def recolour(self) -> None:
        """Use the colours of the present theme."""
        recording = self.selection.recording
        if recording is None:
            return
        dark = is_dark(QGuiApplication.palette())
        self.graph.colours = layer_colours(recording.layers(), dark)
        boxes = self.graph.boxes
        if boxes is not None:
            self._legend(boxes)
        self.graph.update()

    def _legend(self, boxes: FlameBoxes) -> None:
        shown = {boxes.layers[at] for at in set(boxes.function.tolist())}
        self.legend.show_layers(shown, self.graph.colours)

    def _describe(self, box: int) -> None:
        """Show the numbers of the box at the pointer; elsewhere, say what the mouse does."""
        boxes = self.graph.boxes
        if boxes is None or box < 0:
            self.note.setText(HINT)
            return
        columns = (boxes.total, boxes.self_ns, boxes.calls, boxes.counted)
        total, own, calls, counted = (int(of[box]) for of in columns)
        share = f"{100 * total / max(boxes.whole, 1):.2f} %"
        by_time = self._weight() is Weight.SELF
        whole = f"{duration(total)} with its callees" if by_time else f"{total:,} with its callees"
        name = boxes.names[int(boxes.function[box])]
        number = "1 call" if calls == 1 else f"{calls:,} calls"
        text = f"{name}: {share}, {whole}, self {duration(own)}, {number}"
        counter = "" if self.tree is None else self.tree.counter
        self.note.setText(f"{text}, {counted:,} {counter} itself" if counter else text)

    def menu(self, box: int) -> QMenu:
        """Return the context menu of a box."""
        boxes = self.graph.boxes
        assert boxes is not None
        name, menu = boxes.names[int(boxes.function[box])], QMenu(self)
        wanted = expression_for("kbl.func", name)
        ask = self.selection.filter_asked.emit
        menu.addAction("&Filter on This Function").triggered.connect(lambda: ask(wanted, True))
        menu.addAction(f"&Prepare as Filter: {wanted}").triggered.connect(
            lambda: ask(wanted, False)
        )
        menu.addSeparator()
        source = self.selection.source_asked.emit
        menu.addAction("Show S&ource").triggered.connect(lambda: source(name))
        stack = ";".join(boxes.stack(box))
        copy = QGuiApplication.clipboard().setText
        menu.addAction("&Copy Function Name").triggered.connect(lambda: copy(name))
        menu.addAction("Copy S&tack").triggered.connect(lambda: copy(stack))
        return menu

    def _show_menu(self, box: int, place: QPoint) -> None:
        menu = self.menu(box)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.exec(place)


def show_flame_graph(window: QWidget, selection: Selection, view: View) -> FlameGraph:
    """Open the flame graph of the open recording; `view` says what the main window shows."""
    dialog = FlameGraph(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
