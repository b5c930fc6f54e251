# SPDX-License-Identifier: MIT
"""Run the tasks of `dataset add` by Dask: on workers of this machine, or on a cluster.

Dask decides which worker runs a task, limits the memory of local workers, and runs a task again if
its worker is lost. So add_task.add_pair() may run twice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from urllib.parse import urlsplit

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, Security, worker_client
from distributed.client import FutureCancelledError
from distributed.core import connect

from ..records import BadInput, Progress
from .add_task import Outcome, add_pair
from .file_groups import Pair
from .parallel_table_writing import ShareTask, in_this_process, write_share, written
from .worker_memory import END_AT, END_AT_RSS, BoundedNanny, mib, needed

LOOPBACK = "127.0.0.1:0"  # any free port
CONNECT_S = 10
LOOK_S = 0.2  # between two reports of progress
LARGE = 128 << 20  # bytes of a file for which a further worker may be useful
LOST = "the connection to the Dask scheduler was lost: repeat the command with the same files"
AGAIN = 3  # how often a task may lose its worker
# By default, Dask looks at itself up to 100 times a second, for pages that nobody opens here.  That
# takes a fifth of a CPU for two workers, whether or not they work.
SETTINGS: dict[str, object] = {
    "distributed.scheduler.allowed-failures": AGAIN,
    "distributed.comm.timeouts.connect": f"{CONNECT_S}s",
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "10s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.active-memory-manager.start": False,  # results are a few bytes
    # Dask would pause a worker at 80 % of its memory limit.  A paused worker runs no task, so a
    # session whose worker is paused might wait for its shares for ever.
    "distributed.worker.memory.pause": False,
    # Dask would count pages of files, too, which the kernel can drop: BoundedNanny does not.
    "distributed.worker.memory.terminate": END_AT if END_AT_RSS else False,
    "distributed.worker.memory.target": False,  # nothing to write to disk: results are a few bytes
    "distributed.worker.memory.spill": False,
}


def run(
    folder: Path,
    pairs: Sequence[Pair],
    jobs: int,
    scheduler: str,
    progress: Progress,
    inner: bool = True,
) -> Iterator[Outcome]:
    """Add pairs on `jobs` local workers, or on the cluster at `scheduler` if it is not "".

    Yields one outcome per pair, in the order in which pairs are finished. Raises BadInput if there
    is no such cluster or its scheduler has ended, and Cancelled if the user cancels. After
    Cancelled, tasks that have not begun never run.
    """
    with _client(folder, min(jobs, tasks_of(pairs)), scheduler) as client:
        running: dict[Future, Pair] = {}
        try:
            yield from _outcomes(client, partial(_add, folder, inner), pairs, running, progress)
        except (OSError, FutureCancelledError) as error:  # nobody here cancels a future
            running.clear()  # there is no scheduler that could cancel them
            raise BadInput(folder, None, LOST) from error
        finally:
            if running:
                client.cancel(list(running))


def tasks_of(pairs: Sequence[Pair]) -> int:
    """Return the number of tasks that may run at once: one per pair, and more for large files."""
    files = [path for pair in pairs for path in pair]
    return len(pairs) + sum(path.stat().st_size // LARGE for path in files if path.is_file())


def _add(folder: Path, inner: bool, files: Pair) -> Outcome:
    """Add a pair, in a task that a worker runs.  Shares of a long log become further tasks."""
    return add_pair(folder, files, None, _by_tasks, inner)


def _by_tasks(shares: Sequence[ShareTask], progress: Progress) -> list[Path]:
    """Write the shares of a session's tables on all workers; return their folders.

    While this task waits, its worker runs other tasks.  Raises BadInput.
    """
    if len(shares) == 1:
        return in_this_process(shares, progress)
    with worker_client() as client:
        results = client.gather(client.map(write_share, shares, pure=False))
    return [written(each) for each in results]


def _outcomes(
    client: Client,
    add: Callable[[Pair], Outcome],
    pairs: Sequence[Pair],
    running: dict[Future, Pair],
    progress: Progress,
) -> Iterator[Outcome]:
    """Add pairs with the function `add`, as many at once as workers can run; yield the outcomes.

    `running` always contains the tasks that have not ended yet. If more tasks were submitted, they
    would wait at workers. If a worker is lost, Dask counts the loss against the worker's waiting
    tasks, too.
    """
    done: Queue[Future] = Queue()
    waiting = list(reversed(pairs))
    while waiting or running:
        threads = sum(client.nthreads().values())
        while waiting and len(running) < max(1, threads):
            pair = waiting.pop()
            future = client.submit(add, pair, pure=False, retries=0)
            running[future] = pair
            future.add_done_callback(done.put)
        what = "adding recordings" if threads else "waiting for a Dask worker"
        progress.report(what, len(pairs) - len(waiting) - len(running), len(pairs))
        with suppress(Empty):
            future = done.get(timeout=LOOK_S)
            yield _outcome(future, running.pop(future))


def _outcome(future: Future, pair: Pair) -> Outcome:
    error = future.exception()
    if error is None:
        made: Outcome = future.result()
        return made
    why = f"{type(error).__name__}: {error}"
    if isinstance(error, KilledWorker):
        why = (
            f"it ended {AGAIN + 1} workers: perhaps it needs more memory than one has,"
            f" about {mib(needed(pair))}"
        )
    return Outcome(pair, "", False, "", error=f"{pair[0]}: {why}")


@contextmanager
def _client(folder: Path, jobs: int, scheduler: str) -> Iterator[Client]:
    """Connect to the cluster at `scheduler`, or to a new local cluster if `scheduler` is "".

    A local cluster ends when this process ends, and its connections are encrypted.
    """
    for name in ("distributed", "distributed.client"):  # Dask sets a level for each
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set(SETTINGS):
        if scheduler:
            try:
                _reach(scheduler)
                client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
            except (OSError, ValueError) as error:
                why = f"--scheduler {scheduler}: no Dask scheduler answers"
                raise BadInput(folder, None, why) from error
            with client:
                yield client
            return
        with (
            tempfile.TemporaryDirectory(prefix="skbviewer-dask-") as private,
            LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                worker_class=BoundedNanny,
                memory_limit=memory_of_machine() // jobs,
                dashboard_address=LOOPBACK,  # None: port 8787 on all interfaces
                worker_dashboard_address=LOOPBACK,
                silence_logs=logging.CRITICAL,
                local_directory=private,
                security=True,
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client


def _reach(scheduler: str) -> None:
    """Raise OSError or ValueError if no Dask scheduler answers at `scheduler`.

    Dask's Client would try to connect for very long, and it would wait for ever for a program that
    is no scheduler.
    """
    url = scheduler if "://" in scheduler else f"tcp://{scheduler}"
    address = urlsplit(url)
    if not address.hostname or not address.port:
        raise ValueError("an address is host:port")
    socket.create_connection((address.hostname, address.port), CONNECT_S).close()
    asyncio.run(_greet(url))


async def _greet(url: str) -> None:
    """Exchange Dask's first messages with `url`.  Raises OSError or ValueError."""
    words = Security().get_connection_args("client")
    try:
        comm = await asyncio.wait_for(connect(url, CONNECT_S, **words), CONNECT_S)
    except (MemoryError, TypeError) as error:  # as long as the first bytes of another protocol say
        raise ValueError("is no Dask scheduler") from error
    comm.abort()


def memory_of_machine() -> int:
    """Return the bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
