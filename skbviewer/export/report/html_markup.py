# SPDX-License-Identifier: MIT
"""HTML from values.

Every value except Markup is escaped, so that no value can become an HTML element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

VOID = frozenset({"meta", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = object  # Markup; anything else is escaped after str(); None is nothing


class Span(NamedTuple):
    """A cell that is several columns of the table wide."""

    content: Content
    columns: int


def printable(text: str) -> str:
    """Replace control characters and unpaired surrogates, which HTML and XML cannot contain."""
    return "".join(
        c if c >= " " and not "\x7f" <= c <= "\x9f" and not "\ud800" <= c <= "\udfff" else "\ufffd"
        for c in text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    )


def html(content: Content) -> Markup:
    """Return a value as HTML; text that is not Markup is escaped."""
    if content is None:
        return Markup()
    if isinstance(content, Markup):
        return content
    return Markup(escape(printable(str(content)), quote=True))


def element(tag: str, *contents: Content, **attributes: Content) -> Markup:
    """Return an HTML element `tag` with contents and attributes.

    In attributes' names, a trailing "_" is removed; attributes that are None are left out.
    """
    words = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{words}>")
    return Markup(f"<{tag}{words}>{join_html(contents)}</{tag}>")


def join_html(parts: Iterable[Content]) -> Markup:
    """Return the HTML of several values, joined together."""
    return Markup("".join(map(html, parts)))


def table(
    titles: Sequence[str], rows: Iterable[Sequence[Content]], numbers: Iterable[int] = (),
    look: str | None = None,
) -> Markup:  # fmt: skip
    """Return an HTML table; `numbers` are its right-aligned columns, `look` is its class."""
    right = frozenset(numbers)

    def cell(tag: str, value: Content, at: int) -> Markup:
        if isinstance(value, Span):
            return element(tag, value.content, colspan=value.columns)
        return element(tag, value, class_="n" if at in right else None)

    def line(tag: str, values: Sequence[Content]) -> Markup:
        return element("tr", *(cell(tag, value, at) for at, value in enumerate(values)))

    head = element("thead", line("th", titles))
    body = element("tbody", *(line("td", row) for row in rows))
    return element("div", element("table", head, body, class_=look), class_="wide")
