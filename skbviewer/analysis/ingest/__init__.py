# SPDX-License-Identifier: MIT
"""From matched inputs to the rows of a session file."""
