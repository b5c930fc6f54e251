# SPDX-License-Identifier: MIT
"""The pages of memory that the calls of a path accessed, and the functions of these calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ...records import PacketPath, PathCall, TouchedLine, TouchedPage, page_of, pages_of


class UsedPage(NamedTuple):
    """A page that calls accessed, with the number of these calls and their functions."""

    page: TouchedPage
    calls: int
    functions: tuple[str, ...]


def used_pages(calls: Iterable[PathCall]) -> list[UsedPage]:
    """Return the pages that calls accessed, by number of accesses (most first), then by address.

    Calls whose accesses are unknown are left out.
    """
    loads, stores = Counter[int](), Counter[int]()  # by cache line
    users = dict[int, Counter[str]]()  # by page: calls of each function
    for call in calls:
        lines = call.lines or ()
        for line in lines:
            loads[line.address] += line.loads
            stores[line.address] += line.stores
        for page in {page_of(line.address) for line in lines}:
            users.setdefault(page, Counter[str]())[call.function] += 1
    pages = pages_of(TouchedLine(at, loads[at], stores[at]) for at in sorted(loads))
    used = [
        UsedPage(page, users[page.address].total(), tuple(users[page.address])) for page in pages
    ]
    return sorted(used, key=lambda one: -one.page.loads - one.page.stores)


def calls_of_path(path: PacketPath) -> list[PathCall]:
    """Return the calls of the path's `certain_legs`; calls that several legs share occur once."""
    once = {
        (leg.source, call.entry_ns, call.cpu, call.function): call
        for leg in path.certain_legs
        for call in leg.calls
    }
    return [*once.values()]
