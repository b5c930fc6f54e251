# SPDX-License-Identifier: MIT
"""`make check` runs what needs neither root, network nor a guest: marks and slow files."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.cpu_seconds import table
from tests.marks import MORE_THAN_CHECK, SLOW_CPU_S, SLOW_TABLE, imported, marks, slow_files

from .tree import ROOT, project_files

NOTHING = pytest.ExitCode.NO_TESTS_COLLECTED
MAKEFILE = (ROOT / "Makefile").read_text()


def test_no_selected_test_uses_what_boots_or_downloads(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        has = {mark.name for mark in item.iter_markers()}
        assert marks(item) <= has
        if not has & set(MORE_THAN_CHECK):
            path = item.nodeid.partition("::")[0]
            assert not path.startswith("tests/lab/")
            fixtures = getattr(item, "fixturenames", ())
            assert not {"lab", "hosts", "lab_recording"} & set(fixtures)
            assert not {"tests.kmod.headers", "tests.lab.guest"} & imported(path)


def test_what_is_not_of_the_lab_does_not_download() -> None:
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m"]
    files = ["tests/kmod/test_builds.py", "tests/project/test_wheel.py"]
    for mark, code in (("net", pytest.ExitCode.OK), ("net and not lab", NOTHING)):
        done = subprocess.run([*collect, mark, *files], cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == code


def test_make_check_selects_by_these_marks() -> None:
    assert f"CHECK := {' and '.join(f'not {mark}' for mark in MORE_THAN_CHECK)}\n" in MAKEFILE
    assert "-m '$(CHECK) and not slow'" in MAKEFILE


def test_slow_files_are_there() -> None:
    assert slow_files().keys() <= set(project_files())
    lines = [line for line in SLOW_TABLE.read_text().splitlines() if not line.startswith("#")]
    assert all(int(line.split()[1]) >= SLOW_CPU_S for line in lines)


def test_files_that_are_not_measured_keep_their_lines() -> None:
    known = "# about\ntests/marks.py 3\ntests/gone.py 9\ntests/conftest.py ?\n"
    slow, quick = table(known, {"tests/conftest.py": 4.2}), {"tests/marks.py": 0.6}
    assert slow == "tests/conftest.py 4\ntests/marks.py 3\n"
    assert table(slow, quick) == "tests/conftest.py 4\n"


def test_contributing_names_the_packages_of_make_check() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for listed in ("tests/check-packages.txt", "resources/qt-packages.txt"):
        lines = (ROOT / listed).read_text().splitlines()
        packages = {line for line in lines if line and not line.startswith("#")}
        assert packages and packages <= set(text.split())


def test_documents_name_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        named = re.findall(r"(?:`|^ {4})make ([a-z][a-z-]*)\b", (ROOT / document).read_text(), re.M)
        assert set(named) <= targets
