# SPDX-License-Identifier: MIT
"""Work on the blocks of a long table in several threads; results come in the order of blocks.

While threads read columns or run compiled loops, they do not hold Python's lock, so they run at the
same time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from typing import TypeVar

Block = TypeVar("Block")
Made = TypeVar("Made")
MOST_THREADS = 8  # more would take more memory: each has a block's columns


def each_made(make: Callable[[Block], Made], blocks: Iterable[Block]) -> Iterator[Made]:
    """Yield make(block) for each block, in order; threads compute the next results ahead.

    If make(block) raises an exception, the exception is raised instead of yielding that result.  If
    the caller stops early, blocks that have not been started are not computed.
    """
    left = iter(blocks)
    first = list(islice(left, 2))
    threads = min(len(os.sched_getaffinity(0)), MOST_THREADS)
    if len(first) < 2 or threads < 2:
        yield from map(make, first)
        yield from map(make, left)
        return
    pool = ThreadPoolExecutor(threads, "blocks")

    def begun(block: Block) -> Future[Made]:
        """Start make(block) in a thread, which allocates arrays in the same way as this thread."""
        return pool.submit(copy_context().run, make, block)

    ahead = deque(begun(block) for block in first)
    try:
        ahead.extend(begun(block) for block in islice(left, threads - 1))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(begun(block) for block in islice(left, 1))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
