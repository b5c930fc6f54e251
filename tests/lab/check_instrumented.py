# SPDX-License-Identifier: MIT
"""``make check-instrumented``: all of net/ with probes compiles without a new warning.

The configuration is that of Debian's kernel, for the parts of net/ that it builds.  The compiler's
warnings for the tree with probes are compared with those for the plain tree. Probes do not change
line numbers. Folders without warnings need not be compiled again without probes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
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
    """Compile folders; return the compiler's warnings, without the tree's path.

    All files are compiled again, because the compiler does not warn about existing objects.
    """
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    configure(tree, build, config)
    small_kernel.make(tree, build, "prepare")
    where = ("make", "-s", "-k", f"-j{os.cpu_count() or 1}", "-C", str(tree), f"O={build}")
    command = (*where, *small_kernel.COMPILER, *targets)
    both = subprocess.STDOUT
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=both, check=False)
    (build.parent / "make.txt").write_text(done.stdout)
    found = WARNING.findall(done.stdout)
    if done.returncode and not found:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}")
    return {line.replace(f"{tree}/", "").replace("../linux/", "") for line in found}


def prepared(deb: Path, folder: Path, probes: bool) -> Path:
    """Return the source below ``folder``, plain or with probes; what is there and fits is kept."""
    tree, stamp = folder / "linux", folder / "unpacked"
    want = small_kernel.fingerprint(deb, probes)
    if not stamp.exists() or stamp.read_text() != want:
        stamp.unlink(missing_ok=True)
        small_kernel.unpack(deb, tree)
        if probes:
            where = ("--in-place", "--runtime", "--manifest", folder / "manifest.json")
            small_kernel.skbscan("instrument", tree, *where, "-q", "--no-cache")
        stamp.write_text(want)
    return tree


def main() -> int:
    """Compile; return exit code 1 if the probes cause a new warning."""
    parser = argparse.ArgumentParser(prog="tests.lab.check_instrumented", description=__doc__)
    parser.add_argument("--out", type=Path, default=TOP / "build/check-instrumented")
    parser.add_argument("--folder", nargs="*", default=["net/"], help="such as net/core/")
    args = parser.parse_args()
    folder = args.out.resolve()
    image = debs.fetch(folder / "image", "6.1")
    config = next((image.modules / "boot").glob("config-*"))
    deb = debs.download([small_kernel.PACKAGE], folder / "debs")[0]
    said: dict[str, set[str]] = {"plain": set()}
    for name in ("probes", "plain"):
        if name == "plain" and not said["probes"]:
            break
        tree = prepared(deb, folder / name, name == "probes")
        said[name] = compiled(tree, folder / name / "build", config, args.folder)
    new = sorted(said["probes"] - said["plain"])
    objects = len(list((folder / "probes/build/net").rglob("*.o")))
    print(f"{objects} objects of net/ with probes, {len(said['probes'])} complaints")
    print("\n".join(new) if new else "none that the plain source has not")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
