# SPDX-License-Identifier: MIT
"""The real speedscope shows exported stacks, in Debian's Chromium without a display.

SPEEDSCOPE names the folder of the npm package; `make interop` installs it.
"""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from skbviewer.export import Request, write_speedscope
from skbviewer.session import Session
from tests.e2e.samples import NAMES, open_sample

FOLDER = Path(os.environ.get("SPEEDSCOPE", "build/npm/node_modules/speedscope"))
CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--enable-unsafe-swiftshader",
    "--allow-file-access-from-files", "--virtual-time-budget=8000", "--dump-dom",
)  # fmt: skip
VIEWS = ("Time Order", "Left Heavy", "Sandwich")  # what it offers beside a profile, not without


def shown(profile: bytes, folder: Path) -> str:
    """Return the page after speedscope has read a profile; "" if it never finishes.

    speedscope's own command passes a file in the same way.
    """
    text = base64.b64encode(profile).decode()
    script = folder / "profile.js"
    script.write_text(f'speedscope.loadFileFromBase64("exported.json", "{text}")')
    page = (FOLDER / "dist/release/index.html").absolute().as_uri()
    words = [*CHROMIUM, f"--user-data-dir={folder / 'chromium'}"]
    try:
        done = subprocess.run(
            [*words, f"{page}#localProfilePath={script}"],
            capture_output=True, text=True, timeout=60, check=True,
            env=os.environ | {"HOME": str(folder)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:  # a message box of speedscope waits for an answer
        return ""
    return done.stdout


def profile(session: Session, out: Path) -> bytes:
    write_speedscope(session, Request(), out)
    return out.read_bytes()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ("handshake", *NAMES))
def test_speedscope_shows_the_profile(name: str, tmp_path: Path) -> None:
    session = open_sample(name, tmp_path)[0]
    page = shown(profile(session, tmp_path / "out.json"), tmp_path)
    assert f"<title>{session.file.name}: all packets - speedscope</title>" in page
    assert all(view in page for view in VIEWS)


@pytest.mark.timeout(300)
def test_speedscope_shows_no_broken_profile(tmp_path: Path) -> None:
    page = shown(b'{"$schema": "none", "profiles": []}', tmp_path)
    assert "all packets - speedscope" not in page
    assert not any(view in page for view in VIEWS)
