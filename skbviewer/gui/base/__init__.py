# SPDX-License-Identifier: MIT
"""Parts that all views share: theme, wording, background tasks, small widgets."""
