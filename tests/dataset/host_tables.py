# SPDX-License-Identifier: MIT
"""Writes what the ten hosts recorded as the tables of a dataset, and the truth as a file beside it.

truth.npz has a row for each captured packet: host, number, packet of the truth, real time, time on
the clock of the log or, without a log, of the capture (all ns), and its header values.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow
import pyarrow.parquet as parquet

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.session_manifests import Manifest
from skbviewer.records.table_columns import DOUBLE, INT32, INT64, TEXT
from skbviewer.store.views.declared_views import VIEWS
from tests.dataset import host_traffic as traffic
from tests.dataset.host_clocks import Clock, make_clocks
from tests.dataset.host_traffic import GAPS, HEADER, HOSTS, TAPS, Ints, Random, Seen

ARROW = {INT64: pyarrow.int64(), INT32: pyarrow.int32(), DOUBLE: pyarrow.float64()}
ARROW[TEXT] = pyarrow.string()
LOG, CAPTURE = 1, 2
AROUND = 400  # ns: the log shows the moment of capture to within twice this
Columns = dict[str, Any]


def make_dataset(out: Path, flows: int, each: int, seconds: int, seed: int) -> Path:
    """Write the dataset out/dataset and the truth out/truth.npz; return the dataset."""
    rng = np.random.default_rng(seed)
    duration = seconds * 10**9
    made = traffic.make_flows(rng, flows, duration)
    packets = traffic.make_packets(rng, made, each)
    seen = traffic.make_seen(rng, made, packets)
    clocks = make_clocks(rng, duration)
    dataset = out / "dataset"
    dataset_paths.make(dataset)
    truth = []
    for host in range(len(HOSTS)):
        rows = np.flatnonzero(seen.host == host)
        rows = rows[np.argsort(seen.real[rows], kind="stable")]
        truth.append(_record(rng, dataset, host, _part(seen, rows), clocks[host]))
    keys = truth[0]
    joined: Columns = {key: np.concatenate([part[key] for part in truth]) for key in keys}
    np.savez(out / "truth.npz", **joined)
    return dataset


def _part(seen: Seen, rows: Ints) -> Seen:
    header = {name: column[rows] for name, column in seen.header.items()}
    return Seen._make([*(column[rows] for column in seen[:6]), header])


def _record(rng: Random, dataset: Path, host: int, seen: Seen, clock: Clock) -> dict[str, Ints]:
    """Write the session of one host; return its rows of the truth."""
    logged = host not in TAPS
    caught = np.ones(len(seen.packet), np.bool_)
    if logged:
        caught = rng.random(len(caught)) >= traffic.LOST_IN_CAPTURE
    number = np.where(caught, np.cumsum(caught), 0)
    tables: dict[str, Columns] = {"packets": _packets(seen, caught, number, clock)}
    if logged:
        tables |= _kernel(rng, host, seen, caught, number, clock)
    _write(dataset, HOSTS[host], tables, clock)
    kept = {name: seen.header[name][caught] for name in HEADER}
    full = np.full(int(caught.sum()), host)
    return kept | {
        "host": full, "number": number[caught], "packet": seen.packet[caught],
        "real": seen.real[caught],
        "clock": (clock.log if logged else clock.wall_at)(seen.real[caught]),
    }  # fmt: skip


def _header(seen: Seen, rows: npt.NDArray[Any]) -> Columns:
    header = {name: seen.header[name][rows] for name in HEADER}
    text = {
        value: _address(value) for name in ("saddr", "daddr") for value in np.unique(header[name])
    }
    made: Columns = {name: [text[value] for value in header[name]] for name in ("saddr", "daddr")}
    for name in ("protocol", "ip_id", "sport", "dport", "payload"):
        made[name] = header[name]
    for name, stored in (("seq", "seq"), ("ack", "ack"), ("flags", "tcp_flags")):
        made[stored] = pyarrow.array(header[name], mask=header[name] < 0)
    return made


def _address(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _packets(seen: Seen, caught: npt.NDArray[np.bool_], number: Ints, clock: Clock) -> Columns:
    made = _header(seen, caught)
    size = made["payload"] + 54
    return made | {
        "number": number[caught], "ts_ns": clock.wall_at(seen.real[caught]), "caplen": size,
        "len": size, "source": np.full(len(size), CAPTURE), "ttl": seen.ttl[caught],
        "verdict": ["exact"] * len(size),
    }  # fmt: skip


def _kernel(
    rng: Random, host: int, seen: Seen, caught: npt.NDArray[np.bool_], number: Ints, clock: Clock
) -> dict[str, Columns]:
    """Return the tables of the log: a lifetime for each packet, which a router sees twice."""
    _, series = np.unique(seen.packet, return_inverse=True)
    series = series + 1
    placed = caught & (rng.random(len(caught)) >= traffic.UNPLACED)
    log = clock.log(seen.real)
    kind = np.array(["", "tx", "rx", "forward"])[seen.role]
    way = np.array(["", "in", "out"])[seen.way]
    count = int(placed.sum())
    matches = {
        "packet": number[placed], "series": series[placed], "leg": series[placed],
        "verdict": ["exact"] * count, "direction": way[placed], "device": ["eth0"] * count,
        "after_ns": log[placed] - rng.integers(0, AROUND, count),
        "before_ns": log[placed] + rng.integers(0, AROUND, count),
        "source": np.full(count, LOG), "confidence": np.ones(count),
    }  # fmt: skip
    names, first = np.unique(series, return_index=True)
    last = len(series) - 1 - np.unique(series[::-1], return_index=True)[1]
    once = np.unique(series[caught])
    legs = {
        "id": names, "source": np.full(len(names), LOG), "series": names, "kind": kind[first],
        "begin_ns": log[first], "end_ns": log[last],
    }  # fmt: skip
    is_seen = np.isin(names, once)
    functions = np.full(len(names), 3)
    gaps = np.zeros(len(names), np.bool_)
    gaps[: 5 if host in GAPS else 0] = True
    lifetimes = _header(seen, first)
    del lifetimes["payload"]
    lifetimes |= {
        "id": names, "source": np.full(len(names), LOG), "begin_ns": log[first] - AROUND,
        "end_ns": log[last] + AROUND, "skb": ["0xffff888100000000"] * len(names),
        "verdict": np.where(is_seen, "exact", "kernel-only"),
        "functions": pyarrow.array(functions, mask=gaps),
    }  # fmt: skip
    return {
        "matches": matches,
        "legs": legs,
        "lifetimes": lifetimes,
        "clocks": _clocks(seen, caught, number, clock),
    }


def _clocks(seen: Seen, caught: npt.NDArray[np.bool_], number: Ints, clock: Clock) -> Columns:
    """Return the fits: session time is the log's time plus a constant."""
    last = int(seen.real[-1]) + 1
    base = clock.pieces(last)[0][1]
    rows = [(LOG, 0, 0, base)]
    times, numbers = seen.real[caught], number[caught]
    for begin, apart in clock.pieces(last):
        at = int(np.searchsorted(times, begin))
        if at < len(times):
            first = int(clock.wall_at(times[at : at + 1])[0])
            rows.append((CAPTURE, int(numbers[at]) if begin else 0, first, base - apart))
    source, packet, begins, offset = (np.array(column) for column in zip(*rows, strict=True))
    return {
        "source": source, "first_packet": packet, "begin_ns": begins, "offset_ns": offset,
        "drift_ppm": np.zeros(len(source)),
        "error_ns": pyarrow.array(np.full(len(source), 2000), mask=source == LOG),
    }  # fmt: skip


def _write(dataset: Path, host: str, tables: dict[str, Columns], clock: Clock) -> None:
    key = hashlib.sha256(host.encode()).hexdigest()
    session, token = session_manifests.session_of(key), key[:16]
    sizes = {}
    begin = int(tables["packets"]["ts_ns"][0])
    manifest = Manifest(session, key, token, "2027-01-15", host, begin, begin, (), {}, (), {})
    for name, columns in tables.items():
        described = {column.name: ARROW[column.type] for column in VIEWS[name].described.columns}
        rows = len(columns["source"])
        arrays = [
            pyarrow.array(columns[each]).cast(type_)
            if each in columns
            else pyarrow.nulls(rows, type_)
            for each, type_ in described.items()
        ]
        place = dataset / manifest.files(name)[0]
        place.parent.mkdir(parents=True)
        parquet.write_table(pyarrow.table(arrays, names=list(described)), place)
        sizes[name] = (rows, place.stat().st_size)
    session_manifests.write(dataset, manifest._replace(tables=sizes))
