# SPDX-License-Identifier: MIT
"""``python -m tests.kmod.checkpatch FOLDER``: the kernel's checkpatch.pl over the C of kmod/.

No small package holds checkpatch.pl, so it is taken out of linux-source, kept below FOLDER.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.lab import debs

KMOD = Path(__file__).resolve().parents[2] / "kmod"
PACKAGE = "linux-source-6.1"
SCRIPTS = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
# Which licence a file has is the matter of tests/project/test_licences.py; a module outside the
# kernel's tree must ask for the version.
IGNORED = ("SPDX_LICENSE_TAG", "LINUX_VERSION_CODE", "CONSTANT_COMPARISON")
# Advice to use what only the kernel has, or for what is grepped for in its log.
USER_SPACE = ("ARRAY_SIZE", "NAKED_SSCANF", "PREFER_KERNEL_TYPES", "PREFER_DEFINED_ATTRIBUTE_MACRO",
              "VOLATILE", "NEW_TYPEDEFS", "SPLIT_STRING")  # fmt: skip
# What it takes for something else: an asm operand in a macro's argument, __has_include(<...>),
# a designated initializer, attributes and lists as macros, relay's file operations and others'.
MISTAKEN = {
    ("kbl_arch.h", "COMPLEX_MACRO"),
    ("kbl_arch.h", "SPACING"),
    ("kbl_arch.h", "SINGLE_STATEMENT_DO_WHILE_MACRO"),
    ("kbl_calibrate_round.c", "SPACING"),
    ("kbl_calibrate_round.c", "BRACKET_SPACE"),
    ("kbl_read.c", "CONST_STRUCT"),
    ("kbl_source.c", "SPACING"),
    ("kbl_trace.c", "COMPLEX_MACRO"),
    ("kbl_trace.c", "TRAILING_SEMICOLON"),
}
FOUND = re.compile(r"(?P<path>[^:]+):\d+: (?:ERROR|WARNING|CHECK):(?P<type>\w+):")


def fetch(folder: Path) -> Path:
    """Return checkpatch.pl below ``folder``, unpacked unless it is there."""
    scripts = folder / PACKAGE / "scripts"
    if all((scripts / name).exists() for name in SCRIPTS):
        return scripts / SCRIPTS[0]
    (deb,) = debs.download([PACKAGE], folder)
    names = " ".join(f"{PACKAGE}/scripts/{name}" for name in SCRIPTS)
    inner = f"dpkg-deb --fsys-tarfile {deb} | tar -xO ./usr/src/{PACKAGE}.tar.xz"
    debs.run("sh", "-c", f"{inner} | tar -xJ -C {folder} {names}")
    deb.unlink()
    return scripts / SCRIPTS[0]


def mistaken(line: str) -> bool:
    """Return whether checkpatch is known to be wrong there."""
    found = FOUND.match(line)
    return found is not None and (Path(found["path"]).name, found["type"]) in MISTAKEN


def check(script: Path, sources: list[Path], ignored: tuple[str, ...]) -> bool:
    """Print checkpatch's justified warnings; return whether there are any."""
    options = ["--no-tree", "--terse", "--no-summary", "--show-types", "--max-line-length=100"]
    command = ["perl", str(script), *options, f"--ignore={','.join(ignored)}", "--file"]
    done = subprocess.run(
        [*command, *map(str, sources)], stdout=subprocess.PIPE, text=True, check=False
    )
    said = [line for line in done.stdout.splitlines() if not mistaken(line)]
    print("\n".join(said), end="\n" if said else "")
    return bool(said) or done.returncode > 1


def main() -> int:
    """Check the module's sources, then those of user space; 0 if nothing was found."""
    script = fetch(Path(sys.argv[1]).resolve())
    sources = sorted(KMOD.glob("*.[ch]"))
    module = [path for path in sources if path.name.startswith("kbl_") or path.name == "kbl.h"]
    user = [path for path in sources if path not in module]
    return check(script, module, IGNORED) | check(script, user, IGNORED + USER_SPACE)


if __name__ == "__main__":
    sys.exit(main())
