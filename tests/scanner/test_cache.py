# SPDX-License-Identifier: MIT
"""The cache of facts and tables is used only with the code that made it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scanner import cache


def test_the_key_changes_with_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = shutil.copytree(Path(cache.__file__).parent, tmp_path / "scanner")
    monkeypatch.setattr(cache, "__file__", str(folder / "cache.py"))
    keys = [cache.scanner_key()]
    for name in ("facts.py", "parse/islands.py", "source/normalise.py"):
        with (folder / name).open("a") as file:
            file.write("# changed\n")
        keys.append(cache.scanner_key())
    assert len(set(keys)) == len(keys)
    before = cache.scanner_key(every=True)
    with (folder / "tables" / "direct.py").open("a") as file:
        file.write("# changed\n")
    assert cache.scanner_key() == keys[-1]
    assert cache.scanner_key(every=True) != before
