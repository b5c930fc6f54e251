# SPDX-License-Identifier: MIT
"""Which packets may be which lifetimes, at which tap moments."""
