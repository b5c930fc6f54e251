# SPDX-License-Identifier: MIT
"""Names that users depend on stay as they are: in files, commands and interfaces."""

from __future__ import annotations

import pytest

from .frozen_names import Names, collect, read

GOLDEN = read()


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Names:
    return collect(tmp_path_factory.mktemp("frozen"))


def test_all_kinds_of_names_are_frozen(names: Names) -> None:
    assert set(GOLDEN) == set(names)
    assert all(len(found) >= 5 for found in GOLDEN.values()), "a collector finds too little"


@pytest.mark.timeout(900)  # the first import compiles
@pytest.mark.parametrize("what", GOLDEN)
def test_no_name_changes(what: str, names: Names) -> None:
    gone = sorted(set(GOLDEN[what]) - set(names[what]))
    assert not gone, f"{what}: users depend on these names: {gone}"
    new = sorted(set(names[what]) - set(GOLDEN[what]))
    assert not new, f"{what}: run `python -m tests.project.frozen_names` to add {new}"
