# SPDX-License-Identifier: MIT
"""`make check` runs what needs neither root, network nor a guest: marks, guard, slow files."""

from __future__ import annotations

import re
import socket
import subprocess
import sys

import pytest

from tests.guard import GUARD, Refused, guarded
from tests.marks import MORE_THAN_CHECK, SLOW_CPU_S, SLOW_TABLE, imported, marks, slow_files

from .tree import ROOT, project_files

MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(
    "command",
    [["apt-get", "--version"], ["/usr/bin/sudo", "-n", "true"], ["qemu-system-x86_64"]]
    + [[sys.executable, "-m", "pip", "--version"], ["mount"]],
    ids=lambda command: str(command[-1]),
)
def test_a_test_without_mark_starts_no_such_program(command: list[str]) -> None:
    with pytest.raises(Refused):
        subprocess.run(command, check=False)


def test_a_test_without_mark_connects_to_no_other_host() -> None:
    with socket.socket() as sock, pytest.raises(Refused):
        sock.connect(("192.0.2.1", 9))
    with socket.socket() as sock, pytest.raises(OSError):
        sock.connect(("127.0.0.1", 9))


def test_guard_permits_what_a_marked_test_does() -> None:
    with guarded(False):
        GUARD("subprocess.Popen", ("apt-get", ["apt-get", "--version"], None, None))
    with guarded(True), pytest.raises(Refused):
        GUARD("subprocess.Popen", ("apt-get", ["apt-get", "--version"], None, None))


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


def test_make_check_selects_by_these_marks() -> None:
    assert f"CHECK := {' and '.join(f'not {mark}' for mark in MORE_THAN_CHECK)}\n" in MAKEFILE
    assert "-m '$(CHECK) and not slow'" in MAKEFILE


def test_slow_files_are_there() -> None:
    assert slow_files() <= set(project_files())
    numbers = re.findall(r" (\d+)$", SLOW_TABLE.read_text(), re.MULTILINE)
    assert all(int(number) >= SLOW_CPU_S for number in numbers)


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
