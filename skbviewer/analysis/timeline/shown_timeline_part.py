# SPDX-License-Identifier: MIT
"""The part of a timeline that a picture or table shows, and the command that exports it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from ...records.types import EARLIEST_NS, LATEST_NS

NS = 1_000_000_000
SIZE = (1600, 900)
DPI = 96  # at this resolution, a pixel is one unit of a picture's layout
MOST_NAMED = 1000  # most rows that are chosen one by one


class Shown(NamedTuple):
    """The part of a timeline to show.  Times are in ns of session time.

    `range` is the span of time to show; None means everything.  In `range`, EARLIEST_NS and
    LATEST_NS stand for no limit.  If there is a lane for each packet, `ids` are these packets (n =
    packet n, -n = row K<n>).  `named` says that the user chose these packets one by one; otherwise
    filter and range select them.  `a` and `b` are the times of the markers, or None.
    """

    lanes: str
    ids: tuple[int, ...] = ()
    range: tuple[int, int] | None = None
    a: int | None = None
    b: int | None = None
    filter: str = ""
    named: bool = False
    title: str = ""
    size: tuple[int, int] = SIZE
    dpi: int = DPI
    dark: bool = False


def layout_units(size: tuple[int, int], dpi: int) -> tuple[int, int]:
    """Return the size (width, height) of a picture in units of its layout.

    `size` is in pixels; `dpi` is the number of pixels per inch.
    """
    width, height = (max(1, round(pixels * DPI / dpi)) for pixels in size)
    return width, height


def seconds_of(text: str) -> int:
    """Return a text (seconds with up to nine decimals) as exact ns.  Raises ValueError."""
    whole, _, part = text.strip().partition(".")
    sign = -1 if whole.startswith("-") else 1
    digits = whole.lstrip("+-")
    if len(part) > 9 or not (digits + part).isdigit():
        raise ValueError(f"{text!r} is not a number of seconds with up to nine decimals")
    return sign * (int(digits or "0") * NS + int(part.ljust(9, "0") or "0"))


def seconds_text(ns: int) -> str:
    """Return a time in ns as seconds, in the format that seconds_of() reads."""
    whole, rest = divmod(abs(ns), NS)
    part = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{'-' if ns < 0 else ''}{whole}{part}"


def rows_of(text: str) -> tuple[int, ...]:
    """Return "3-5,K2" as (3, 4, 5, -2): packet numbers, or -n for row K<n>.  Raises ValueError."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if first[:1] in ("K", "k") and first[1:].isdigit() and not dash:
            found.append(-int(first[1:]))
        elif first.isdigit() and last.isdigit() and int(last) < int(first):
            raise ValueError(f"{part.strip()} ends before it begins")
        elif first.isdigit() and (last.isdigit() or not dash):
            found.extend(range(int(first), min(int(last or first), int(first) + MOST_NAMED) + 1))
        else:
            raise ValueError(f"{text!r} is not a list of packet numbers; an example is 3-5,9,K2")
    if len(found) > MOST_NAMED:
        raise ValueError(f"{text!r} names more than {MOST_NAMED} packets")
    return tuple(found)


def rows_text(ids: Sequence[int]) -> str:
    """Return (3, 4, 5, -2) as "3-5,K2", the format that rows_of() reads."""
    parts: list[list[int]] = []
    for number in ids:
        if parts and number > 0 and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(
        f"K{-part[0]}" if part[0] < 0 else "-".join(map(str, dict.fromkeys((part[0], part[-1]))))
        for part in parts
    )


def command_of(shown: Shown, files: Sequence[str], form: str, t0_ns: int) -> str:
    """Return the command that exports the part `shown` of a timeline.

    `form` is png, svg or csv; `files` are the files that the command opens.  The times in the
    command count from the session time `t0_ns`.
    """
    words = ["skbviewer", "export", *files, f"--{form}", f"timeline.{form}"]
    words += ["--lanes", shown.lanes]
    if shown.named:
        words += ["--packet", rows_text(shown.ids)]
    if shown.filter:
        words += ["--filter", shown.filter]
    if shown.range is not None:
        words += ["--range=" + ",".join(_limit(at, t0_ns) for at in shown.range)]
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


def _limit(at: int, t0_ns: int) -> str:
    """Return a limit of a range in seconds since `t0_ns`; "" if `at` means no limit."""
    return "" if at in (EARLIEST_NS, LATEST_NS) else seconds_text(at - t0_ns)
