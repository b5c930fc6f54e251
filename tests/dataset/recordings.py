# SPDX-License-Identifier: MIT
"""The bundled recordings as a dataset, and as sessions to compare it with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import dask
from distributed import LocalCluster

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.dask_cluster import SETTINGS
from skbviewer.dataset.duckdb_connection import connection
from skbviewer.dataset.session_manifests import Manifest
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.lab.samples import SAMPLES

NAMES = tuple(sample.name for sample in SAMPLES)


class Both(NamedTuple):
    """A dataset of all samples, and the session of each by its id in the dataset."""

    folder: Path
    sessions: dict[str, Session]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run SQL over the dataset."""
        return rows(self.folder, sql)


def rows(dataset: Path, sql: str) -> list[tuple[Any, ...]]:
    """Run SQL over a dataset."""
    with connection(dataset) as db:
        return db.execute(sql).fetchall()


def pair(name: str) -> tuple[Path, Path]:
    """Return the log and the capture of a bundled recording."""
    sample = resource(f"samples/{name}")
    return sample / f"{name}.kbl", sample / f"{name}.pcap"


def make_both(out: Path) -> Both:
    """Add all samples to a dataset, and import each of them as a session."""
    made, sessions = out / "dataset", {}
    dataset_paths.make(made)
    for name in NAMES:
        outcome = add_pair(made, pair(name))
        assert outcome.added, outcome.error
        session = out / f"{name}.skbv"
        import_files(pair(name), session)
        sessions[outcome.session] = Session.open(session)
    return Both(made, sessions)


def only(both: Both, session: str, out: Path) -> Path:
    """Return a dataset that has one session of another one."""
    dataset_paths.make(out)
    found = {each.session: each for each in session_manifests.read_all(both.folder)}[session]
    for table in found.tables:
        for file in found.files(table):
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(both.folder / file, out / file)
    session_manifests.write(out, found)
    return out


def files_of(dataset: Path) -> set[Path]:
    """Return all files of a dataset."""
    return {path for path in dataset.rglob("*") if path.is_file()}


def named(dataset: Path) -> set[Path]:
    """Return the table files that manifests name."""
    found: list[Manifest] = session_manifests.read_all(dataset)
    return {dataset / file for each in found for table in each.tables for file in each.files(table)}


@contextmanager
def workers_here(memory_limit: int = 0) -> Iterator[str]:
    """Run two workers as threads of this process; yield the address of their scheduler.

    `memory_limit` is in bytes for each worker, 0 for none.
    """
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            memory_limit=memory_limit,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
    ):
        yield cluster.scheduler_address
