# SPDX-License-Identifier: MIT
"""Named sets of settings for different work: columns, panes, colours, filter buttons, times."""

from __future__ import annotations

from PySide6.QtCore import QSettings

from .call_tree import HIDDEN
from .colour_rules import SETTING
from .filter_memory import BUTTONS

KEYS = ("columns", "panes", "time", "precision", HIDDEN, SETTING, BUTTONS)
GROUP, CURRENT = "profiles", "profile"
DEFAULT = "Default"


def names() -> list[str]:
    """All profiles, the default first."""
    settings = QSettings()
    settings.beginGroup(GROUP)
    found = sorted(set(settings.childGroups()) - {DEFAULT}, key=str.lower)
    settings.endGroup()
    return [DEFAULT, *found]


def current() -> str:
    """The one whose settings are in force."""
    name = str(QSettings().value(CURRENT, DEFAULT))
    return name if name in names() else DEFAULT


def keep(name: str) -> None:
    """Make `name` a profile of the settings in force, which is then the current one."""
    settings = QSettings()
    settings.remove(f"{GROUP}/{name}")
    for key in KEYS:
        if settings.contains(key):
            settings.setValue(f"{GROUP}/{name}/{key}", settings.value(key))
    settings.setValue(f"{GROUP}/{name}/kept", "true")  # a profile of nothing is one, too
    settings.setValue(CURRENT, name)


def switch(name: str) -> None:
    """Put the settings of a profile in force; those it lacks are as at first."""
    settings = QSettings()
    for key in KEYS:
        kept = f"{GROUP}/{name}/{key}"
        if settings.contains(kept):
            settings.setValue(key, settings.value(kept))
        else:
            settings.remove(key)
    settings.setValue(CURRENT, name)


def remove(name: str) -> None:
    """Forget a profile; of the current one the settings stay in force."""
    settings = QSettings()
    settings.remove(f"{GROUP}/{name}")
    if settings.value(CURRENT) == name:
        settings.setValue(CURRENT, DEFAULT)


def valid(name: str) -> bool:
    """Whether a profile may be called so."""
    return bool(name.strip()) and not set(name) & set("/\\")
