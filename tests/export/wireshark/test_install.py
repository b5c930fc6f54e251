# SPDX-License-Identifier: MIT
"""skbviewer wireshark writes its files, and does not change the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.export.wireshark.install import folders, install, uninstall
from skbviewer.records import BadInput


def test_the_folders_follow_wireshark(tmp_path: Path) -> None:
    def configuration(**environment: str) -> Path:
        return folders(environment, tmp_path)["configuration"]

    assert configuration() == tmp_path / ".config/wireshark"
    assert configuration(XDG_CONFIG_HOME="/x") == Path("/x/wireshark")
    assert configuration(XDG_CONFIG_HOME="relative") == tmp_path / ".config/wireshark"
    (tmp_path / ".wireshark").mkdir()
    assert configuration() == tmp_path / ".wireshark"
    assert configuration(WIRESHARK_CONFIG_DIR="/y") == Path("/y")


def test_installed_twice_and_removed_leaves_nothing(tmp_path: Path) -> None:
    where = folders({}, tmp_path)
    made = install(where)
    assert all(path.is_file() for path in made)
    assert install(where) == made
    assert uninstall(where) == (made, [])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not (where["configuration"] / "profiles/skbviewer").exists()


@pytest.mark.parametrize("change", ["foreign", "edited", "link"])
def test_files_of_the_user_stay(tmp_path: Path, change: str) -> None:
    where = folders({}, tmp_path)
    *_, file, _ = install(where)
    text = file.read_text() + "# mine\n" if change == "edited" else "mine\n"
    if change == "link":
        file.unlink()
        (tmp_path / "target").write_text(text)
        file.symlink_to(tmp_path / "target")
    else:
        file.write_text(text)
    install_fails(where)
    removed, kept = uninstall(where)
    assert kept == [file]
    assert file.read_text() == text
    assert len(removed) == 4
    install_fails(where)
    assert list(tmp_path.rglob("*.lua")) == []


def test_what_wireshark_keeps_about_the_profile_stays_until_it_goes(tmp_path: Path) -> None:
    where = folders({}, tmp_path)
    *others, recent = install(where)
    recent.write_text("as Wireshark wrote it")
    assert install(where) == others
    assert recent.read_text() == "as Wireshark wrote it"
    others[-1].write_text("mine")
    removed, kept = uninstall(where)
    assert (removed, kept) == (others[:-1], [others[-1], recent])
    others[-1].unlink()
    assert uninstall(where) == ([recent], [])


def install_fails(where: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match="was changed after skbviewer wrote it"):
        install(where)
