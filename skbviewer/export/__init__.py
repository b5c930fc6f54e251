# SPDX-License-Identifier: MIT
"""Write paths, packet lists, timelines, call stacks and logs as files for other programs.

EXPORTS has a line for each format and its subjects.  The command line, the export dialog and the
File menu are made from these lines.
"""

from .folded_stacks import write_folded
from .formats import Export, Exportable, Request, Subject, Writer, packet_path
from .jsonl import write_jsonl
from .log_text import dump_lines
from .packets_csv import (
    COLUMNS,
    KERNEL_COLUMNS,
    write_packets_csv,
    write_packets_of,
    write_rows,
)
from .parquet import write_parquet
from .path_csv import write_path_csv, write_path_of
from .path_text import has_line, path_lines, path_xml
from .perfetto.trace import write_perfetto
from .speedscope import write_speedscope
from .timeline_csv import write_timeline_csv
from .wireshark.pcap import write_pcap
from .wireshark.pcapng import write_pcapng

PACKET, PACKETS = frozenset({Subject.PACKET}), frozenset({Subject.PACKETS})
TIMELINE = frozenset({Subject.TIMELINE})
PNG, CSV = (".png",), (".csv", ".txt")
CAPTURE = frozenset({"packet", "range", "snaplen", "payload", "pseudonyms", "kernel_only"})
ROWS = frozenset({"packet", "range", "kernel-only rows"})
STACKS = frozenset({"range", "kernel-only rows"})  # --packet alone means the path of one row
BYTES_OF_ROWS = ROWS | {"snaplen", "payload", "pseudonyms"}
PICTURE = frozenset({"title", "size", "dpi", "theme"})

EXPORTS: tuple[Export, ...] = (
    Export("png", TIMELINE, "Picture (PNG)", "a picture", PNG, None, PICTURE),
    Export("png", PACKET, "Picture of a packet's path (PNG)", "a picture", PNG, None,
           PICTURE - {"title"}, "Export &PNG…"),
    Export("svg", TIMELINE, "Vector picture (SVG)", "a picture of the timeline", (".svg",), None,
           PICTURE),
    Export("csv", TIMELINE, "Table of the boxes in the timeline (CSV)", "a table", CSV, None,
           frozenset({"title", "size"})),
    Export("csv", PACKETS, "Table of the packet list (CSV)", "a table", CSV, write_packets_of),
    Export("csv", PACKET, "Table of a packet's calls (CSV)", "a table", CSV, write_path_of,
           menu="&Export CSV…"),
    Export("folded", PACKET | PACKETS, "Folded stacks, for flame graphs",
           "call stacks with self times, for flamegraph.pl", (".folded", ".txt"),
           write_folded, STACKS, menu="Export &Folded Stacks…"),
    Export("speedscope", PACKET | PACKETS, "Profile for speedscope (JSON)",
           "call stacks with self times, for speedscope.app", (".speedscope.json", ".json"),
           write_speedscope, STACKS, menu="Export Spee&dscope Profile…"),
    Export("pcapng", PACKETS, "Capture for Wireshark, with the kernel's fields (pcapng)",
           "a capture whose comments contain the kernel's fields, for Wireshark", (".pcapng",),
           write_pcapng, CAPTURE | {"retis"}),
    Export("pcap", PACKETS, "Capture without kernel fields (pcap)",
           "a capture without the kernel's fields; all its packets must have the same link "
           "type", (".pcap",),
           write_pcap, CAPTURE),
    Export("perfetto", PACKETS, "Trace of calls, for Perfetto",
           "calls and events as a trace, for ui.perfetto.dev", (".pftrace", ".perfetto-trace"),
           write_perfetto, ROWS),
    Export("html", PACKET | PACKETS, "Report (HTML)",
           "a report as one HTML page, which needs no other file", (".html", ".htm"), None,
           BYTES_OF_ROWS | {"report"}, "Export &HTML Report…"),
    Export("parquet", PACKETS, "Tables for DuckDB, Polars, Spark (a folder of Parquet files)",
           "the tables of docs/schema.md as a folder of Parquet files", (".parquet", ""),
           write_parquet, BYTES_OF_ROWS | {"folder"}),
    Export("jsonl", PACKETS, "JSON lines of all tables (JSONL)",
           "the tables of docs/schema.md as JSON, one object per line", (".jsonl", ".json"),
           write_jsonl, BYTES_OF_ROWS),
)  # fmt: skip

__all__ = [
    "COLUMNS",
    "EXPORTS",
    "KERNEL_COLUMNS",
    "Export",
    "Exportable",
    "Request",
    "Subject",
    "Writer",
    "dump_lines",
    "has_line",
    "packet_path",
    "path_lines",
    "path_xml",
    "write_folded",
    "write_jsonl",
    "write_packets_csv",
    "write_parquet",
    "write_path_csv",
    "write_pcap",
    "write_pcapng",
    "write_perfetto",
    "write_rows",
    "write_speedscope",
    "write_timeline_csv",
]
