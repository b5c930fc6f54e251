# SPDX-License-Identifier: MIT
"""``make check-instrumented``: all of net/ with probes compiles without a new warning.

With the configuration of Debian's own kernel, as far as it builds net/.  The folders are compiled
once plain and once with probes, and what the compiler said is compared; lines keep their numbers.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from tests.lab import debs, small_kernel
from tests.lab.record import TOP

# What needs keys, other tools or hours, and changes nothing of net/.
WITHOUT = ("MODULE_SIG", "SYSTEM_TRUSTED_KEYRING", "DEBUG_INFO_BTF", "DEBUG_INFO", "WERROR")
WARNING = re.compile(r"^.*\b(?:warning|error): .*$", re.MULTILINE)


def configure(tree: Path, build: Path, config: Path) -> None:
    """Take over Debian's configuration, without WITHOUT."""
    shutil.copy(config, build / ".config")
    script = str(tree / "scripts/config")
    off = [word for name in WITHOUT for word in ("-d", name)]
    debs.run(script, "--file", str(build / ".config"), *off, "-e", "DEBUG_INFO_NONE")
    small_kernel.make(tree, build, "olddefconfig")


def compiled(tree: Path, build: Path, config: Path, targets: list[str]) -> set[str]:
    """Compile folders; returns the compiler's complaints, without the tree's path."""
    if not (build / ".config").exists():
        build.mkdir(parents=True, exist_ok=True)
        configure(tree, build, config)
    small_kernel.make(tree, build, "prepare")
    said = small_kernel.make(tree, build, "-k", *targets)
    return {line.replace(f"{tree}/", "").replace("../linux/", "") for line in WARNING.findall(said)}


def main() -> int:
    """Compile twice; exit code 1 if the probes add a complaint."""
    parser = argparse.ArgumentParser(prog="tests.lab.check_instrumented", description=__doc__)
    parser.add_argument("--out", type=Path, default=TOP / "build/check-instrumented")
    parser.add_argument("--folder", nargs="*", default=["net/"], help="such as net/core/")
    args = parser.parse_args()
    folder = args.out.resolve()
    image = debs.fetch(folder / "image", "6.1")
    config = next((image.modules / "boot").glob("config-*"))
    deb = debs.download([small_kernel.PACKAGE], folder / "debs")[0]
    said = {}
    for name in ("plain", "probes"):
        tree, build = folder / name / "linux", folder / name / "build"
        small_kernel.unpack(deb, tree)
        if name == "probes":
            where = ("--in-place", "--runtime", "--manifest", folder / "manifest.json")
            small_kernel.skbscan("instrument", tree, *where, "-q", "--no-cache")
        said[name] = compiled(tree, build, config, args.folder)
    new = sorted(said["probes"] - said["plain"])
    objects = len(list((folder / "probes/build/net").rglob("*.o")))
    print(f"{objects} objects of net/, {len(said['plain'])} complaints without probes")
    print("\n".join(new) if new else "none new with probes")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
