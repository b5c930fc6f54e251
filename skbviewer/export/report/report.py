# SPDX-License-Identifier: MIT
"""Write a report: one HTML file that has no scripts and loads nothing.

Input: packets of a session, and a function that paints a path. Output: a page that shows where the
packets were recorded, a summary, the list of packets, the chosen paths (as pictures and lists of
calls), drops, layers and functions. The page's content security policy allows only the page's own
style sheet, identified by its hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from ... import __version__
from ...records import PacketPath
from ..atomic_write import written_file
from .html_markup import Markup, element, join_html
from .inline_svg import Palette, inline
from .overview import heading, numbers, sources
from .packet_sections import packet_list, shown_packets
from .report_contents import Facts
from .statistics_tables import drops, functions, layers
from .style_sheet import style

Paint = Callable[[PacketPath, bool], bytes]  # a path as SVG, in dark or in light colours
SECTIONS = (
    ("where", "Where it was recorded"), ("packets", "Packets"), ("paths", "Paths"),
    ("drops", "Drops"), ("layers", "Layers"), ("functions", "Functions"),
)  # fmt: skip


def write_page(facts: Facts, out: Path, paint: Paint) -> None:
    """Write `facts` as one HTML page to `out`; `paint` draws a path as SVG.

    Raises BadInput if `out` cannot be written.
    """
    text = page(facts, paint)
    with written_file(out) as file:
        file.write(text.encode())


def page(facts: Facts, paint: Paint) -> str:
    """Return the report as an HTML document; `paint` draws a path as SVG."""
    palette, count = Palette(), iter(range(len(facts.shown)))

    def picture(path: PacketPath, title: str) -> Markup:
        return inline(paint(path, False), paint(path, True), f"p{next(count)}-", palette, title)

    body = element(
        "main",
        heading(facts),
        _contents(facts),
        element("h2", "Summary"),
        numbers(facts),
        sources(facts),
        packet_list(facts),
        shown_packets(facts, picture),
        drops(facts),
        layers(facts),
        functions(facts),
        _footer(facts),
    )
    rules = style(facts.layers, palette)
    digest = b64encode(sha256(rules.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content=f"skbviewer {__version__}"),
        element("title", f"skbviewer report: {facts.title or 'all packets'}"),
        element("style", Markup(rules)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', body), lang='en')}\n"


def _contents(facts: Facts) -> Markup:
    there = [(name, title) for name, title in SECTIONS if name != "paths" or facts.shown]
    return element("nav", *(element("a", title, href=f"#{name}") for name, title in there))


def _footer(facts: Facts) -> Markup:
    lines = [f"Made with skbviewer {__version__}. Times in the kernel are on the host's clock."]
    if facts.pseudonyms:
        lines.append("Addresses and host names are pseudonyms, and payloads are zeros.")
    if facts.cut:
        lines.append("The bytes of packets are shown only in part.")
    return element("footer", join_html(element("p", line) for line in lines))
