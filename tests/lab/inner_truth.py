# SPDX-License-Identifier: MIT
"""Which functions ran inside which packet functions, by the kernel's own kprobe events.

The guest of scenarios/inner.sh leaves them in inner.trace.  A thread's calls in one context form a
stack; each CPU's interrupts and idle thread have stacks of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

LINE = re.compile(r"^ .*-(?P<pid>\d+) +\[(?P<cpu>\d+)\] (?P<flags>\S{5}) +[\d.]+: (?P<name>\w+): ")
CONTEXTS = {"s": 1, "h": 2, "H": 2, "z": 3, "Z": 3}  # the kernel's trace_print_lat_fmt()

Key = tuple[str, str, int]  # function, the packet function around it, context
Place = tuple[int, int]  # thread (or -1 - CPU), context


class Truth(NamedTuple):
    """Hits of functions without an skb: inside packet functions, and outside of any."""

    inside: Counter[Key]
    outside: Counter[str]


def read_truth(trace: Path) -> Truth:
    """Return what the kernel's kprobe events say; raises ValueError if returns are missing."""
    truth, stacks = Truth(Counter(), Counter()), dict[Place, list[str]]()
    for text in trace.read_text().splitlines():
        found = LINE.match(text)
        if found is not None:
            context, cpu = CONTEXTS.get(found["flags"][2], 0), int(found["cpu"])
            pid = int(found["pid"]) if context == 0 and found["pid"] != "0" else -1 - cpu
            _follow(truth, stacks.setdefault((pid, context), []), found["name"], context)
    return truth


def _follow(truth: Truth, stack: list[str], name: str, context: int) -> None:
    function, _, end = name.rpartition("_")
    if end == "entry":
        stack.append(function)
    elif end == "exit":
        if stack and stack.pop() != function:
            raise ValueError(f"a return of {function} without its entry")
    elif stack:
        truth.inside[name, stack[-1], context] += 1
    else:
        truth.outside[name] += 1
