# SPDX-License-Identifier: MIT
"""Files are named after what they hold, and tests mirror the packages."""

from __future__ import annotations

from pathlib import PurePosixPath

from .tree import ROOT, project_files

DUMPS = {"util", "utils", "helper", "helpers", "common", "manager", "misc", "tools"}


def test_no_file_is_named_after_nothing() -> None:
    named = [name for name in project_files() if DUMPS & set(_words(name))]
    assert not named, f"name the thing: {named}"


def _words(name: str) -> list[str]:
    return [
        word
        for part in PurePosixPath(name).parts
        for word in part.split(".")[0].lower().replace("-", "_").split("_")
    ]


def test_no_file_is_a_megafile() -> None:
    long = {
        name: lines
        for name in project_files()
        if name.endswith((".py", ".c", ".h"))
        and name != "kmod/kbl.h"  # one truth, in one file
        and not name.startswith("tests/scanner/trees/")  # input, beside its expected tables
        and "Generated from" not in (text := (ROOT / name).read_text())
        and (lines := text.count("\n")) > 400
    }
    assert not long, f"split by stage: {long}"


def test_every_package_has_its_tests() -> None:
    files = project_files()
    packages = {name.split("/")[1] for name in files if _is_package(name)}
    tested = {name.split("/")[1] for name in files if name.startswith("tests/")}
    assert packages and not packages - tested


def _is_package(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) > 2 and parts[0] == "skbviewer" and parts[-1].endswith(".py")
