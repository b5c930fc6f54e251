# SPDX-License-Identifier: MIT
"""The contents of the bundled recordings, as skbviewer reads them.

``python -m tests.e2e.samples`` writes them into the README of each sample.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from skbviewer.records import PacketRow, resource
from skbviewer.session import Session, import_files
from tests.lab.samples import SAMPLES, WITH_INNER

from . import handshake

HEADING = "## What is in it\n"
ROWS = 40  # packets shown
NAMES = tuple(sample.name for sample in (*SAMPLES, *WITH_INNER) if sample.name != "handshake")


def open_sample(name: str, folder: Path) -> tuple[Session, tuple[str, ...]]:
    """Import a sample into a session below ``folder``; returns it with the warnings."""
    files = [resource(f"samples/{name}/{name}{suffix}") for suffix in (".pcap", ".kbl")]
    out = folder / f"{name}.skbv"
    warnings = import_files(files, out).warnings
    return Session.open(out), tuple(warnings)


def row(packet: PacketRow, start_ns: int) -> str:
    """Return one packet as a line of a Markdown table."""
    kernel = "" if packet.kernel_ns is None else f"{packet.kernel_ns / 1000:.1f}"
    cells = [
        str(packet.number),
        f"{((packet.ts_ns or 0) - start_ns) / 1e6:.3f}",
        packet.source_text,
        packet.destination_text,
        packet.protocol_name,
        packet.info.replace("|", "\\|"),
        packet.verdict,
        str(packet.functions or ""),
        kernel,
    ]
    return f"| {' | '.join(cells)} |\n"


def contents(session: Session) -> str:
    """Return the generated part of a sample's README: the counts, and the first packets."""
    info = session.info()
    packets = session.packets.numbered(1, session.packets.count())
    kinds = Counter(packet.protocol_name for packet in packets)
    verdicts = Counter(packet.verdict for packet in packets)
    text = (
        f"{len(packets)} packets ({', '.join(f'{n} {k}' for k, n in kinds.most_common())}): "
        f"{', '.join(f'{n} {k}' for k, n in verdicts.most_common())}; "
        f"{session.packets.kernel_only_count()} kernel-only lifetimes; "
        f"{info['records']} records, {info['lost_records']} lost.\n\n"
    )
    titles = "No. | ms | source | destination | protocol | info | verdict | calls | us in kernel"
    text += f"| {titles} |\n|{' --- |' * 9}\n"
    text += "".join(row(packet, packets[0].ts_ns or 0) for packet in packets[:ROWS])
    return text + ("" if len(packets) <= ROWS else f"\n... and {len(packets) - ROWS} more.\n")


def main() -> None:
    """Rewrite the generated part of every README."""
    handshake.main()
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            text = contents(open_sample(name, Path(folder))[0])
        readme = resource(f"samples/{name}") / "README.md"
        head = readme.read_text(encoding="utf-8").split(HEADING)[0]
        readme.write_text(f"{head}{HEADING}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
