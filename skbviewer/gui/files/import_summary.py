# SPDX-License-Identifier: MIT
"""Statistics > Summary: packets and records that were loaded, matched and lost, and why.

The dialog does not block the main window.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.words.sampling_text import sampling_text_of
from skbviewer.readers import kind_name
from skbviewer.session.kernel.verdict_counts import Reason

from ..base.recording_interface import Recording
from ..base.status_text import clock_texts
from ..base.window_size import open_at
from ..base.wording import VERDICT

PROTOCOLS = {"ipv4": "IPv4", "ipv6": "IPv6", "arp": "ARP", "other": "Other"}
VERDICT_HEADS = {
    "exact": "Exact",
    "ambiguous": "Ambiguous",
    "wire_only": "On the wire only",
    "sampled_out": "Sampled out",  # only in recordings of sampled connections
}
LOSSES = {
    "lost": "lost because buffers were full",
    "missed": "missed by the probes",
    "nested": "not recorded: inside another probe",
    "filtered": "excluded by the recorder's filter",
    "open": "calls that had not ended when the recording ended",
    "unpaired": "exits without an entry",
}

WIDTH, MOST_HEIGHT, AROUND = 720, 700, 24  # pixels; AROUND: approximate margin of the text


def summary_html(recording: Recording) -> str:
    """Return the text of the summary as HTML."""
    info = recording.info()
    return "".join(
        (
            "<h3>Loaded</h3>",
            _sources(recording),
            "<h3>Matched</h3>",
            _matches(info),
            _table(("Verdict", "Number", "Why"), map(_reason, recording.reasons())),
            "<h3>Lost</h3>",
            _lost(info),
            _warnings(info.get("warnings", [])),
        )
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    titles = "".join(f"<th align='left'>{html.escape(title)}</th>" for title in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_text(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table cellpadding='3' width='97%'><tr>{titles}</tr>{lines}</table>"


def _text(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _sources(recording: Recording) -> str:
    rows = []
    for source in recording.sources():
        host = " ".join(source.detail.get(key, "") for key in ("hostname", "release", "arch"))
        place = host.strip() or source.detail.get("interfaces", "")
        unit = "records" if source.kind.is_log else "packets"
        count = f"{source.rows:,} {unit}"
        rows.append(
            (Path(source.path).name, kind_name(source.kind), size_text(source.size), count, place)
        )
    return _table(("File", "Kind", "Size", "Content", "From"), rows)


def size_text(size: int) -> str:
    """Return a size in units of 1024 bytes: "1.5 KiB"."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} GiB"


def _matches(info: dict[str, Any]) -> str:
    total = info["matches"]
    keys = [key for key in VERDICT_HEADS if key in total]
    rows = [
        (PROTOCOLS.get(name, name), *(m[key] for key in keys))
        for name, m in info.get("matches_by_protocol", {}).items()
    ]
    rows.append(("All packets", *(total[key] for key in keys)))
    head = ("Protocol", *(VERDICT_HEADS[key] for key in keys))
    sampled = [sampling_text_of(one) for one in info.get("sampling", [])]
    notes = [f"{text[:1].upper()}{text[1:]}." for text in dict.fromkeys(sampled)]
    paragraphs = [*notes, _kernel_only(total["kernel_only"])]
    return _table(head, rows) + "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)


def _kernel_only(count: int) -> str:
    """Return a sentence with the number of kernel-only packets that have an address.

    The table of reasons counts all kernel-only packets.
    """
    why = "(dropped before they reached the wire, or not captured)"
    if count == 0:
        return f"There are no kernel-only packets with an address {why}."
    packets = "packet with an address is" if count == 1 else "packets with an address are"
    return f"{count:,} {packets} kernel-only {why}."


def import_line(recording: Recording) -> str:
    """Return one line that sums up the import of `recording`."""
    info = recording.info()
    match, lost = info["matches"], info.get("lost_records", 0)
    records = sum(source.rows for source in recording.sources() if source.kind.is_log)
    parts = [f"{recording.packets.count():,} packets", f"{records:,} kernel records"]
    verdicts = ", ".join(
        f"{match[key]:,} {word.lower()}" for key, word in VERDICT_HEADS.items() if key in match
    )
    lost_records = "kernel record was lost" if lost == 1 else "kernel records were lost"
    losses = f"{lost:,} {lost_records}." if lost else "No kernel record was lost."
    return f"Imported {' and '.join(parts)}: {verdicts}. {losses}"


def _reason(row: Reason) -> tuple[str, int, str]:
    return VERDICT.get(row.verdict, row.verdict), row.number, row.why


def _lost(info: dict[str, Any]) -> str:
    counters = info.get("recorder", {})
    rows = [(f"{counters[key]:,}", words) for key, words in LOSSES.items() if counters.get(key)]
    lost = info.get("lost_records", 0)
    missing = "kernel record is missing" if lost == 1 else "kernel records are missing"
    first = f"<p>{lost:,} {missing}.</p>" if lost else "<p>Nothing.</p>"
    return first + (_table(("Number", "What"), rows) if rows else "")


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in warnings)
    return f"<h3>Warnings</h3><ul>{lines}</ul>"


class ImportSummary(QDialog):
    """The summary of an import; the dialog stays open beside the window until it is closed."""

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Summary")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QTextBrowser()
        self.text.setAccessibleName("How many packets and records were loaded, matched and lost")
        clocks = "".join(f"<p>{html.escape(text)}</p>" for text in clock_texts(recording))
        self.text.setHtml(summary_html(recording) + clocks)
        self.again = QCheckBox("Show a summary line after each import")
        self.again.setChecked(QSettings().value("import_summary", "true") != "false")
        self.again.toggled.connect(
            lambda on: QSettings().setValue("import_summary", "true" if on else "false")
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        column.addWidget(self.again)
        column.addWidget(buttons)
        document = self.text.document()
        document.setTextWidth(WIDTH - 2 * AROUND)  # its width on screen, to compute its height
        open_at(self, WIDTH, min(round(document.size().height()) + 5 * AROUND, MOST_HEIGHT))
