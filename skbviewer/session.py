# SPDX-License-Identifier: MIT
"""Open, import, match, export: the only door to the data for the command line and the window."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from . import readers
from .analysis import (
    VERDICTS,
    Input,
    LayerStyle,
    Names,
    address,
    describe,
    event_word,
    known,
    layers,
    legs,
    mac,
    names_of,
    reason,
    store_inputs,
)
from .export import write_path_csv
from .records import (
    BadInput,
    PacketPath,
    PacketRow,
    Progress,
    SeriesRow,
    Silent,
    SourceRow,
)
from .store import Builder, is_session, open_session, queries, schema

PROTOCOLS = {4: "ipv4", 6: "ipv6"}
ETH_P_ARP = 0x0806


class ImportResult(NamedTuple):
    """A finished import: the session file and what was wrong with the inputs."""

    path: Path
    warnings: tuple[str, ...]


def import_files(
    paths: Sequence[Path], out: Path, progress: Progress | None = None
) -> ImportResult:
    """Read captures and KBLs, match them and write the session `out`.

    Replaces an older session of that name.  Raises BadInput for unusable input or a full disk and
    Cancelled when `progress` says so; then `out` is as it was before.
    """
    watch: Progress = progress or Silent()
    if out.exists() and not is_session(out):
        raise BadInput(out, None, "exists and is not a session: not overwritten")
    inputs = [_read(path, watch) for path in paths]
    with Builder(out, watch) as builder:
        store_inputs(inputs, builder, watch)
        builder.finish()
    return ImportResult(out, tuple(w for item in inputs for w in item.data.warnings))


def _read(path: Path, progress: Progress) -> Input:
    data = readers.read(path, progress)
    return Input(data, path.stat().st_size, _sha256(path))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error


def cached_session(paths: Sequence[Path]) -> Path:
    """Where the session of these inputs lives if nobody saves it: named by the inputs' hashes."""
    key = hashlib.sha256(f"schema {schema.SCHEMA_VERSION}".encode())
    for path in paths:
        key.update(f"{path.absolute()} {_sha256(path)}".encode())
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skbviewer" / "sessions" / f"{key.hexdigest()[:32]}.skbv"


def open_files(paths: Sequence[Path], progress: Progress | None = None) -> Session:
    """Open one session file, or import captures and KBLs (again only if they changed)."""
    if len(paths) == 1 and is_session(paths[0]):
        return Session.open(paths[0])
    cached = cached_session(paths)
    try:
        return Session.open(cached)
    except BadInput:  # not there yet, or of another version
        cached.unlink(missing_ok=True)
    import_files(paths, cached, progress)
    return Session.open(cached)


