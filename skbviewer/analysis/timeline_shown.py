# SPDX-License-Identifier: MIT
"""What of a timeline a picture or table shows, and the words of the command that shows it."""

from __future__ import annotations

import shlex
from typing import NamedTuple

NS = 1_000_000_000
SIZE = (1600, 900)
DPI = 96


class Shown(NamedTuple):
    """Times are ns of session time; None is all there is.

    `ids` are the rows that have a lane each when `lanes` is of packets (n = packet n, -n = K<n>).
    """

    lanes: str
    ids: tuple[int, ...] = ()
    range: tuple[int, int] | None = None
    a: int | None = None
    b: int | None = None
    filter: str = ""
    packet: int | None = None
    title: str = ""
    size: tuple[int, int] = SIZE
    dpi: int = DPI
    dark: bool = False


def seconds_of(text: str) -> int:
    """A number of seconds with up to nine decimals as ns, exactly.  Raises ValueError."""
    whole, _, part = text.strip().partition(".")
    sign = -1 if whole.startswith("-") else 1
    digits = whole.lstrip("+-")
    if len(part) > 9 or not (digits + part).isdigit():
        raise ValueError(f"{text!r} is no number of seconds with up to nine decimals")
    return sign * (int(digits or "0") * NS + int(part.ljust(9, "0") or "0"))


def seconds_text(ns: int) -> str:
    """ns as seconds, as seconds_of() reads them."""
    whole, rest = divmod(abs(ns), NS)
    part = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{'-' if ns < 0 else ''}{whole}{part}"


def command_of(shown: Shown, session: str, form: str, t0_ns: int) -> str:
    """The command that makes it anew; `form` is png, svg or csv, `session` a file's name."""
    words = ["skbviewer", "export", session, f"--{form}", f"timeline.{form}"]
    words += ["--lanes", shown.lanes]
    if shown.packet is not None:
        words += ["--packet", str(shown.packet)]
    if shown.filter:
        words += ["--filter", shown.filter]
    if shown.range is not None:
        words += ["--range=" + ",".join(seconds_text(at - t0_ns) for at in shown.range)]
    if shown.a is not None and shown.b is not None:
        words += ["--markers=" + ",".join(seconds_text(at - t0_ns) for at in (shown.a, shown.b))]
    if shown.title:
        words += ["--title", shown.title]
    if shown.size != SIZE:
        words += ["--size", "x".join(map(str, shown.size))]
    if shown.dpi != DPI:
        words += ["--dpi", str(shown.dpi)]
    if shown.dark:
        words += ["--theme", "dark"]
    return shlex.join(words)
