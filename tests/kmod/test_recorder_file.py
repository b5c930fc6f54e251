# SPDX-License-Identifier: MIT
"""What kblrecord puts on a disk: checksums, padding, a full disk, wrong arguments."""

from __future__ import annotations

import stat
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers import _kbl_layout as layout

KMOD = Path(__file__).resolve().parents[2] / "kmod"
HARNESS = r"""
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "rec.h"

/* harness OUT CHUNKS [LIMIT]: a header, then META chunks of 13 bytes. */
int main(int argc, char **argv)
{
	struct kbl_file_header header = { .magic = KBL_MAGIC, .header_len = sizeof(header) };
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct rec_file file = {};

	signal(SIGXFSZ, SIG_IGN);
	if (argc > 3)
		limit.rlim_cur = atoi(argv[3]);
	setrlimit(RLIMIT_FSIZE, &limit);
	rec_open(&file, argv[1], &header);
	for (int i = atoi(argv[2]); i > 0; i--)
		rec_table(&file, KBL_CHUNK_META, "thirteen=yes\n", 1, 13);
	return 0;
}
"""
HEADER = layout.KBL_FILE_HEADER_SIZE
CHUNK = layout.KBL_CHUNK_HEADER_SIZE + 16


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program over rec_file.c."""
    folder = tmp_path_factory.mktemp("harness")
    source, program = folder / "harness.c", folder / "harness"
    source.write_text(HARNESS)
    command = ["cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{KMOD}", "-o"]
    subprocess.run([*command, program, source, KMOD / "rec_file.c"], check=True)
    return program


@pytest.fixture(scope="module")
def kblrecord(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorder, built for this machine."""
    program = tmp_path_factory.mktemp("kblrecord") / "kblrecord"
    command = ["cc", "-D_GNU_SOURCE", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o"]
    sources = [KMOD / "kblrecord.c", *sorted(KMOD.glob("rec_*.c"))]
    subprocess.run([*command, program, *sources], check=True)
    return program


def run(*command: str | Path | int) -> subprocess.CompletedProcess[str]:
    """Run and catch what it says."""
    line = [str(word) for word in command]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_chunks_are_padded_numbered_and_checked(harness: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.kbl"
    assert run(harness, out, 2).returncode == 0
    raw = out.read_bytes()
    assert len(raw) == HEADER + 2 * CHUNK
    for number in range(2):
        at = HEADER + number * CHUNK
        chunk = np.frombuffer(raw, layout.KBL_CHUNK_HEADER, 1, at)[0]
        payload = raw[at + layout.KBL_CHUNK_HEADER_SIZE :][:16]
        assert payload == b"thirteen=yes\n\0\0\0"
        assert (chunk["seq"], chunk["payload_len"], chunk["cpu"]) == (number, 16, 0xFFFF)
        assert chunk["crc32"] == zlib.crc32(payload)
        assert chunk["header_crc32"] == zlib.crc32(raw[at : at + 44])


def test_file_is_private_even_over_an_old_one(harness: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.kbl"
    out.write_text("old")
    out.chmod(0o644)
    run(harness, out, 0)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert out.stat().st_size == HEADER


@pytest.mark.parametrize("spare", [0, 1, layout.KBL_CHUNK_HEADER_SIZE, CHUNK - 1])
def test_full_disk_keeps_whole_chunks(harness: Path, tmp_path: Path, spare: int) -> None:
    out = tmp_path / "a.kbl"
    done = run(harness, out, 9, HEADER + 3 * CHUNK + spare)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{out}: File too large; the {HEADER + 3 * CHUNK} bytes before are kept" in done.stderr
    assert out.stat().st_size == HEADER + 3 * CHUNK


def test_missing_folder_is_one_line(harness: Path, tmp_path: Path) -> None:
    done = run(harness, tmp_path / "no/a.kbl", 1)
    assert done.returncode == 1
    assert done.stderr == f"kblrecord: {tmp_path}/no/a.kbl: No such file or directory\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["-w"], ["-x"], ["-l", "-w", "a"], ["-w", "a", "-c", "many"], ["-w", "a", "more"]],
)
def test_wrong_arguments_show_the_usage(kblrecord: Path, arguments: list[str]) -> None:
    done = run(kblrecord, *arguments)
    assert done.returncode == 2
    assert "usage: kblrecord -w OUT.kbl" in done.stderr
