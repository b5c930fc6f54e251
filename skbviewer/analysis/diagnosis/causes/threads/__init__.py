# SPDX-License-Identifier: MIT
"""Rules about threads that did not run, ran late or elsewhere, or waited for a lock."""