class Session:
    """A session file opened for reading; may be used from several threads at once."""

    def __init__(self, path: Path) -> None:
        self.file = path
        self._engine = open_session(path)
        self._names: dict[int, Names] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path) -> Session:
        """Raises BadInput if `path` is no session or of another version."""
        return cls(path)

    def close(self) -> None:
        """Give the file back; using the session afterwards opens it again."""
        self._engine.dispose()

    @contextmanager
    def _db(self) -> Iterator[Any]:
        with self._engine.connect() as connection:
            yield connection

    def sources(self) -> tuple[SourceRow, ...]:
        """The input files, in import order."""
        with self._db() as db:
            rows = queries.sources(db)
        return tuple(
            SourceRow(
                r.id,
                r.path,
                r.kind,
                r.size,
                r.sha256,
                r.rows,
                tuple(json.loads(r.warnings)),
                json.loads(r.detail),
            )
            for r in rows
        )

    def info(self) -> dict[str, Any]:
        """Counts, matches, losses, clock fits and sources; the JSON of `skbviewer info`."""
        sources = self.sources()
        with self._db() as db:
            tables = (schema.packet, schema.record, schema.series, schema.call)
            counts = {t.name: queries.count(db, t) for t in tables}
            verdicts, clocks = queries.verdicts(db), queries.clocks(db)
            kernel_only = queries.kernel_only_count(db)
            events = queries.event_counts(db)
            metas = [queries.meta(db, s.id) for s in sources if s.kind == "kbl"]
        by_protocol = _by_protocol(verdicts)
        total = {key: sum(p[key] for p in by_protocol.values()) for key in _no_matches()}
        return {
            "packets": counts["packet"],
            "records": counts["record"],
            "series": counts["series"],
            "calls": counts["call"],
            "matches": total | {"kernel_only": kernel_only},
            "matches_by_protocol": by_protocol,
            "lost_records": sum(int(s.detail.get("lost_records", 0)) for s in sources),
            "recorder": _recorder(metas),
            "events": {event_word(kind): number for kind, number in sorted(events.items())},
            "clock": [_clock(row) for row in clocks],
            "sources": [_source(s) for s in sources],
            "warnings": [w for s in sources for w in s.warnings],
        }

    def packet_count(self) -> int:
        with self._db() as db:
            return queries.count(db, schema.packet)

    def packets(self, first: int, count: int) -> list[PacketRow]:
        """Packets numbered first .. first + count - 1, as far as there are."""
        has_kbl = any(s.kind == "kbl" for s in self.sources())
        with self._db() as db:
            starts = {s.id: s.first for s in queries.sources(db)}
            return [
                _packet(r, starts[r.source], has_kbl) for r in queries.packets(db, first, count)
            ]

    def kernel_only_count(self) -> int:
        """How many packet lives with a network identity have no wire packet."""
        with self._db() as db:
            return queries.kernel_only_count(db)

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Rows K<first> .. K<first + count - 1>."""
        with self._db() as db:
            return [_series(row) for row in queries.kernel_only(db, first, count)]

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """The kernel path of a packet (by number) or of a series; KeyError if there is none."""
        with self._db() as db:
            if packet is not None:
                return self._packet_path(db, packet)
            rows = queries.legs_of_series(db, series or 0)
            if not rows:
                raise KeyError(f"no series {series}")
            return PacketPath(None, self._legs(db, rows), None, None, self._epoch(rows[0].source))

    def _packet_path(self, db: Any, number: int) -> PacketPath:
        found = self.packets(number, 1)
        if number < 1 or not found:
            raise KeyError(f"no packet {number}")
        rows = queries.legs_of_packet(db, number)
        wire = error = None
        for clock in queries.clocks(db):
            if rows and (clock.source, clock.kbl) == (found[0].source, rows[0].source):
                drift = (
                    (found[0].ts_ns - clock.offset_ns - clock.origin_ns) * clock.drift_ppm * 1e-6
                )
                wire, error = found[0].ts_ns - clock.offset_ns - round(drift), clock.residual_ns
        epoch = self._epoch(rows[0].source) if rows else 0
        return PacketPath(found[0], self._legs(db, rows), wire, error, epoch)

    def _legs(self, db: Any, rows: Sequence[Any]) -> Any:
        with self._lock:
            for source in {row.source for row in rows} - set(self._names):
                self._names[source] = names_of(db, source)
        return legs(db, rows, self._names)

    def _epoch(self, source: int) -> int:
        return int(self.sources()[source - 1].detail.get("epoch_offset_ns", 0))

    def layers(self) -> tuple[LayerStyle, ...]:
        """The layers of the stack with their colours."""
        return layers()

    def packet_bytes(self, number: int) -> bytes | None:
        """The captured bytes, from the source file; None if it moved or changed its size."""
        with self._db() as db:
            rows = queries.packets(db, number, 1)
        if not rows:
            raise KeyError(f"no packet {number}")
        source = self.sources()[rows[0].source - 1]
        path = Path(source.path)
        if not path.is_file() or path.stat().st_size != source.size:
            return None
        return readers.packet_bytes(path, rows[0].offset, rows[0].caplen)

    def export_csv(self, packet: int, out: Path) -> None:
        """Write the annotated path of a packet as CSV.  Raises KeyError and BadInput."""
        write_path_csv(self.path(packet=packet), self.sources(), out)


COUNTERS: tuple[str, ...] = ("written", "bytes", "lost", "missed", "nested", "null_skb")
COUNTERS += ("filtered", "open", "unpaired")  # struct kbl_counters


def _recorder(metas: Sequence[Mapping[str, str]]) -> dict[str, int]:
    """The recorders' own counters, summed; those that no file has are left out.

    Why records are missing: `lost` to full buffers, `missed` by the probes, `nested` ones refused.
    """
    found = {}
    for name in COUNTERS:
        told = [int(meta[f"counters.{name}"]) for meta in metas if f"counters.{name}" in meta]
        if told:
            found[name] = sum(told)
    return found


def _no_matches() -> dict[str, int]:
    return {"exact": 0, "ambiguous": 0, "wire_only": 0}


def _by_protocol(verdicts: Sequence[Any]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for version, ethertype, verdict, count in verdicts:
        name = PROTOCOLS.get(version, "arp" if ethertype == ETH_P_ARP else "other")
        found.setdefault(name, _no_matches())[VERDICTS[verdict].replace("-", "_")] += count
    return found


def _clock(row: Any) -> dict[str, Any]:
    segment = {
        "offset_ns": row.offset_ns,
        "drift_ppm": row.drift_ppm,
        "residual_ns": row.residual_ns,
        "pairs": row.pairs,
    }
    return {"source": row.source, "kbl": row.kbl, "segments": [segment]}


def _source(row: SourceRow) -> dict[str, Any]:
    return row._asdict() | {"warnings": list(row.warnings)}


def _packet(row: Any, first: int, has_kbl: bool) -> PacketRow:
    protocol_name, info = describe(row)
    saddr = address(row.ip_version, row.saddr_hi, row.saddr_lo)
    daddr = address(row.ip_version, row.daddr_hi, row.daddr_lo)
    has_ports = row.protocol in (6, 17)
    return PacketRow(
        number=row.id,
        ts_ns=row.ts,
        caplen=row.caplen,
        len=row.len,
        linktype=row.linktype,
        source=row.source,
        frame=row.id - first + 1,
        saddr=saddr,
        daddr=daddr,
        ip_id=known(row.ip_id),
        protocol=known(row.protocol),
        sport=known(row.sport) if has_ports else None,
        dport=known(row.dport) if has_ports else None,
        info=info,
        verdict=VERDICTS[row.verdict],
        confidence=None if row.verdict == VERDICTS.index("wire-only") else row.confidence,
        kernel_ns=known(row.kernel_ns),
        functions=known(row.functions),
        reason=reason(row.verdict, row.rung, has_kbl),
        protocol_name=protocol_name,
        source_text=saddr or mac(row.eth_src),
        destination_text=daddr
        or ("Broadcast" if row.eth_dst == (1 << 48) - 1 else mac(row.eth_dst)),
    )


def _series(row: Any) -> SeriesRow:
    record = _Prefixed(row, "record_")
    _, info = describe(record)
    return SeriesRow(
        series=row.series_id,
        number=f"K{row.series_kernel_only}",
        ts_ns=row.series_begin_ns,
        saddr=address(record.ip_version, record.saddr_hi, record.saddr_lo),
        daddr=address(record.ip_version, record.daddr_hi, record.daddr_lo),
        ip_id=known(record.ip_id),
        protocol=known(record.protocol),
        info=info,
        kernel_ns=row.series_kernel_ns,
        functions=row.series_functions,
        reason="No loaded capture holds this packet.",
    )


class _Prefixed:
    """A row whose columns carry a table's name, seen without it."""

    def __init__(self, row: Any, prefix: str) -> None:
        self._row = row
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, self._prefix + name)
