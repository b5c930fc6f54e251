# SPDX-License-Identifier: MIT
"""Make the tables of docs/remade.md anew.

python -m tests.remade            all of them, and the CPU time of each
python -m tests.remade PART...    some of them
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from .document import DOCUMENT, names_in, with_part
from .parts import PARTS


def main(names: list[str], document: Path = DOCUMENT) -> int:
    """Write the parts `names` (none: all) into the document; return 2 if one is unknown."""
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        print(f"no part {', '.join(unknown)}; parts: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    text = document.read_text("utf-8")
    for name in names or names_in(text):
        before = time.process_time()
        text = with_part(text, name, PARTS[name]())
        print(f"{name:<18} {time.process_time() - before:6.1f} s of CPU time")
    document.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
