# SPDX-License-Identifier: MIT
"""The module builds for kernels that the lab does not boot: arm64, and those with PREEMPT_RT.

tests/lab/test_lab.py asks the same of the modules that the lab boots.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kmod.built_module import not_exported, warnings
from tests.kmod.headers import VARIANTS, Variant, fetch, run

TOP = Path(__file__).resolve().parents[2]
KMOD = TOP / "kmod"
CACHE = TOP / "build/headers"
IGNORED = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*", "kblrecord")

Built = tuple[Path, Path, str]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: v.meta)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build and return kbl.ko, with its kernel's headers and make's output."""
    variant: Variant = request.param
    kdir = fetch(variant, CACHE)
    copy = tmp_path_factory.mktemp(variant.meta) / "kmod"
    shutil.copytree(KMOD, copy, ignore=IGNORED)
    make = ["make", "-j2", "-C", str(copy), f"KDIR={kdir}", *variant.make_arguments()]
    # No debugging information: an eighth of the time, and types would need pahole.
    make += ["module", "W=1", "CONFIG_DEBUG_INFO="]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return copy / "kbl.ko", kdir, said


def test_builds_without_a_warning(built: Built) -> None:
    assert warnings(built[2]) == []


def test_needs_only_what_the_kernel_exports(built: Built) -> None:
    module, kdir, _ = built
    assert not_exported(module, kdir) == set()


def test_is_for_the_architecture(built: Built) -> None:
    module, kdir, _ = built
    machine = re.search(r"Machine: +(.*)", run("readelf", "-h", str(module)))
    assert machine is not None
    assert ("AArch64" in machine[1]) == kdir.name.endswith("-arm64")
