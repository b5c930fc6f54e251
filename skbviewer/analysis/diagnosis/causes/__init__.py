# SPDX-License-Identifier: MIT
"""The rules of a diagnosis, one module each; docs/diagnosis/ has a page for each."""
