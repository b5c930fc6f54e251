# SPDX-License-Identifier: MIT
"""Events of the hardware counter in a call itself: those of the calls inside it do not count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.stats.call_stacks import StackTree
from skbviewer.records import resource
from skbviewer.session import open_files

from .counted_log import CORE, LIST, counted_log


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: the log has the form of one."""


def stacks(log: Path, chosen: Chosen | None = None) -> StackTree:
    return open_files([log]).graphs.stacks(chosen or Chosen())


def counted(tree: StackTree) -> dict[str, int]:
    function = [tree.names[at] for at in tree.function.tolist()]
    return {name: n for name, n in zip(function, tree.counted.tolist(), strict=True) if n}


def test_the_calls_of_all_packets_are_inside(tmp_path: Path) -> None:
    """The list's call counts once, and the calls inside it are in the paths of two packets."""
    tree = stacks(counted_log(tmp_path / "a.kbl", 100, 300))
    assert tree.counter == "cycles"
    assert counted(tree) == {LIST: 600, CORE: 400}


def test_a_count_that_is_not_known(tmp_path: Path) -> None:
    """Nobody knows how many of the list's events were in the call that migrated."""
    assert counted(stacks(counted_log(tmp_path / "a.kbl", 100, -1))) == {CORE: 100}


def test_counts_that_do_not_fit(tmp_path: Path) -> None:
    assert counted(stacks(counted_log(tmp_path / "a.kbl", 700, 400))) == {CORE: 1100}


@pytest.mark.parametrize("name", ["", "off"])
def test_a_log_that_names_no_event(name: str, tmp_path: Path) -> None:
    tree = stacks(counted_log(tmp_path / "a.kbl", 100, 300, name))
    assert (tree.counter, counted(tree)) == ("", {})


def test_no_counter_ran() -> None:
    tree = stacks(resource("samples/bulk") / "bulk.kbl")
    assert tree.counter == "" and not tree.counted.any()


def test_no_calls(tmp_path: Path) -> None:
    nothing = Chosen(np.zeros(0, np.int64))
    assert stacks(counted_log(tmp_path / "a.kbl", 1, 2), nothing).counter == ""
