# SPDX-License-Identifier: MIT
"""From nothing to a recording: kernel, module, lists of functions, initramfs, guest."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab import debs, guest, initramfs

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
KMOD = TOP / "kmod"
MAKE_OUTPUT = "make.txt"
SOME = 500  # functions of the middle list
PROBED_MODULES = ("veth", "nf_conntrack", "nf_nat", "sch_netem", "ip_tables", "sctp")


class Built(NamedTuple):
    """All that a guest of one kernel takes with it."""

    kernel: debs.Kernel
    folder: Path
    kmod: Path  # the copy of kmod/ with kbl.ko and kblrecord
    kbltest: Path  # kbltest.ko
    programs: list[Path]
    lists: dict[str, Path]  # for kblrecord -f, see build_probes()


class Recording(NamedTuple):
    """What one run of the guest left behind."""

    kbl: Path
    pcap: Path
    counted: Path  # a KBL ended by -c 8
    lossy: Path  # a KBL whose reader was held up
    hidden: Path  # what kblrecord says where kernel addresses are hidden
    only: Path  # a KBL while others tried to read the same buffers
    race: Path  # a KBL of one of two recorders begun at once
    console: Path
    built: Path  # the copy of kmod/ with kbl.ko and kblrecord
    probes: Path  # the probe list made for this kernel


def copy_sources(source: Path, target: Path) -> Path:
    """Copy a folder of C sources without what a build left there; returns the copy."""
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", ".*", "kblrecord")
    shutil.copytree(source, target, ignore=ignored)
    return target


def build_module(kernel: debs.Kernel, folder: Path) -> Path:
    """Build kbl.ko and a static kblrecord in a copy of kmod/; returns the copy.

    What make printed about the module is in MAKE_OUTPUT there.  The module has no debugging
    information: a guest would need a fifth of its time to load that again and again.
    """
    copy = copy_sources(KMOD, folder / "kmod")
    make = ["make", "-C", str(copy), f"KDIR={kernel.headers}", "CC=gcc-12", "CONFIG_DEBUG_INFO="]
    (copy / MAKE_OUTPUT).write_text(debs.said(*make, "module", "W=1"))
    debs.run(*make, "kblrecord", "LDFLAGS=-static", "CFLAGS=-O2 -g -Wall -Wextra -Werror")
    return copy


def build_kbltest(kernel: debs.Kernel, folder: Path) -> Path:
    """Build the module whose functions the lab probes; returns kbltest.ko."""
    copy = copy_sources(HERE / "kbltest", folder / "kbltest")
    debs.run("make", "-C", str(copy), f"KDIR={kernel.headers}", "CC=gcc-12", "W=1")
    return copy / "kbltest.ko"


def build_program(name: str, folder: Path) -> Path:
    """Build one of the lab's own programs, static: traffic, fuzz."""
    program, source = folder / name, str(HERE / f"{name}.c")
    warn = ("-Wall", "-Wextra", "-Werror")
    debs.run("gcc", "-O2", *warn, "-static", "-pthread", "-o", str(program), source)
    return program


def load_gen_probes() -> Any:
    """Return kmod/gen_probes.py as a module: it lies outside any package."""
    spec = importlib.util.spec_from_file_location("gen_probes", KMOD / "gen_probes.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("kmod/gen_probes.py is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def build_probes(kernel: debs.Kernel, folder: Path) -> dict[str, Path]:
    """Write the lists of functions for this kernel, from its BTF.

    probes: those of probes.txt, also under the name that kblrecord looks for; all: every function
    with an sk_buff beside; some, fifty: a part of them, which arms faster.
    """
    tree = kernel.modules / "lib/modules"
    modules = {name: next(tree.rglob(f"{name}.ko*")) for name in PROBED_MODULES}
    source = load_gen_probes()
    names = KMOD / "probes.txt"
    many, unknown = source.generate(names, kernel.image, modules, every=True)
    few = many[: len(source.read_names(names)) - len(unknown)]
    series = ".".join(kernel.release.split(".")[:2])
    lists = {"probes": few, "all": many, "some": many[:SOME], "fifty": few[-50:]}
    lists[f"probes-{series}"] = few
    for name, lines in lists.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.txt" for name in lists}


def prepare(folder: Path, series: str = "6.1") -> Built:
    """Fetch the kernel and build all that its guests need, below ``folder``."""
    kernel = debs.fetch(folder, series)
    kmod = build_module(kernel, folder)
    programs = [kmod / "kblrecord", build_program("traffic", folder), build_program("fuzz", folder)]
    lists = build_probes(kernel, folder)
    return Built(kernel, folder, kmod, build_kbltest(kernel, folder), programs, lists)


def run(built: Built, how: guest.Run, name: str, init: Path = HERE / "init.sh") -> Path:
    """Run a guest in the subfolder `name`; returns the folder of its files.

    Its run before stays beside it, with ".before" in the name: a test may have failed on it that
    will not fail again.  Raises guest.GuestFailed or RuntimeError.
    """
    folder, before = built.folder / name, built.folder / f"{name}.before"
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    folder.mkdir(parents=True)
    steps = tuple(step.removeprefix("+") for step in how.steps)
    files = [*built.lists.values(), HERE / "few.txt", built.kbltest]
    parts = initramfs.Parts(init, built.kmod / "kbl.ko", built.programs, files, steps)
    return guest.boot(built.kernel, initramfs.build(built.kernel, parts, folder), folder, how)


def recording(built: Built, name: str) -> Recording:
    """Say where a guest's run of "+handshake" and "recorder" left its files."""
    out = built.folder / name / "out"
    return Recording(
        kbl=out / "handshake.kbl",
        pcap=out / "handshake.pcap",
        counted=out / "counted.kbl",
        lossy=out / "lossy.kbl",
        hidden=out / "hidden.txt",
        only=out / "only.kbl",
        race=out / "race.kbl",
        console=built.folder / name / "console.txt",
        built=built.kmod,
        probes=built.lists["probes"],
    )


def record(folder: Path, series: str = "6.1") -> Recording:
    """Make a fresh recording of the handshake below ``folder``."""
    built = prepare(folder, series)
    run(built, guest.Run(("+handshake", "recorder")), "handshake")
    return recording(built, "handshake")
