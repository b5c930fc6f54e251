# SPDX-License-Identifier: MIT
"""Run commands without a process for each, which takes one to two seconds to start.

python -m tests.cli.commands JSON    runs a list of commands; prints what each returned
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from skbviewer.cli import main


class Done(NamedTuple):
    """What a command returned and wrote."""

    returncode: int
    output: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        """The output as text."""
        return self.output.decode()


def run(words: Sequence[str]) -> Done:
    """Run a command in this process; `words` are those after ``skbviewer``."""
    out, errors = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            code = main(words)
        except SystemExit as error:  # argparse
            code = int(error.code or 0)
    buffer = out.detach()
    assert isinstance(buffer, io.BytesIO)
    return Done(code, buffer.getvalue(), errors.getvalue())


def wait_for_threads(process: int, count: int) -> None:
    """Wait until a process has `count` threads."""
    for _ in range(600):
        if len(os.listdir(f"/proc/{process}/task")) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the query did not begin")


def run_apart(
    commands: Sequence[Sequence[str]],
    environment: dict[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> list[Done]:
    """Run commands one after the other in another process, which first calls `prepare`."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.cli.commands", json.dumps(commands)],
        env=environment or dict(os.environ),
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return [Done(code, bytes.fromhex(out), said) for code, out, said in json.loads(made.stdout)]


if __name__ == "__main__":
    answers = [run(words) for words in json.loads(sys.argv[1])]
    print(json.dumps([(done.returncode, done.output.hex(), done.stderr) for done in answers]))
