# SPDX-License-Identifier: MIT
"""Install files in the user's Wireshark folders, and remove the files again.

On Unix, Wireshark keeps its configuration in the folder WIRESHARK_CONFIG_DIR if that is set.
Otherwise, the configuration is in the folder wireshark of XDG_CONFIG_HOME (~/.config), or in
~/.wireshark if only that folder exists (User's Guide, appendix B). Plugins are in
~/.local/lib/wireshark/plugins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ...records import BadInput
from .profile import CONFIGURATION, PLUGINS, File, is_ours, wireshark_files


def folders(environment: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Return Wireshark's folders for plugins and for the configuration."""
    base = environment.get("XDG_CONFIG_HOME", "")
    configuration = (Path(base) if os.path.isabs(base) else home / ".config") / "wireshark"
    if not configuration.is_dir() and (home / ".wireshark").is_dir():
        configuration = home / ".wireshark"
    if environment.get("WIRESHARK_CONFIG_DIR"):
        configuration = Path(environment["WIRESHARK_CONFIG_DIR"])
    return {PLUGINS: home / ".local/lib/wireshark/plugins", CONFIGURATION: configuration}


def install(where: Mapping[str, Path]) -> list[Path]:
    """Write skbviewer's files into Wireshark's folders `where`; return their paths.

    Files in which Wireshark keeps its state are not removed.

    Raises BadInput, before anything is written, if a file has been changed since skbviewer wrote
    it.
    """
    files = [
        (path, file)
        for path, file in _places(where)
        if not (file.is_state and os.path.lexists(path) and not _is_ours(path))
    ]
    for path, _ in files:
        if os.path.lexists(path) and not _is_ours(path):
            raise BadInput(
                path, None, "was changed after skbviewer wrote it: move this file away first"
            )
    for path, file in files:
        made = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(file.text, encoding="utf-8")
            os.replace(made, path)
        except OSError as error:
            made.unlink(missing_ok=True)
            raise BadInput(path, None, f"cannot write: {error.strerror}") from error
    return [path for path, _ in files]


def uninstall(where: Mapping[str, Path]) -> tuple[list[Path], list[Path]]:
    """Remove skbviewer's files; return the removed files, and the changed files, which stay.

    If the profile is removed, Wireshark's state files in the profile are removed, too.
    """
    removed: list[Path] = []
    kept: list[Path] = []
    for path, file in _places(where):
        if not os.path.lexists(path):
            continue
        is_left_over = file.is_state and not path.is_symlink() and not kept
        if not (_is_ours(path) or is_left_over):
            kept.append(path)
            continue
        try:
            path.unlink()
        except OSError as error:
            raise BadInput(path, None, f"cannot remove: {error.strerror}") from error
        removed.append(path)
    with suppress(OSError):  # the user has files there
        (where[CONFIGURATION] / "profiles/skbviewer").rmdir()
    return removed, kept


def is_installed(where: Mapping[str, Path], folder: str) -> bool:
    """Return whether all of skbviewer's files for Wireshark's folder `folder` exist."""
    return all(
        path.is_file()
        for path, file in _places(where)
        if file.folder == folder and not file.is_state
    )


def _places(where: Mapping[str, Path]) -> Iterator[tuple[Path, File]]:
    for file in wireshark_files():
        yield where[file.folder] / file.path, file


def _is_ours(path: Path) -> bool:
    """Return whether a file is as skbviewer wrote it; False for a symbolic link."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        return is_ours(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return False
