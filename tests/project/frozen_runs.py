# SPDX-License-Identifier: MIT
"""Names that users depend on, as the commands show them on a bundled recording."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scanner.cli import main as skbscan
from skbviewer.analysis.display_filter import parse
from skbviewer.cli import main as skbviewer

from .frozen_text import filter_fields
from .tree import ROOT

SAMPLE = ROOT / "resources/samples/nat/nat"
COUNTED = re.compile(r"\.\d+$")  # META keys of tables have a row's number
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
CHOICES = re.compile(r"\{([\w,-]+)\}")
TABLES = ("functions", "layers", "drops", "processes", "clock")


def session(folder: Path) -> Path:
    """Return the sample, imported below `folder`."""
    out = folder / "frozen.skbv"
    _run(skbviewer, "import", "-o", str(out), f"{SAMPLE}.pcap", f"{SAMPLE}.kbl")
    return out


def _run(main: Any, *words: str) -> str:
    """Return what a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = main(list(words))
        except SystemExit as end:  # --help
            code = end.code
    assert not code, f"{' '.join(words)}: exit status {code}"
    return out.getvalue()


def database(path: Path) -> list[str]:
    """Return tables, views and indexes with their columns."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")
        return sorted(
            f"{kind} {name}.{column}"
            for kind, name in rows.fetchall()
            for column in _columns(db, kind, name)
        )


def _columns(db: sqlite3.Connection, kind: str, name: str) -> list[str]:
    pragma, place = ("index_info", 2) if kind == "index" else ("table_info", 1)
    return [str(row[place]) for row in db.execute(f"PRAGMA {pragma}('{name}')")]


def meta(path: Path) -> list[str]:
    """Return keys that the sample's log has in META, as the session stores them."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        keys = db.execute("SELECT DISTINCT key FROM meta").fetchall()
    return sorted({COUNTED.sub(".N", key) for (key,) in keys})


def options() -> list[str]:
    """Return commands with their options and choices."""
    return sorted(
        f"{name} {' '.join([*command, option])}"
        for name, main in (("skbviewer", skbviewer), ("skbscan", skbscan))
        for command in _commands(main)
        for option in _options(_run(main, *command, "--help"))
    )


def _commands(main: Any, *before: str) -> list[list[str]]:
    """Return a program or command, its commands, and theirs, each as words."""
    text = _run(main, *before, "--help")
    listed = re.search(r"\{([\w,-]+)\} \.\.\.", text)
    words = listed[1].split(",") if listed else re.findall(r"^    ([a-z]+)(?:  |$)", text, re.M)
    inner = words if listed or "COMMAND ..." in text else []
    return [[*before], *(one for word in inner for one in _commands(main, *before, word))]


def _options(text: str) -> set[str]:
    choices = {word for found in CHOICES.findall(text) for word in found.split(",")}
    return {"", *OPTION.findall(text), *choices}


def json_keys(path: Path) -> list[str]:
    """Return keys of all that commands write as JSON, with the keys that lead to them."""
    runs: list[Sequence[str]] = [
        ("info",),
        ("packets",),
        ("packets", "--kernel-only"),
        *(("path", "--packet", number) for number in ("1", "2", "5", "K1")),
        *(("stats", "--all", table) for table in TABLES),
    ]
    found = {
        f"{command[0]}{' ' + command[-1] if command[0] == 'stats' else ''} {key}"
        for command in runs
        for value in _values(_run(skbviewer, *command, "--json", str(path)))
        for key in _keys(value, "")
    }
    return sorted(found)


def _values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except ValueError:  # an object a line
        return [json.loads(line) for line in text.splitlines()]


def _keys(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _keys(each, f"{place}[]")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield f"{place}.{key}".lstrip(".")
            yield from _keys(each, f"{place}.{key}".lstrip("."))


def csv_columns(path: Path) -> list[str]:
    """Return the first lines of all output as CSV."""
    runs = [("packets",), *(("stats", "--all", table) for table in TABLES)]
    heads = {
        " ".join(run): _run(skbviewer, *run, "--csv", str(path)).splitlines()[0] for run in runs
    }
    return sorted(f"{run} {column}" for run, head in heads.items() for column in head.split(","))


def filters() -> list[str]:
    """Return fields of the display filter and the words of their values; all are used at once."""
    fields = filter_fields()
    parse(" || ".join(name.partition(" ")[0] for name in fields))
    return fields
