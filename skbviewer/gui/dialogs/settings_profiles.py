# SPDX-License-Identifier: MIT
"""Named sets of settings for different tasks: columns, panes, colours, filter buttons, times."""

from __future__ import annotations

from PySide6.QtCore import QSettings

from ..filters.saved_filters import BUTTONS
from ..packet_panes.call_tree import HIDDEN
from ..packets.colour_rules import SETTING

KEYS = ("columns", "panes", "time", "precision", HIDDEN, SETTING, BUTTONS)
GROUP, CURRENT = "profiles", "profile"
DEFAULT = "Default"


def names() -> list[str]:
    """Return the names of all profiles, the default first."""
    settings = QSettings()
    settings.beginGroup(GROUP)
    found = sorted(set(settings.childGroups()) - {DEFAULT}, key=str.lower)
    settings.endGroup()
    return [DEFAULT, *found]


def current() -> str:
    """Return the name of the current profile."""
    name = str(QSettings().value(CURRENT, DEFAULT))
    return name if name in names() else DEFAULT


def save_profile(name: str) -> None:
    """Save the current settings as profile `name`, and make it the current one."""
    settings = QSettings()
    settings.remove(f"{GROUP}/{name}")
    for key in KEYS:
        if settings.contains(key):
            settings.setValue(f"{GROUP}/{name}/{key}", settings.value(key))
    settings.setValue(f"{GROUP}/{name}/kept", "true")  # keeps a profile without settings
    settings.setValue(CURRENT, name)


def switch(name: str) -> None:
    """Apply the settings of the profile `name`; settings that it lacks get their defaults."""
    settings = QSettings()
    for key in KEYS:
        kept = f"{GROUP}/{name}/{key}"
        if settings.contains(kept):
            settings.setValue(key, settings.value(kept))
        else:
            settings.remove(key)
    settings.setValue(CURRENT, name)


def remove(name: str) -> None:
    """Remove the profile `name`; if it is the current profile, its settings stay applied."""
    settings = QSettings()
    settings.remove(f"{GROUP}/{name}")
    if settings.value(CURRENT) == name:
        settings.setValue(CURRENT, DEFAULT)


def valid(name: str) -> bool:
    """Return whether `name` can be the name of a profile."""
    return bool(name.strip()) and not set(name) & set("/\\")
