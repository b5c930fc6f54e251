# SPDX-License-Identifier: MIT
"""Read a report as a browser does, and complain about whatever could run or load something."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser

VOID = {"meta", "br"}
ELEMENTS = VOID | {
    "html", "head", "body", "title", "style", "main", "header", "section", "article", "footer",
    "nav", "h1", "h2", "h3", "p", "a", "div", "span", "b", "code", "pre", "ul", "li", "dl", "dt",
    "dd", "details", "summary", "table", "thead", "tbody", "tr", "th", "td",
    "svg", "defs", "pattern", "mask", "rect", "path", "text", "line", "polyline", "polygon",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "open", "colspan",
    "role", "aria-label", "aria-hidden", "viewbox", "preserveaspectratio", "width", "height", "x",
    "y", "rx", "ry", "d", "points", "fill", "stroke", "fill-opacity", "stroke-opacity",
    "stroke-width", "stroke-dasharray", "fill-rule", "transform", "mask", "patternunits",
    "font-size", "font-weight", "xml:space",
}  # fmt: skip
LOADS = re.compile(r"url\((?!#)|@import|expression|javascript:|https?:", re.I)


class Page(HTMLParser):
    """A parsed report.  It raises AssertionError for what a report must not have."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.ids: Counter[str] = Counter()
        self.references: set[str] = set()
        self.metas: dict[str, str] = {}
        self.style = ""
        self.counts: Counter[str] = Counter()
        self.feed(text)
        self.close()
        assert self.open == [], self.open
        assert max(self.ids.values(), default=1) == 1, self.ids.most_common(3)
        assert self.references <= set(self.ids), self.references - set(self.ids)
        self._check_policy()

    def _check_policy(self) -> None:
        digest = b64encode(sha256(self.style.encode()).digest()).decode()
        rules = dict(
            rule.strip().split(" ", 1) for rule in self.metas["content-security-policy"].split(";")
        )
        assert rules == {
            "default-src": "'none'", "style-src": f"'sha256-{digest}'", "base-uri": "'none'",
            "form-action": "'none'",
        }  # fmt: skip
        assert not LOADS.search(self.style)
        assert "<" not in self.style

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, tag
        self.counts[tag] += 1
        values = {name: value or "" for name, value in attrs}
        assert len(values) == len(attrs)
        assert set(values) <= ATTRIBUTES, (tag, set(values) - ATTRIBUTES)
        if "href" in values:
            assert re.fullmatch(r"#[\w-]+", values["href"]), values["href"]
            self.references.add(values["href"][1:])
        for name in ("fill", "mask"):
            if name in values:
                assert re.fullmatch(r"none|#[0-9a-f]{6}|url\(#[\w-]+\)", values[name]), values
        if tag == "meta":
            self.metas[values.get("http-equiv", values.get("name", "charset")).lower()] = (
                values.get("content", "")
            )
        self.ids.update([values["id"]] if "id" in values else [])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, tag  # elsewhere browsers take it for a start
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.style += data
        elif data.strip():
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)
