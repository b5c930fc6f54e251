# SPDX-License-Identifier: MIT
"""The guest's root: busybox, a few tools of this machine, modules, our programs and scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.lab.debs import Kernel, run

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
SEARCH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class Needs(NamedTuple):
    """Programs of this machine and modules of the kernel."""

    tools: tuple[str, ...]
    modules: tuple[str, ...] = ()


BASE = Needs(("tcpdump", "ip", "kmod"), ("veth", "virtio_pci", "virtio_blk"))
# What the scripts of scenarios/ need beyond; the others need nothing.  libcrc32c looks for the
# driver of crc32c by its alias, which modprobe does not follow.
FILTER = ("ip_tables", "crc32c_generic", "nf_conntrack", "xt_tcpudp", "iptable_filter")
NEEDS = {
    "drops": Needs(("iptables-legacy", "tc"), (*FILTER, "sch_netem")),
    "filter": Needs(("iptables-legacy",), (*FILTER, "iptable_nat", "xt_MASQUERADE")),
    "packets": Needs(
        ("iperf3", "ethtool", "iptables-legacy"), (*FILTER, "iptable_nat", "xt_MASQUERADE")
    ),
    "nat": Needs(("iptables-legacy",), (*FILTER, "iptable_nat", "xt_MASQUERADE")),
    "bulk": Needs(("iperf3",)),
    "segments": Needs(("iperf3", "ethtool")),
    "merge": Needs(("iperf3", "ethtool")),
    "instructions": Needs(("iperf3", "ethtool")),
    "touched": Needs(("ethtool",)),
    "copies": Needs(("iptables-legacy", "tc"), (*FILTER, "iptable_mangle", "xt_TEE", "sch_netem")),
    "evidence": Needs(("iperf3", "ethtool", "tc"), ("sch_netem",)),
    "cycles": Needs(("iperf3", "nice")),
    "fuzz": Needs(("iperf3",)),
    "two-hosts": Needs((), ("virtio_net",)),
    "sampled": Needs((), ("virtio_net",)),
    "late-clock": Needs((), ("virtio_net",)),
    "module-sites": Needs(("tc",), ("sch_netem",)),
}
PLUGINS = ("libxt_udp.so", "libxt_tcp.so", "libxt_standard.so", "libxt_MASQUERADE.so",
           "libxt_TEE.so", "libxt_NAT.so", "libxt_SNAT.so", "libxt_DNAT.so")  # fmt: skip


class Parts(NamedTuple):
    """What goes into the guest besides the tools; `steps` are scripts of scenarios/.

    scripts: further files, each with its path in the guest.  extra: what those need, which is not
    loaded at boot.
    """

    init: Path
    module: Path
    programs: list[Path]
    lists: list[Path]
    steps: tuple[str, ...] = ()
    scripts: tuple[tuple[str, Path], ...] = ()
    extra: Needs = Needs(())


def needs(steps: Iterable[str]) -> Needs:
    """Return all that these steps need."""
    wanted = [BASE, *(NEEDS[step] for step in steps if step in NEEDS)]
    return Needs(
        tuple(dict.fromkeys(tool for need in wanted for tool in need.tools)),
        tuple(dict.fromkeys(module for need in wanted for module in need.modules)),
    )


def tool(name: str) -> Path:
    """Return the path of an installed program; raises RuntimeError if it is missing."""
    found = shutil.which(name, path=SEARCH)
    if found is None:
        raise RuntimeError(f"{name} is missing; install the packages of tests/lab/packages.txt")
    return Path(found)


def place(source: Path, target: Path) -> None:
    """Copy one file, with the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def add_tool(name: str, root: Path) -> None:
    """Copy a program and the libraries it is linked with; iptables also with its plugins."""
    path = tool(name)
    place(path, root / "bin" / name)
    libraries = [Path(library) for library in re.findall(r"(?<=\s)/\S+", run("ldd", str(path)))]
    if name.startswith("iptables"):
        beside = next(library for library in libraries if library.name.startswith("libxtables"))
        plugins = Path("/usr") / beside.parent.relative_to("/") / "xtables"
        libraries += [plugins / name for name in PLUGINS if (plugins / name).exists()]
    for library in libraries:
        place(library, root / library.relative_to("/"))


def add_modules(
    kernel: Kernel, modules: Iterable[str], root: Path, later: Iterable[str] = ()
) -> None:
    """Copy the kernel modules and what they depend on, and index them; `later` not for the boot."""
    depmod, modprobe = str(tool("depmod")), str(tool("modprobe"))
    run(depmod, "-b", str(kernel.modules), kernel.release)
    folder = Path("lib/modules") / kernel.release
    for name in (*modules, *later):
        shown = run(modprobe, "-n", "--show-depends", "-d", str(kernel.modules),
                    "-S", kernel.release, name)  # fmt: skip
        for path in re.findall(r"^insmod (\S+)", shown, re.MULTILINE):
            place(Path(path), root / Path(path).relative_to(kernel.modules))
    for index in ("modules.builtin", "modules.order"):
        place(kernel.modules / folder / index, root / folder / index)
    run(depmod, "-b", str(root), kernel.release)
    (root / "modules").write_text("\n".join(modules) + "\n")


def build(kernel: Kernel, parts: Parts, folder: Path) -> Path:
    """Build the initramfs below ``folder`` and return it."""
    root, wanted = folder / "initramfs", needs(parts.steps)
    shutil.rmtree(root, ignore_errors=True)
    for name in dict.fromkeys((*wanted.tools, *parts.extra.tools)):
        add_tool(name, root)
    for name in ("modprobe", "insmod", "rmmod"):
        (root / "bin" / name).symlink_to("kmod")
    place(tool("busybox"), root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    place(parts.init, root / "init")
    (root / "init").chmod(0o755)
    place(parts.module, root / "kbl.ko")
    for path in (*parts.programs, *parts.lists):
        place(path, root / path.name)
    for path in SCENARIOS.glob("*.sh"):
        place(path, root / "scenarios" / path.name)
    for inside, path in parts.scripts:
        place(path, root / inside)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    add_modules(kernel, wanted.modules, root, parts.extra.modules)
    return pack(root, folder / "initramfs.cpio")


def pack(root: Path, target: Path) -> Path:
    """Write ``root`` as a cpio archive: to unpack gzip takes a fifth of an emulated boot."""
    names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
    command = [str(tool("cpio")), "-o", "-H", "newc", "--quiet"]
    with target.open("wb") as archive:
        subprocess.run(command, cwd=root, input=names.encode(), stdout=archive, check=True)
    return target
