# SPDX-License-Identifier: MIT
"""Write the input files, and the names in KBLs, as rows of a session's tables."""

from __future__ import annotations

import json
from typing import NamedTuple

from ...records import Capture, KernelLog
from ...store import FewRows, NewRows, schema
from ..words.kernel_log_names import meta_of
from ..words.link_type_names import link_name
from .capture_matches import epoch_ns


class Input(NamedTuple):
    """An input file as it was read, with the size (bytes) and the hash of the file."""

    data: Capture | KernelLog
    size: int
    sha256: str


def source_row(item: Input, first: int, rows: int) -> tuple[object, ...]:
    """Return a row of table `source` for an input file.

    The packets or records of the file have the numbers from `first` to `first` + `rows` - 1.
    """
    data = item.data
    detail = _log_detail(data) if isinstance(data, KernelLog) else _capture_detail(data)
    texts = (json.dumps(data.warnings), json.dumps(detail))
    return (str(data.path.absolute()), data.kind.value, item.size, item.sha256, first, rows, *texts)


def _capture_detail(capture: Capture) -> dict[str, str]:
    return {"interfaces": ", ".join(i.name or link_name(i.linktype) for i in capture.interfaces)}


def name_rows(log: KernelLog, source: int) -> tuple[NewRows, ...]:
    """Return the names and META values in a KBL as rows of tables; `source` is its source id.

    Probe.inner has no column, because the calls of inner probes are marked.
    """
    probes = [
        (source, p.id, p.name, p.module, _signed(p.address), *(_signed(int(v)) for v in p[4:-1]))
        for p in log.probes.values()
    ]
    return (
        FewRows(schema.probe, probes),
        FewRows(schema.symbol, [(source, _signed(a), n) for a, n in log.symbols.items()]),
        FewRows(schema.code, [(source, _signed(c.address), c.ended, c.data) for c in log.code]),
        FewRows(schema.task, [(source, pid, comm) for pid, comm in log.tasks.items()]),
        FewRows(schema.device, [(source, *key, name) for key, name in log.devices.items()]),
        FewRows(schema.meta, [(source, *pair) for pair in meta_of(log).items()]),
        FewRows(
            schema.meta,
            [(source, f"{schema.SECTIONS}{n}", text) for n, text in enumerate(log.sections, 1)],
        ),
    )


def _log_detail(log: KernelLog) -> dict[str, str]:
    armed = sum(1 for p in log.probes.values() if p.address and not p.error)
    return {
        "release": log.release,
        "hostname": log.hostname,
        "arch": log.arch,
        "probes": str(armed),
        "lost_records": str(log.lost_records),
        "epoch_offset_ns": str(epoch_ns(log)),
    } | ({} if log.returns else {"points": str(len(log.records))})


def _signed(address: int) -> int:
    """Return a kernel address as the signed number that SQLite stores."""
    return address - (1 << 64) if address >= 1 << 63 else address
