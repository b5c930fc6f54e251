# SPDX-License-Identifier: MIT
"""What all views share: theme, wording, background tasks, small widgets."""
