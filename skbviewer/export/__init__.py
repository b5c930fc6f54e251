# SPDX-License-Identifier: MIT
"""Files for other programs, made from what analysis found."""

from .dump import dump_lines
from .path_csv import write_path_csv
from .path_text import path_lines, path_xml, told

__all__ = ["dump_lines", "path_lines", "path_xml", "told", "write_path_csv"]
