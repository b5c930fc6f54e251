# SPDX-License-Identifier: MIT
"""``python -m tests.store.schema_page`` writes docs/schema.md from the declared views."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from skbviewer.export.packet_bytes import BYTES
from skbviewer.records.table_columns import TableMeaning
from skbviewer.store.views.declared_views import VIEWS

WIDTH = 120
PAGE = Path(__file__).resolve().parents[2] / "docs/schema.md"
HEAD = """<!-- SPDX-License-Identifier: MIT -->
<!-- Written by `python -m tests.store.schema_page`: change skbviewer/store/views/ instead. -->
# Tables of a session

A session offers these tables, with the same names, types and values, in five ways:

- as SQLite views of the `.skbv` file, for every SQLite tool;
- in `skbviewer query S.skbv SQL`, which can read only these tables, and change nothing;
- as Parquet, with one file per table: `skbviewer export S.skbv --parquet FOLDER`;
- as JSON lines, with one object per row and its table's name in `table`: `skbviewer export S.skbv --jsonl OUT`;
- as numpy arrays and data frames of the [Python API](python-api.md).

So the same SELECT runs on a session and on its Parquet files. Where SQLite and DuckDB interpret a SELECT
differently, write it [so that both agree](#one-select-for-sqlite-and-duckdb).

- **Types:** `int64`, `int32` and `double` are signed numbers, `text` is a string. The Parquet files have no
  other types, such as unsigned 64-bit numbers or timestamps, because some readers refuse or change them.
- **Times** are int64 nanoseconds, on the clock of the kernel log or of the sniffer that recorded them. With table
  `clocks`, the times of kernel logs and of sniffers can be converted to session time.
- **Missing values** are NULL. The column *NULL if* below says what a missing value means. If *NULL if* is empty, no
  value is missing.
- **Since** is the first version of sessions that has the column (`PRAGMA user_version`).
- **Addresses of memory** are texts such as `0xffff888100a2e500`. IPv6 addresses have eight groups, without `::`.

Names of tables and columns do not change. New tables and columns may be added at the end.

    SELECT function, count(*), sum(self_ns) FROM calls GROUP BY function ORDER BY 3 DESC;
    SELECT reason, place, count(*) FROM drops GROUP BY reason, place;
    SELECT p.number, p.saddr, w.kind, sum(w.end_ns - w.begin_ns) AS wait_ns FROM packets p
      JOIN matches m ON m.packet = p.number AND m.verdict = 'exact' JOIN waits w ON w.leg = m.leg
      GROUP BY 1, 2, 3 ORDER BY 4 DESC;

## One SELECT for SQLite and DuckDB

SQLite runs a SELECT on sessions, also in `skbviewer query`, the window and Python. DuckDB or another engine runs it on
Parquet files, also in `skbviewer dataset query`. SQLite and DuckDB agree on tables, columns and values, but not on
everything in SQL:

| in SQLite | in DuckDB | write, for both |
| --- | --- | --- |
| `/` between integers cuts off: `7 / 2` is 3 | `7 / 2` is 3.5 | `kernel_ns / 1000.0`; `avg(self_ns)` for `sum(self_ns) / count(*)` |
| `LIKE` ignores the case of ASCII letters | `LIKE` distinguishes it | `lower(function) LIKE 'tcp%'`, or `function GLOB 'tcp*'`, which distinguishes it in both |
| `ORDER BY c` puts NULL first, `ORDER BY c DESC` last | NULL is last in both orders | `ORDER BY c NULLS FIRST` or `NULLS LAST` |
| a column that is not in `GROUP BY` has the value of any row | an error | `min(c)` or `max(c)` |
| `"task"` is a text if there is no such column | an error | `'task'` |
"""
BYTES_NOTE = (
    "Only Parquet and JSON lines have table `packet_bytes`, because a session contains no packet "
    "bytes. JSON lines encode the bytes in base64."
)


def page() -> str:
    """Return the whole page."""
    parts = [HEAD, *(_part(view.described, "") for view in VIEWS.values())]
    return "\n".join([*parts, _part(BYTES, BYTES_NOTE)])


def _part(table: TableMeaning, note: str) -> str:
    text = f"{table.meaning} {note}".strip()
    lines = [f"## {table.name}", "", *wrap(text, WIDTH, break_on_hyphens=False), ""]
    lines += [
        "| column | type | unit | NULL if | meaning | since |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for c in table.columns:
        cells = (f"`{c.name}`", c.type, c.unit, c.null, c.meaning, str(c.since))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
