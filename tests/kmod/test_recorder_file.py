# SPDX-License-Identifier: MIT
"""Test the files that kblrecord writes: checksums, padding, a full disk, bad arguments."""

from __future__ import annotations

import re
import stat
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import KMOD, built, compile_c

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
	rec_file_open(&file, argv[1], &header);
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
    parts = [KMOD / f"rec_{name}.c" for name in ("file", "bytes", "direct")]
    sources = [source, *parts, *KMOD.glob("rec_crc*.c")]
    return compile_c(program, *sources)


def run(*command: str | Path | int) -> subprocess.CompletedProcess[str]:
    """Run kblrecord and capture its output."""
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
    ("arguments", "says"),
    [
        (["-w"], "unknown option"),
        (["-x"], "unknown option"),
        (["-l", "-w", "a"], "cannot be used together"),
        (["-w", "a", "-c", "many"], "-c: 'many' is not a whole number above 0"),
        (["-w", "a", "-c", "0"], "-c: '0' is not a whole number above 0"),
        (["-w", "a", "--duration", "-1"], "--duration: '-1' is not a number above 0"),
        (["-C", "1"], "-C, -G and -W need -w"),
        (["-w", "-", "-C", "1"], "need files"),
        (["--code"], "--code needs -w"),
        (["--sample", "2", "--sample-packets", "2"], "exclude one another"),
        (["--sample-packets", "0"], "--sample-packets takes a number N above 0"),
        (["-w", "a", "-W", "3"], "-W needs -C"),
        (["-w", "a", "-C", "1e-7"], "-C takes at least 0.262144"),
        (["-r", "a", "host", "x"], "-r takes no filter"),
        (["-r", "a", "--duration", "3"], "--duration cannot be used with -r"),
        (["-r", "a", "--no-life"], "--no-life cannot be used with -r"),
        (["-r", "a", "-C", "1"], "-C cannot be used with -r"),
        (["-r", "a", "--stats", "-v"], "-t and -v have no effect"),
        (["-l", "-c", "3"], "-c cannot be used with -l"),
        (["-D", "--stats"], "--stats cannot be used with -l"),
        (["-l", "tcp"], "-l takes no filter"),
        (["-w", "a", "-tt"], "-t and -v have no effect with -w, which shows no text"),
        (["-w", "a", "-v"], "-t and -v have no effect with -w, which shows no text"),
        (["--stats", "-t"], "-t and -v have no effect with --stats, which shows no text"),
        (["--stats", "-U"], "with --stats, -U needs -w"),
        (["--no-life"], "--no-life needs -f"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(arguments: list[str], says: str) -> None:
    done = run(built() / "kblrecord", *arguments)
    assert done.returncode == 2
    assert says in done.stderr.splitlines()[0]
    assert "usage: kblrecord [-w FILE]" in done.stderr


def test_options_are_read_before_the_recording(tmp_path: Path) -> None:
    """Options with an effect pass; the recorder then fails for another reason."""
    gone = tmp_path / "gone.kbl"
    for arguments in (["-c", "3", "-tt", "-U", "-v"], ["-c", "3", "--stats"]):
        done = run(built() / "kblrecord", "-r", gone, *arguments)
        assert (done.returncode, done.stderr) == (
            1,
            f"kblrecord: {gone}: No such file or directory\n",
        )


def test_help_names_every_option() -> None:
    done = run(built() / "kblrecord", "--help")
    assert done.returncode == 0
    source = (KMOD / "rec_options.c").read_text()
    letters = re.search(r'getopt_long\(argc, argv, "([^"]*)"', source)
    assert letters is not None
    shown = set(letters[1].replace(":", "")) - set("hV")
    longs = set(re.findall(r'\{ "([a-z-]+)", (?:required|no)_', source)) - {"help", "version"}
    assert len(shown) > 10
    assert {f"-{x}" for x in shown} | {f"--{x}" for x in longs} <= set(
        re.findall(r"--?[A-Za-z-]+", done.stdout)
    )
