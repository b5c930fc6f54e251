# SPDX-License-Identifier: MIT
"""DuckDB over a dataset: a view for each table, with the columns date, host and session.

The database is in memory. Before a user's SQL runs, the settings are locked. The connection may
read only files that the manifests name.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ..records import BadInput
from ..records.table_columns import DOUBLE, INT32, INT64, TEXT, TableMeaning
from ..store.views.declared_views import VIEWS
from . import session_manifests
from .session_manifests import Manifest

MEMORY = "1536MiB"  # of DuckDB; Python and the result need the rest of 2 GiB
DISK = "64GiB"  # most of the temporary directory
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": MEMORY,
    "max_temp_directory_size": DISK,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "python_enable_replacements": False,  # otherwise SQL can read variables of this program
}
TYPES = {INT64: "BIGINT", INT32: "INTEGER", DOUBLE: "DOUBLE", TEXT: "VARCHAR"}
PARTITIONS = {"date": "DATE", "host": "VARCHAR", "session": "VARCHAR"}


@contextmanager
def connection(folder: Path, quick: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that can only read the files of a dataset.

    With `quick`, the column `session` is an enumeration. Joins then take a third of the time and a
    fifth of the memory, but comparing this column with a text that is not a session's id is an
    error. Raises BadInput if `folder` is not a dataset, or if a query fails and a file of a table
    is missing or damaged.
    """
    found = session_manifests.read_all(folder)
    with tempfile.TemporaryDirectory(prefix="skbviewer-duckdb-") as private:
        config = SETTINGS | {"temp_directory": private, "threads": os.cpu_count() or 1}
        db = duckdb.connect(":memory:", config=config)
        try:
            _make_views(db, _without_keys(folder, Path(private)), found, quick and bool(found))
            db.execute("SET lock_configuration = true")
            yield db
        except (duckdb.Error, BadInput) as error:
            _check_files(folder, found)
            if isinstance(error, BadInput):
                raise
            raise BadInput(folder, None, f"query: {str(error).splitlines()[0]}") from error
        finally:
            db.close()


def _without_keys(folder: Path, private: Path) -> Path:
    """Return a path to the dataset in which no parent folder is called KEY=VALUE.

    DuckDB would take the folder's name KEY=VALUE for the value of a column.
    """
    place = folder.absolute()
    if not any("=" in part for part in place.parts):
        return place
    link = private / "dataset"
    link.symlink_to(place, target_is_directory=True)
    return link


def _check_files(folder: Path, sessions: Sequence[Manifest]) -> None:
    """Raise BadInput if a file that a manifest names is missing or has another size."""
    for each in sessions:
        file = session_manifests.damaged_file(folder, each)
        if file is not None:
            names = ", ".join(original.path for original in each.originals)
            why = "is damaged" if file.exists() else "is missing"
            raise BadInput(file, None, f"{why}: add the files of session {each.session}: {names}")


def _make_views(
    db: duckdb.DuckDBPyConnection, folder: Path, sessions: Sequence[Manifest], quick: bool
) -> None:
    files = {name: _files(folder, sessions, name) for name in VIEWS}
    allowed = ", ".join(literal(file) for listed in files.values() for file in listed)
    db.execute(f"SET allowed_paths = [{allowed}]")
    db.execute("SET enable_external_access = false")
    session = PARTITIONS["session"]
    if quick:
        session = "session_id"
        ids = ", ".join(literal(each.session) for each in sessions)
        db.execute(f"CREATE TYPE {session} AS ENUM ({ids})")
    partitions = PARTITIONS | {"session": session}
    for name, view in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {_select(view.described, files[name], partitions)}")


def _files(folder: Path, sessions: Sequence[Manifest], table: str) -> list[str]:
    found = (each.files(table) for each in sessions if each.rows(table))
    return [str(folder / file) for files in found for file in files]


def _select(table: TableMeaning, files: Sequence[str], partitions: dict[str, str]) -> str:
    if not files:
        columns = {column.name: TYPES[column.type] for column in table.columns} | partitions
        nulls = ", ".join(f'NULL::{type_} AS "{name}"' for name, type_ in columns.items())
        return f"SELECT {nulls} WHERE false"
    listed = ", ".join(map(literal, files))
    types = ", ".join(f"{name}: {type_}" for name, type_ in partitions.items())
    options = f"hive_partitioning = true, hive_types = {{{types}}}"
    return f"SELECT * FROM read_parquet([{listed}], {options})"  # noqa: S608


def literal(text: str) -> str:
    """Return `text` as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
