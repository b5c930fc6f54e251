# SPDX-License-Identifier: MIT
"""Resources are found in the tree; what is not there is said to be missing."""

from __future__ import annotations

import pytest

from skbviewer.records import resource


def test_finds_a_file() -> None:
    assert resource("layers.json").is_file()


def test_says_what_is_missing() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-resource"):
        resource("no-such-resource")
