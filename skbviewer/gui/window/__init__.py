# SPDX-License-Identifier: MIT
"""The main window: its menus, its actions, and how its parts are connected."""
