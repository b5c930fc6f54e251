# SPDX-License-Identifier: MIT
"""Rules about threads that did not run, ran late, changed the CPU, or waited for a lock."""
