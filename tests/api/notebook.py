# SPDX-License-Identifier: MIT
"""docs/python-api.ipynb: runs its cells as Jupyter does, without Jupyter.

``python -m tests.api.notebook`` writes what the cells print and return into the notebook.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs/python-api.ipynb"


def run(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each code cell with its outputs, in the form of nbformat 4."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            yield cell | {"execution_count": count}, _outputs("".join(cell["source"]), names, count)


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    printed, tree = io.StringIO(), ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed), contextlib.chdir(ROOT):
        exec(compile(tree, "cell", "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        result = {"data": shown, "execution_count": count, "metadata": {}}
        outputs.append(result | {"output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def read() -> dict[str, Any]:
    """Return the notebook."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Run all cells and write the notebook with their outputs."""
    notebook = read()
    made = {cell["id"]: cell | {"outputs": outputs} for cell, outputs in run(notebook)}
    notebook["cells"] = [made.get(cell["id"], cell) for cell in notebook["cells"]]
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main()
