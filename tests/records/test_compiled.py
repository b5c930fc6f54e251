# SPDX-License-Identifier: MIT
"""Compiled functions: lazily, calling each other, kept on disk, made again when they change."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.records.compiled import compiled

Ints = npt.NDArray[np.int64]
FACTOR = 3

MODULE = """
from skbviewer.records.compiled import compiled
FACTOR = {factor}
@compiled
def scaled(value):
    return value * FACTOR
@compiled
def total(values):
    made = 0
    for value in values:
        made += scaled(value)
    return made
"""
ASK = """
import sys, warnings, numpy
warnings.simplefilter("error")
import made
assert "numba" not in sys.modules
if sys.argv[1:]:  # a full disk: no file gets longer than this
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
print(made.total(numpy.arange(5)), sum(made.total.dispatcher().stats.cache_hits.values()))
"""


@compiled
def scaled(value: int) -> int:
    """Called by another one."""
    return value * FACTOR


@compiled
def total(values: Ints) -> int:
    """Calls another one."""
    made = 0
    for value in values:
        made += scaled(value)
    return made


@compiled
def ratio(a: int, b: int) -> int:
    """Fails where `b` is 0."""
    return a // b


def test_calls_another_one() -> None:
    assert total(np.arange(5)) == 30
    assert total.signatures == 1
    assert total.__doc__ == "Calls another one."


def test_errors_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        ratio(1, 0)


def _ask(folder: Path, *words: str, **env: str) -> str:
    command = [sys.executable, "-c", ASK, *words]
    made = {**os.environ, "PYTHONPATH": f"{folder}:{Path.cwd()}", **env}
    done = subprocess.run(command, cwd=folder, env=made, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_is_kept_until_something_it_uses_changes(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    assert _ask(tmp_path) == "30 0"
    assert _ask(tmp_path) == "30 1"
    stat = (tmp_path / "made.py").stat()
    (tmp_path / "made.py").write_text(MODULE.format(factor=4))
    os.utime(tmp_path / "made.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert _ask(tmp_path, PYTHONDONTWRITEBYTECODE="1", PYTHONPYCACHEPREFIX="none") == "40 0"


def test_works_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    (tmp_path / "__pycache__").write_text("no folder")
    (tmp_path / "home").write_text("no folder")
    nowhere = str(tmp_path / "home")
    assert _ask(tmp_path, HOME=nowhere, XDG_CACHE_HOME=nowhere) == "30 0"


LOADED = """
import sys
import made
try:
    made.share(1, 0)
except ValueError as error:
    print(error, sum(made.share.dispatcher().stats.cache_hits.values()), made.share(7, 2))
print([name for name in ("coverage",) if name in sys.modules])
"""
SHARE = """
import numpy
from skbviewer.records.compiled import compiled
@compiled
def checked(value):
    if value <= 0:
        raise ValueError("nothing to divide by")
    return value
@compiled
def share(whole, parts):
    return numpy.full(3, whole // checked(parts)).sum()
"""


def test_loaded_code_allocates_and_raises(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(SHARE)
    made = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    said = []
    for _ in range(2):
        command = [sys.executable, "-c", LOADED]
        said.append(subprocess.run(command, cwd=tmp_path, env=made, capture_output=True, text=True))
    assert [one.stderr for one in said] == ["", ""]
    assert said[0].stdout.startswith("nothing to divide by 0 9")
    assert said[1].stdout == "nothing to divide by 1 9\n[]\n"


@pytest.mark.parametrize("scratch", [0, 100, 5000])
def test_works_where_the_disk_is_full(tmp_path: Path, scratch: int) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    assert _ask(tmp_path, str(scratch)) == "30 0"
    assert _ask(tmp_path) == "30 0"
    assert _ask(tmp_path) == "30 1"


THREADS = """
import numpy
from concurrent.futures import ThreadPoolExecutor
import made
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(made.total, [numpy.arange(n) for n in range(4)])))
"""


def test_threads_may_make_the_first_calls(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    command = [sys.executable, "-c", THREADS]
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.stderr, done.stdout) == ("", "[0, 0, 3, 9]\n")


def test_of_two_processes_that_begin_at_once_one_compiles(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: _ask(tmp_path), range(2)))
    assert sorted(answers) == ["30 0", "30 1"]


def test_where_no_file_can_be_locked_both_compile(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    no_locks = "import fcntl\ndef flock(*_): raise OSError(37, 'No locks available')\n"
    (tmp_path / "sitecustomize.py").write_text(f"{no_locks}fcntl.flock = flock\n")
    assert [_ask(tmp_path), _ask(tmp_path)] == ["30 0", "30 1"]


def test_a_process_that_is_stopped_while_it_compiles_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "sitecustomize.py").write_text(
        "import time\nreal = time.monotonic\ntime.monotonic = lambda: 1000 * real()\n"
    )
    held = os.open(tmp_path / "__pycache__", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        done = _ask(tmp_path)
    finally:
        os.close(held)
    assert done == "30 0"


def test_a_thread_does_not_unlock_what_another_one_locked(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(MODULE.format(factor=3))
    (tmp_path / "ask.py").write_text(UNLOCKING)
    command = [sys.executable, "ask.py"]
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.stderr, done.stdout) == ("", "locked\n")


UNLOCKING = """
from threading import Event, Thread
import made
from skbviewer.records import machine_code
files = made.total.dispatcher()._cache
locked, end = Event(), Event()
def compile_slowly(_):
    files._lock()
    locked.set()
    end.wait()
first = Thread(target=machine_code._compile_alone, args=(compile_slowly, files, None))
second = Thread(target=machine_code._compile_alone, args=(lambda _: None, files, None))
first.start()
locked.wait()
second.start()
second.join(0.3)
print("unlocked" if files._locked is None else "locked")
end.set()
first.join()
second.join()
"""
