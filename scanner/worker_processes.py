# SPDX-License-Identifier: MIT
"""Worker processes: if one hangs or crashes, its item is lost, but the run continues."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
SECONDS = 240.0  # CPU time for one item; a worker that can stop by itself does so much earlier
_TICK = 1.0  # seconds between two looks at the processes
_BATCH = 40  # items handed to a process at a time


def processor_time(pid: int) -> float:
    """Return the seconds of CPU time that all threads of the process `pid` have used.

    The id of the process's CPU clock is computed as clock_getcpuclockid() does; Linux keeps this
    stable.
    """
    return time.clock_gettime((~pid << 3) | 2)


class Lost(NamedTuple):
    """The result of an item whose process hung or crashed."""

    reason: str


def _serve(
    connection: Connection,
    make: Callable[[], Callable[[Any], Any]],
    inherited: list[Connection],
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a parser in C would run on until its end
    # Otherwise this process would keep the other end open, and survive a parent that is killed.
    for other in inherited:
        other.close()
    try:
        work = make()
        while (items := connection.recv()) is not None:
            for item in items:
                connection.send(work(item))
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass


class _Worker(Generic[Item]):
    """A worker process, its unfinished items, and its CPU time when it returned the last result."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], others: list[Connection]) -> None:
        """Start the process; it inherits `others`, the other workers' ends of pipes."""
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        inherited = [self.connection, *others]
        self.process = context.Process(target=_serve, args=(theirs, make, inherited), daemon=True)
        self.process.start()
        theirs.close()
        self.items: list[Item] = []
        self.since = 0.0

    def spent(self) -> float:
        """Return the seconds of CPU time that the process has used since its last result."""
        try:
            return processor_time(self.process.pid or 0) - self.since
        except OSError:  # the process has ended: its pipe is closed
            return 0.0

    def answered(self) -> None:
        """Count the CPU time from now on: a result has arrived."""
        self.since += self.spent()

    def give(self, items: list[Item]) -> None:
        """Send items to the process."""
        self.items = items
        self.answered()
        self.connection.send(items)

    def end(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def run(
    items: Sequence[Item], jobs: int, make: Callable[[], Callable[[Item], Result]]
) -> Iterator[tuple[Item, Result | Lost]]:
    """Yield (item, result) for all items, in any order.

    Each of the `jobs` processes calls make() once, and then calls the returned function with each
    item.
    """
    waiting = [list(items[i : i + _BATCH]) for i in range(0, len(items), _BATCH)][::-1]
    workers: list[_Worker[Item]] = []
    try:
        while waiting or any(worker.items for worker in workers):
            while waiting and len(workers) < jobs:
                workers.append(_Worker(make, [worker.connection for worker in workers]))
            for worker in workers:
                if not worker.items and waiting:
                    worker.give(waiting.pop())
            ready = wait([w.connection for w in workers if w.items], timeout=_TICK)
            for worker in [w for w in workers if w.items]:
                reason = ""
                if worker.connection in ready:
                    try:
                        result = worker.connection.recv()
                        worker.answered()
                        yield worker.items.pop(0), result
                        continue
                    except EOFError:
                        reason = "the parser crashed"
                elif worker.spent() > SECONDS:
                    reason = f"stopped reading after {SECONDS:.0f} s of CPU time"
                if reason:
                    workers.remove(worker)
                    worker.end()
                    yield worker.items.pop(0), Lost(reason)
                    if worker.items:
                        waiting.append(worker.items)
    finally:
        for worker in workers:
            worker.end()
