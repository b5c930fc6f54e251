# SPDX-License-Identifier: MIT
"""What a user installs: a wheel that carries its resources and works from any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

from .tree import ROOT

SAMPLE = ROOT / "resources" / "samples" / "handshake"
# Runs a module with Qt banished, and fails if something imported it nevertheless.
WITHOUT_QT = """
import runpy, sys
class Banish:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6", "pyqtgraph"):
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Banish())
sys.argv[0:1] = []
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(out), str(ROOT)])
    (path,) = out.glob("skbviewer-*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel; dependencies are this one's."""
    folder = tmp_path_factory.mktemp("venv")
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    (packages,) = folder.glob("lib/python*/site-packages")
    (borrowed,) = Path(sys.prefix).glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{borrowed}\n")
    _run([sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
         + ["install", "--quiet", "--no-deps", "--no-index", str(wheel)])  # fmt: skip
    return folder / "bin" / "python"


def _run(
    command: list[str], cwd: Path | None = None, expect: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def test_wheel_carries_resources_and_licences(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "layers.json",
        "samples/handshake/handshake.kbl",
        "samples/handshake/handshake.pcap",
    ):
        assert f"skbviewer/_resources/{name}" in names
    assert {"scanner/_runtime/kbl_probe.h", "scanner/_runtime/kbl_probe.c"} <= set(names)
    assert sum(name.endswith(("MIT.txt", "GPL-2.0-only.txt")) for name in names) == 2
    assert not [name for name in names if name.startswith(("tests/", "resources/", "kmod/"))]


def test_resources_are_the_installed_ones(python: Path, tmp_path: Path) -> None:
    code = "from skbviewer.records import resource; print(resource('layers.json'))"
    found = Path(_run([str(python), "-c", code], cwd=tmp_path).stdout.strip())
    assert found.is_relative_to(python.parents[1])
    assert found.read_bytes() == (ROOT / "resources" / "layers.json").read_bytes()


def test_command_works_from_any_folder(python: Path, tmp_path: Path) -> None:
    for command in ([str(python.with_name("skbviewer"))], [str(python), "-m", "skbviewer"]):
        assert "import" in _run([*command, "--help"], cwd=tmp_path).stdout


def test_headless_commands_do_without_qt(python: Path, tmp_path: Path) -> None:
    """The loops run as Python: in a new environment, to compile them takes minutes."""
    run = partial(_run, cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    skbviewer = [str(python), "-c", WITHOUT_QT, "skbviewer"]
    files = [str(SAMPLE / "handshake.kbl"), str(SAMPLE / "handshake.pcap")]
    run([*skbviewer, "import", "-o", "s.skbv", *files])
    info = json.loads(run([*skbviewer, "info", "s.skbv", "--json"]).stdout)
    assert info["packets"] > 0 and info["calls"] > 0
    run([*skbviewer, "path", "s.skbv", "--packet", "1", "--tree"])
    run([*skbviewer, "export", "s.skbv", "--packet", "1", "--csv", "s.csv"])
    assert (tmp_path / "s.csv").read_text().count("\n") > 1


def test_scanner_runs_from_the_wheel(python: Path, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("struct sk_buff;\nint f(struct sk_buff *skb) { return 0; }\n")
    command = [str(python.with_name("skbscan")), "tables", ".", "direct", "--no-cache", "-q"]
    done = _run(command, cwd=tmp_path, expect=1)
    assert "a.c:2" in done.stdout
    assert "struct sk_buff is not defined" in done.stderr
