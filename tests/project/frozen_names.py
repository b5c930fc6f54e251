# SPDX-License-Identifier: MIT
"""Names in files, commands and interfaces that users depend on: none may change or vanish.

``python -m tests.project.frozen_names`` adds new ones to frozen_names.json.  It removes none:
whoever has to take a name away edits the file by hand, and says why in the commit.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from . import frozen_runs as runs
from . import frozen_text as text

FILE = Path(__file__).with_name("frozen_names.json")
Names = dict[str, list[str]]


def collect(folder: Path) -> Names:
    """Return all frozen names, grouped by their kind. Makes a session below `folder`."""
    session = runs.session(folder)
    return {
        ".skbv: tables, views, indexes": runs.database(session),
        ".skbv: keys of META": runs.meta(session),
        "commands and options": runs.options(),
        "JSON keys": runs.json_keys(session),
        "CSV columns": runs.csv_columns(session),
        "fields of the display filter": runs.filters(),
        "keys of settings": text.setting_keys(),
        "values of settings": text.setting_words(),
        ".kbl: layout": text.layout(),
        "kblrecord: options": text.recorder_options(),
        "kernel module: files": text.module_files(),
        "kernel module: words": text.module_words(),
        "kernel module: make": text.make_targets(),
    }


def read() -> Names:
    """Return the golden names."""
    found: Names = json.loads(FILE.read_text(encoding="utf-8"))["names"]
    return found


def main() -> None:
    """Add the names that are new."""
    with tempfile.TemporaryDirectory() as folder:
        now = collect(Path(folder))
    before = read() if FILE.exists() else {}
    names = {what: sorted({*before.get(what, []), *found}) for what, found in now.items()}
    whole = {"SPDX-License-Identifier": "MIT", "names": before | names}
    FILE.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
