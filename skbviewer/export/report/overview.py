# SPDX-License-Identifier: MIT
"""The first sections of a report: a summary in numbers, and the recording's circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ...analysis.words.sampling_text import unit
from ...analysis.words.time_words import duration
from ...records import PacketRow, SourceRow, counted
from .html_markup import Content, Markup, element, join_html, table
from .report_contents import Facts

LOSSES = ("lost", "missed", "nested")  # counters of the recorder
WORDS = {
    "lost": "because buffers were full", "missed": "by probes", "nested": "inside other probes",
}  # fmt: skip
SECOND = 10**9
KIND = {"kbl": "kernel log", "pcap": "capture", "pcapng": "capture"}


def heading(facts: Facts) -> Markup:
    """Return HTML with the report's title, its subject, and the time of the recording."""
    of = f"Packets of {facts.title}" if facts.title else "All packets of the recording"
    hosts = dict.fromkeys(filter(None, (s.detail.get("hostname", "") for s in facts.sources)))
    words = [of, *([f"on {', '.join(hosts)}"] if hosts else []), *_when(facts)]
    return element(
        "header",
        element("p", "skbviewer report", class_="brand"),
        element("h1", "Verdicts and times of these packets"),
        element("p", " · ".join(words), class_="dim"),
    )


def _when(facts: Facts) -> Iterator[str]:
    times = [row.ts_ns for row in facts.rows if isinstance(row, PacketRow) and row.ts_ns]
    if times:
        begin = datetime.fromtimestamp(min(times) // SECOND, UTC)
        yield f"{begin:%Y-%m-%d %H:%M:%S} UTC"


def numbers(facts: Facts) -> Markup:
    """Return a card per number: first numbers of the report's packets, then of the recording."""
    info, matches = facts.info, facts.info["matches"]
    drops, lost = _sum(facts, "drops", "number"), _sum(facts, "drops", "lost")
    these = (
        (f"{facts.packets:,}", "packets in this report", ""),
        (f"{_sum(facts, 'functions', 'number'):,}", "calls of functions", ""),
        (f"{drops:,}", "drops, as the kernel counts them", "drop" if lost else ""),
        (f"{lost:,}", "drops that lost a packet", "drop" if lost else ""),
    )
    whole = (
        (f"{info['packets']:,}", "packets captured", ""),
        (f"{matches['exact']:,}", "matched exactly", "exact"),
        (f"{matches['ambiguous']:,}", "ambiguous", "ambiguous" if matches["ambiguous"] else ""),
        (f"{matches['wire_only']:,}", "without a kernel path", ""),
        *_sampled(info),
        (f"{matches['kernel_only']:,}", "seen by the kernel only", ""),
        (f"{info['lost_records']:,}", "records lost", "drop" if info["lost_records"] else ""),
    )
    subject = "These packets" if facts.title else "All packets"
    return element(
        "section",
        *(element("h3", subject), _cards(these)),
        *(element("h3", "The whole recording"), _cards(whole)),
    )


def _sum(facts: Facts, table: str, key: str) -> int:
    """Return the sum of a column of one of the report's tables."""
    at = facts.tables[table].keys.index(key)
    return sum(row[at] for row in facts.tables[table].rows)


def _cards(shown: Iterable[tuple[str, str, str]]) -> Markup:
    """Return an HTML card for each number: the number, what it counts, and a style."""
    cards = (
        element("div", element("b", number, class_=look or None), element("span", what),
                class_="card")
        for number, what, look in shown
    )  # fmt: skip
    return element("div", *cards, class_="cards")


def _sampled(info: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield a card that counts the packets left out by sampling, if the recorder sampled."""
    samples = sorted({(one["of_packets"], one["rate"]) for one in info.get("sampling", ())})
    if samples:
        left_out = f"{info['matches']['sampled_out']:,}"
        every = ", ".join(f"1 {unit(of_packets)} in {rate}" for of_packets, rate in samples)
        yield left_out, f"sampled out, because only {every} was recorded", ""


def sources(facts: Facts) -> Markup:
    """Return HTML with the input files, their hosts and hashes, lost records, and clock fits."""
    rows = [_source(source) for source in facts.sources]
    titles = ("File", "Kind", "Host", "Kernel or link", "Packets or records", "Bytes", "SHA-256")
    return element(
        "section",
        element("h2", "Where it was recorded", id="where"),
        table(titles, rows, numbers=(4, 5)),
        _losses(facts),
        _clocks(facts),
    )


def _source(source: SourceRow) -> tuple[Content, ...]:
    detail = source.detail
    kernel = " ".join(filter(None, (detail.get("release", ""), detail.get("arch", ""))))
    kind = KIND.get(str(source.kind), f"{source.kind} log")
    return (
        source.path, f"{kind} ({source.kind})", detail.get("hostname", ""),
        kernel or detail.get("interfaces", ""), f"{source.rows:,}", f"{source.size:,}",
        element("span", source.sha256, class_="mono nb"),
    )  # fmt: skip


def _losses(facts: Facts) -> Markup:
    counters = facts.info["recorder"]
    found = [f"{counters[name]:,} {WORDS[name]}" for name in LOSSES if counters.get(name)]
    warnings = [warning for source in facts.sources for warning in source.warnings]
    said: Content = f"Missing records: {', '.join(found)}." if found else (
        "The recorder lost no records." if counters else None
    )  # fmt: skip
    lines = (element("li", warning) for warning in warnings)
    return join_html(
        (
            element("p", said) if said else None,
            element("ul", *lines) if warnings else None,
        )
    )


def _clocks(facts: Facts) -> Markup:
    names = {source.id: source.path for source in facts.sources}
    lines = []
    for clock in facts.info["clock"]:
        for segment in clock["segments"]:
            error = duration(round(segment["residual_ns"]))
            lines.append(
                f"The clock of {names[clock['source']]} was fitted to that of "
                f"{names[clock['kbl']]} with {counted(segment['pairs'], 'packet')}: ± {error}."
            )
    return join_html(element("p", line, class_="dim") for line in lines)
