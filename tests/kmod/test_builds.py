# SPDX-License-Identifier: MIT
"""The module builds for what CI cannot boot too: arm64, and kernels with PREEMPT_RT."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kmod.headers import VARIANTS, Variant, fetch, run

TOP = Path(__file__).resolve().parents[2]
KMOD = TOP / "kmod"
CACHE = TOP / "build/headers"
IGNORED = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*", "kblrecord")

Built = tuple[Path, Path, str]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: v.meta)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """kbl.ko, its kernel's headers, and all that make said."""
    variant: Variant = request.param
    kdir = fetch(variant, CACHE)
    copy = tmp_path_factory.mktemp(variant.meta) / "kmod"
    shutil.copytree(KMOD, copy, ignore=IGNORED)
    make = ["make", "-j2", "-C", str(copy), f"KDIR={kdir}", *variant.make_arguments()]
    # No types of the module's own: they would need pahole.
    make += ["module", "W=1", "CONFIG_DEBUG_INFO_BTF_MODULES="]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return copy / "kbl.ko", kdir, said


def test_builds_without_a_warning(built: Built) -> None:
    warnings = [line for line in built[2].splitlines() if "warning:" in line.lower()]
    # Said by the kernel's Makefile of any module where gcc had a later security update.
    assert [w for w in warnings if "the compiler differs" not in w] == []


def test_needs_only_what_the_kernel_exports(built: Built) -> None:
    module, kdir, _ = built
    undefined = set(re.findall(r" U (\S+)", run("nm", "--undefined-only", str(module))))
    table = (kdir / "Module.symvers").read_text().splitlines()
    exported = {line.split("\t")[1] for line in table}
    assert len(undefined) > 20
    assert undefined - exported == set()


def test_is_for_the_architecture(built: Built) -> None:
    module, kdir, _ = built
    machine = re.search(r"Machine: +(.*)", run("readelf", "-h", str(module)))
    assert machine is not None
    assert ("AArch64" in machine[1]) == kdir.name.endswith("-arm64")
