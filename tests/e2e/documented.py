# SPDX-License-Identifier: MIT
"""The commands in docs/recordings.md: run them, and update their outputs in the page.

python -m tests.e2e.documented      write the outputs in the document as they are now
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from pathlib import Path

from skbviewer.cli import main
from tests.kept_archives import unpack

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "recordings.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
SESSIONS = "build/"  # where the document's commands put sessions, and where it unpacks ARCHIVE
ARCHIVE = ROOT / "tests/instructions/recorded/touched-6.12.tar.xz"


def answers(text: str, folder: Path) -> str:
    """Return the document with what its commands print now; sessions are made in `folder`."""
    unpack(ARCHIVE, folder)
    return BLOCK.sub(lambda block: f"```console\n{_block(block[1], folder)}```", text)


def _block(body: str, folder: Path) -> str:
    commands = [line for line in body.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{_run(command[2:], folder)}" for command in commands)


def _run(command: str, folder: Path) -> str:
    words = [
        word.replace(SESSIONS, f"{folder}/").replace("resources/", f"{ROOT}/resources/")
        for word in shlex.split(command)
    ]
    assert words[0] == "skbviewer", command
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(words[1:])
    assert code == 0, f"{command} ended with {code}"
    return out.getvalue()


def write() -> None:
    """Put the outputs of now into the document."""
    with tempfile.TemporaryDirectory() as folder:
        DOCUMENT.write_text(answers(DOCUMENT.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    write()
