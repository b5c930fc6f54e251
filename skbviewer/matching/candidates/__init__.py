# SPDX-License-Identifier: MIT
"""Find which packets may be which lifetimes, at which tap moments."""
