# SPDX-License-Identifier: MIT
"""Tables, graphs and diagnosis of a whole session, which its import computes and stores.

Input: a complete session file with many packets.  Output: rows of table `result`.  It takes seconds
to compute a result, but a tenth of a second to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..analysis.stats import STATISTICS, Scope, statistic_of
from ..records import BadInput, Cancelled, Part, Progress
from .kernel.result_program_version import is_unchanged, program
from .kernel.result_serialisation import encode
from .kernel.session_graphs import GRAPHS
from .kernel.session_statistics import DIAGNOSIS, MEASUREMENTS, Statistics, table_name
from .notes import Notes
from .open_session_file import OpenedFile
from .packets.session_fields import Fields

COUNTING = "counting"


def stored_results(file: Path, progress: Progress) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, program and bytes of each result of the session `file`.

    Raises BadInput if the file cannot be read; raises Cancelled.
    """
    if not is_unchanged():
        return
    opened = OpenedFile(file)
    stats = Statistics(opened, Fields(opened, Notes(opened)))
    groups = _groups()
    done, total = 0, sum(map(len, groups))
    try:
        for makers in groups:
            scope = stats.scope()
            for name, make in makers.items():
                scope.progress = Part(progress, COUNTING, done, done + 1, total)
                done += 1
                try:
                    data = encode(make(scope))
                except (Cancelled, BadInput):
                    raise
                except Exception:  # noqa: BLE001  # whoever asks for it gets the error
                    continue
                yield name, program(), data
    finally:
        opened.close()


def _groups() -> tuple[Mapping[str, Callable[[Scope], Any]], ...]:
    """Return functions that compute results, by name; those in a group use the same arrays."""
    from ..analysis.comparison import measure  # slow to load
    from ..analysis.diagnosis import diagnose

    tables = {table_name(name): partial(statistic_of, name) for name in STATISTICS}
    return {DIAGNOSIS: diagnose, **tables}, GRAPHS, {MEASUREMENTS: measure}
