# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from weakref import ref

import pytest

from skbviewer.cli.program_start import importing


class Owner:
    """An object that refers to itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_no_thread_is_started_before_there_is_work() -> None:
    """Threads for numpy's algebra would spin: a tenth of a second of CPU for each command."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    words = "import os, skbviewer.cli, numpy; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run(
        [sys.executable, "-c", words], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"


def test_the_second_command_of_a_process_keeps_nothing_of_the_first() -> None:
    with importing():
        pass
    left = ref(Owner())
    with importing():
        pass
    gc.collect()
    assert left() is None


SLOW = """
import signal, sys, time, types
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
from skbviewer.cli import main as _
from skbviewer.cli.main import COMMANDS, main
from skbviewer.export.atomic_write import written_file

def write(_):
    with written_file(Path(sys.argv[2])) as file:
        file.write(b"half")
        print("begun", flush=True)
        time.sleep(60)

def add(commands):
    parser = commands.add_parser("slow")
    parser.add_argument("files", nargs=1)
    parser.set_defaults(run=write)

sys.modules["skbviewer.cli.slow"] = types.SimpleNamespace(add=add)
COMMANDS["slow"] = "slow"
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_part_of_a_file(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLOW, "slow", str(tmp_path / "out.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []
