# SPDX-License-Identifier: MIT
"""Sessions made by a checkout of the program, in a process of their own.

A process imports many sessions, because loading the compiled loops takes seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType

CHILD = """
import json, sys, traceback
from pathlib import Path
from skbviewer.session import import_files
for line in sys.stdin:
    out, files = json.loads(line)
    try:
        import_files([Path(file) for file in files], Path(out))
        print("done", flush=True)
    except Exception:
        print(json.dumps(traceback.format_exc()), flush=True)
"""


class NoSession(Exception):
    """The program could not make a session; its traceback."""


class SessionMaker:
    """A running program of a checkout's folder; a context, which ends it."""

    def __init__(self, checkout: Path) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> SessionMaker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child.stdin:
            self._child.stdin.close()
        self._child.wait()
        if self._child.stdout:
            self._child.stdout.close()

    def make(self, out: Path, files: list[Path]) -> None:
        """Import files into a session; raises NoSession."""
        assert self._child.stdin and self._child.stdout
        job = [str(out.absolute()), [str(file.absolute()) for file in files]]
        self._child.stdin.write(json.dumps(job) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline().strip()
        if answer != "done":
            raise NoSession(json.loads(answer) if answer else "the program ended")
