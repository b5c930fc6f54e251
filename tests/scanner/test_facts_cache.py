# SPDX-License-Identifier: MIT
"""The cache of facts and tables is used only with the code that made it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scanner import facts_cache


def test_the_key_changes_with_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = shutil.copytree(Path(facts_cache.__file__).parent, tmp_path / "scanner")
    monkeypatch.setattr(facts_cache, "__file__", str(folder / "facts_cache.py"))
    keys = [facts_cache.scanner_key()]
    for name in ("facts.py", "parse/tree_sitter_definitions.py", "source/macro_replacement.py"):
        with (folder / name).open("a") as file:
            file.write("# changed\n")
        keys.append(facts_cache.scanner_key())
    assert len(set(keys)) == len(keys)
    before = facts_cache.scanner_key(every=True)
    with (folder / "tables" / "direct_functions.py").open("a") as file:
        file.write("# changed\n")
    assert facts_cache.scanner_key() == keys[-1]
    assert facts_cache.scanner_key(every=True) != before
