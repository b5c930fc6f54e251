# SPDX-License-Identifier: MIT
"""A comparison of two recordings in sentences and tables for a terminal.

Times are microseconds. An asterisk marks numbers that may be wrong because records were lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..analysis.comparison import (
    LEVEL,
    SECTIONS,
    Amount,
    Comparison,
    Difference,
    PacketSteps,
    PathClass,
)
from ..analysis.comparison.aligned_packet_paths import CALL, Moment, Step
from ..analysis.comparison.estimates import EVENTS, FUNCTIONS, NS, PATHS, SHARE
from ..analysis.comparison.function_estimates import SELF
from ..analysis.comparison.path_classes import MEDIAN, PART
from ..records import counted

SHOWN = 15  # rows of a section, unless all are wanted
HEADS = ("A", "B", "change", "95 % interval", "")
DIRECTION = {"tx": "sent", "rx": "received", "forward": "forwarded"}


def comparison_lines(found: Comparison, names: tuple[str, str], every: bool) -> Iterator[str]:
    """Yield the lines of a comparison of the recordings `names`.

    With `every`, all rows are listed, otherwise only the largest changes.
    """
    yield from head_lines(found, names)
    yield from (f"  {sentence(row, found.paths)}" for row in sorted(found.changes, key=_order))
    for section in SECTIONS:
        rows = [row for row in found.rows if row.measure.section == section and row.has_data]
        if rows:
            yield ""
            yield from _table(section, rows, found, every)


def head_lines(found: Comparison, names: tuple[str, str]) -> Iterator[str]:
    """Yield lines: the compared files, how the recordings differ, and how many numbers changed."""
    for letter, name, amount in zip("AB", names, found.amounts, strict=True):
        yield f"{letter}  {name}: {_amount(amount)}"
    yield ""
    yield from _condition_lines(found)
    yield ""
    yield _change_line(found)


def by_weight(rows: Sequence[Difference]) -> list[Difference]:
    """Return all rows, sorted: the changes first, and larger differences before smaller ones."""
    share = _shares(rows)
    return sorted(rows, key=lambda row: (not row.changed, -share.get(row.name, 0), *_order(row)))


def _shares(rows: Sequence[Difference]) -> dict[str, float]:
    """Return the share of passes that took each path: the greater one of A and B."""
    return {row.name: max(row.a or 0, row.b or 0) for row in rows if row.measure == PART}


def _amount(amount: Amount) -> str:
    words = [counted(amount.packets, "packet"), counted(amount.passes, "pass", "passes")]
    if amount.copies:
        words.append(f"{counted(amount.copies, 'copy', 'copies')} for sniffers")
    words += [counted(amount.calls, "call"), f"{amount.span_ns / 1e9:.3f} s"]
    if amount.left_out:
        words.append(
            f"{counted(amount.left_out, 'pass', 'passes')} left out, because records are missing"
        )
    words.append(
        counted(amount.blocks, "block of time", "blocks of time")
        if amount.blocks
        else "too short to be judged"
    )
    return ", ".join(words)


def _condition_lines(found: Comparison) -> Iterator[str]:
    if not found.conditions:
        yield (
            "Both recordings were made in the same way (kernel, host, probes, counter), and no "
            "records were lost."
        )
        return
    if any(condition.spoils for condition in found.conditions):
        yield "Lines with '!' say why some numbers cannot be compared:"
    else:
        yield "The recordings differ:"
    for one in found.conditions:
        mark = "!" if one.spoils else " "
        yield f"{mark} {one.what}: A {one.a} | B {one.b}. {one.effect}"


def _change_line(found: Comparison) -> str:
    if found.unjudged:
        return f"The recordings could not be compared, because {found.unjudged}."
    judged = (
        f"{counted(found.tests, 'difference')} judged, changes below {100 * found.least:g} % "
        f"ignored; chance of any false report at most {100 * LEVEL:g} % (Holm)"
    )
    changes = counted(len(found.changes), "change") if found.changes else "No change"
    return f"{changes}: {judged}."


def _order(row: Difference) -> tuple[int, float]:
    return SECTIONS.index(row.measure.section), -_weight(row)


def _weight(row: Difference) -> float:
    """Return how much a difference matters: its size times the greater of its counts in A and B."""
    number = max(row.number_a, row.number_b) if row.measure.unit == NS else 1
    return abs((row.b or 0.0) - (row.a or 0.0)) * number


def sentence(row: Difference, paths: Mapping[str, PathClass] | None = None) -> str:
    """Return a row of a comparison as a sentence; `paths` maps names of paths to their steps.

    For example "f, self time: 1.2 us -> 1.6 us a call, +31.0 % (95 % interval +24.0 to +39.0)".
    """
    what = row.measure.name
    title = f"{title_of(row, paths or {})}, {what}"
    mark = "*" if row.lossy else ""
    if row.only_in:
        here = value_text(row, row.a if row.only_in == "A" else row.b)
        return f"{title}: only in {row.only_in}, {here}{mark} {per(row)}"
    values = f"{value_text(row, row.a)} -> {value_text(row, row.b)}{mark} {per(row)}"
    if row.change is None:
        return f"{title}: {values}"
    return f"{title}: {values}, {percent(row.change)} %{_interval(row)}"


def per(row: Difference) -> str:
    """Return what a number is relative to: "a call", "a pass", "of passes of its direction"."""
    word = "of" if row.measure.unit == SHARE else "a"
    return f"{word} {row.measure.of}"


def _interval(row: Difference) -> str:
    if row.low is None or row.high is None:
        return ""
    return f" (95 % interval {percent(row.low)} to {percent(row.high)})"


def title_of(row: Difference, paths: Mapping[str, PathClass]) -> str:
    """Return the name of the function, layer, drop reason or path that a row is about.

    A path is named by its direction, its number of calls, and its first and last function.
    """
    if row.measure.section != PATHS or row.name not in paths:
        return row.name
    one = paths[row.name]
    kind = DIRECTION.get(one.kind, one.kind)
    if one.dropped:
        kind += ", dropped" if one.lost else ", freed"
    if not one.steps:
        return f"{kind}, no calls"
    steps = counted(len(one.steps), "step")
    return f"{kind}, {steps}: {one.steps[0][1]} ... {one.steps[-1][1]} [{row.name[:6]}]"


def value_text(row: Difference, value: float | None) -> str:
    """Return a value with its unit: "1.200 us", "12.3 %", "0.358 calls"."""
    if value is None:
        return "-"
    unit = row.measure.unit
    if unit == NS:
        return f"{value / 1000:,.3f} us"
    if unit == SHARE:
        return f"{100 * value:.2f} %"
    return f"{value:.4g} events" if unit == EVENTS else f"{value:.4g}"


def percent(change: float) -> str:
    """Return a relative change in per cent, without the sign %: 0.31 as "+31.0".

    Changes of 1000 % or more have no decimals.
    """
    return f"{100 * change:+.1f}" if abs(change) < 10 else f"{100 * change:+.0f}"


def _table(section: str, rows: list[Difference], found: Comparison, every: bool) -> Iterator[str]:
    shown = rows if every else _largest(section, rows)
    title = (
        section if len(shown) == len(rows) else f"{section} ({len(shown)} of {len(rows)}; --all)"
    )
    lines: list[tuple[str, ...]] = [(title.upper() if title == section else title, *HEADS)]
    lines += [_cells(row, found.paths) for row in shown]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()


def _largest(section: str, rows: list[Difference]) -> list[Difference]:
    """Return the changes of a section and the rows of its main measure, SHOWN rows at most."""
    if section == FUNCTIONS:
        main = [row for row in rows if row.changed or row.measure == SELF]
        return sorted(main, key=lambda row: (not row.changed, -_weight(row)))[:SHOWN]
    if section == PATHS:
        share = _shares(rows)
        main = [row for row in rows if row.changed or row.measure != MEDIAN]
        return sorted(main, key=lambda row: (-share[row.name], row.name))[:SHOWN]
    return rows


def _cells(row: Difference, paths: Mapping[str, PathClass]) -> tuple[str, ...]:
    change = f"{percent(row.change)} %" if row.change is not None else ""
    if row.only_in:
        change = f"only {row.only_in}"
    low_high = (
        "" if row.low is None or row.high is None else f"{percent(row.low)} to {percent(row.high)}"
    )
    why = f"({row.why})" if row.why and not low_high else ""
    name = f"{title_of(row, paths)}, {row.measure.name}{' *' if row.lossy else ''}"
    mark = "CHANGED" if row.changed else ""
    return name, value_text(row, row.a), value_text(row, row.b), change, low_high or why, mark


def step_lines(found: PacketSteps, names: tuple[str, str]) -> Iterator[str]:
    """Yield lines that compare two packets: start and self time of each step, differences."""
    yield f"A  {names[0]}"
    yield f"B  {names[1]}"
    yield _apart(found)
    yield ""
    yield f"{'A at us':>12} {'self us':>10} {'B at us':>12} {'self us':>10} {'B - A us':>10}  step"
    leg = ""
    for step in found.steps:
        if step.leg != leg:
            leg = step.leg
            yield f"{'':>59}-- {DIRECTION.get(leg, leg)} --"
        yield _step_line(step)
    yield ""
    yield from _sums(found.steps)


def _apart(found: PacketSteps) -> str:
    if not found.steps:
        return "The paths of both packets are unknown, so they cannot be compared."
    for side, other in (("A", "B"), ("B", "A")):
        if all(getattr(step, side.lower()) is None for step in found.steps):
            return (
                f"The path of packet {side} is unknown; the listed steps are those of packet "
                f"{other}."
            )
    if found.apart is None:
        return "Both took the same steps."
    step = found.steps[found.apart]
    side = "A" if step.b is None else "B"
    return f"The paths diverge at step {found.apart + 1}: {step.name} only in {side}."


def _step_line(step: Step) -> str:
    longer = "" if step.longer_ns is None else f"{step.longer_ns / 1000:+.3f}"
    side = "A" if step.b is None else "B" if step.a is None else " "
    name = step.name if step.kind == CALL else f"... {step.name}"
    text = f"{'  ' * step.depth}{name}"
    return f"{_moment(step.a)} {_moment(step.b)} {longer:>10} {side} {text}".rstrip()


def _moment(moment: Moment | None) -> str:
    if moment is None:
        return f"{'':>12} {'':>10}"
    own = "-" if moment.self_ns is None else f"{moment.self_ns / 1000:.3f}"
    return f"{moment.begin_ns / 1000:>12.3f} {own:>10}"


def _sums(steps: Sequence[Step]) -> Iterator[str]:
    """Yield a line for each of the five steps whose times differ most."""
    known = [step for step in steps if step.longer_ns]
    for step in sorted(known, key=lambda step: -abs(step.longer_ns or 0))[:5]:
        yield f"{(step.longer_ns or 0) / 1000:+.3f} us in {step.name}"
