# SPDX-License-Identifier: MIT
"""kblrecord's checksums are zlib's, whichever instructions compute them."""

from __future__ import annotations

import random
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.kmod.recorder import KMOD, compile_c

HARNESS = r"""
#include <string.h>
#include "rec.h"

static char data[1 << 20];

/* Blocks "LENGTH\n" and that many bytes on stdin; their checksums by each means on stdout. */
int main(int argc, char **argv)
{
	unsigned int len;

	(void)argc;
	while (scanf("%u", &len) == 1 && getchar() == '\n' && fread(data, 1, len, stdin) == len) {
		const unsigned char *p = (const void *)data;
		kbl_u32 crc = ~0u;

		if (!strcmp(argv[1], "best"))
			crc = ~rec_crc32(p, len);
		else if (!strcmp(argv[1], "table"))
			crc = rec_crc_table(crc, p, len);
		else if (!strcmp(argv[1], "x86") && rec_crc_x86_able())
			crc = rec_crc_x86(crc, p, len);
		else if (!strcmp(argv[1], "arm64") && rec_crc_arm64_able())
			crc = rec_crc_arm64(crc, p, len);
		else
			return 3;
		printf("%u\n", ~crc);
	}
	return 0;
}
"""
RUNS = [
    ("cc", "", "best"),
    ("cc", "", "table"),
    ("cc", "qemu-x86_64 -cpu max", "x86"),
    ("cc", "qemu-x86_64 -cpu max,vpclmulqdq=off", "x86"),
    ("cc", "qemu-x86_64 -cpu qemu64", "best"),
    ("aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu cortex-a57", "arm64"),
    ("aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu cortex-a57", "best"),
    ("s390x-linux-gnu-gcc", "qemu-s390x", "best"),
]


def blocks() -> list[bytes]:
    """Every length about the borders of the folding loops, and a few long ones."""
    source = random.Random(7)
    lengths = [*range(300), 511, 512, 513, 1024, 4095, 65536, 65537, 1_000_003]
    return [source.randbytes(length) for length in lengths]


@pytest.mark.parametrize(("compiler", "machine", "means"), RUNS)
def test_checksum_is_zlibs(compiler: str, machine: str, means: str, tmp_path: Path) -> None:
    source, program = tmp_path / "harness.c", tmp_path / "harness"
    source.write_text(HARNESS)
    sources = [source, *sorted(KMOD.glob("rec_crc*.c"))]
    compile_c(program, "-static", *sources, compiler=compiler)
    sent = blocks()
    stream = b"".join(b"%d\n%b" % (len(block), block) for block in sent)
    run = [*machine.split(), str(program), means]
    done = subprocess.run(run, input=stream, capture_output=True, check=True)
    assert [int(n) for n in done.stdout.split()] == [zlib.crc32(block) for block in sent]
