# SPDX-License-Identifier: MIT
"""Statistics over all sessions of a dataset, as SQL."""
