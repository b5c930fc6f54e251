# SPDX-License-Identifier: MIT
"""Tables and indexes as plain values, and the SQL statements that make them.

Code that writes sessions needs only this module.  For queries, sqlalchemy_tables.py declares the
same tables for SQLAlchemy; loading SQLAlchemy takes as long as reading 300,000 packets.
"""

from __future__ import annotations

from typing import NamedTuple

INTEGER, FLOAT, TEXT, BLOB = "INTEGER", "FLOAT", "TEXT", "BLOB"


class Column(NamedTuple):
    """A column and its type, which is one of the four types above."""

    name: str
    type: str
    nullable: bool = False


class Table(NamedTuple):
    """A table: its first column is the row id `id`, and `columns` are all other columns."""

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all columns except `id`."""
        return tuple(column.name for column in self.columns)

    def creation(self) -> str:
        """Return the SQL statement that creates the table."""
        columns = ['"id" INTEGER NOT NULL']
        for name, type_, nullable in self.columns:
            columns.append(f'"{name}" {type_}' + ("" if nullable else " NOT NULL"))
        return f'CREATE TABLE "{self.name}" ({", ".join(columns)}, PRIMARY KEY ("id"))'

    def insertion(self) -> str:
        """Return the SQL statement that inserts a row; `id` is not given."""
        listed = ", ".join(f'"{name}"' for name in self.names)
        places = ", ".join("?" * len(self.columns))
        return f'INSERT INTO "{self.name}" ({listed}) VALUES ({places})'  # noqa: S608


class Index(NamedTuple):
    """An index over some columns of a table."""

    name: str
    table: Table
    columns: tuple[str, ...]

    def creation(self) -> str:
        """Return the SQL statement that creates the index."""
        listed = ", ".join(f'"{name}"' for name in self.columns)
        return f'CREATE INDEX "{self.name}" ON "{self.table.name}" ({listed})'
