# SPDX-License-Identifier: MIT
"""Run a user's query in its own thread, so that the caller can cancel it at any time."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread

from ..records import BadInput, Progress
from ..store.views.user_query import Answer as Answer
from ..store.views.user_query import Bounds as Bounds
from ..store.views.user_query import Cell as Cell
from ..store.views.user_query import answer

LOOK_S = 0.05
GRACE_S = 1.0  # for a function call that SQLite cannot interrupt


def query(file: Path, sql: str, bounds: Bounds, progress: Progress) -> Answer:
    """Run one SELECT over the documented views of the session `file`.

    Raises BadInput with one line of text if the query is not allowed, is wrong, or exceeds its
    limits; raises Cancelled and KeyboardInterrupt.  If a query does not end at once when it is
    stopped, this function does not wait for its end.
    """
    stop, made = Event(), list[Answer | Exception]()

    def work() -> None:
        try:
            made.append(answer(file, sql, bounds, stop))
        except Exception as error:  # noqa: BLE001  # raised again by the caller's thread
            made.append(error)

    thread = Thread(target=work, daemon=True)
    end = time.monotonic() + bounds.seconds + GRACE_S
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_S)
            progress.report("running the query", 0, 0)
            if time.monotonic() > end:
                raise BadInput(
                    file, None, f"query: the statement took more than {bounds.seconds:g} s"
                )
    finally:
        stop.set()
    (result,) = made
    if isinstance(result, Exception):
        raise result
    return result
