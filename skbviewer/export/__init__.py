# SPDX-License-Identifier: MIT
"""Write paths, packet lists, timelines and logs as files for other programs."""

from .dump import dump_lines
from .packets_csv import write_packets_csv
from .path_csv import write_path_csv
from .path_text import path_lines, path_xml, told
from .timeline_csv import write_timeline_csv

__all__ = [
    "dump_lines",
    "path_lines",
    "path_xml",
    "told",
    "write_packets_csv",
    "write_path_csv",
    "write_timeline_csv",
]
