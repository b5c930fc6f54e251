# SPDX-License-Identifier: MIT
"""Windows beside the main window, and the settings they keep."""
