# SPDX-License-Identifier: MIT
"""Turn matched inputs into the rows of a session file."""
