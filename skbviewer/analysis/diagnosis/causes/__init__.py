# SPDX-License-Identifier: MIT
"""The rules of a diagnosis, each in a module of its own and with a page in docs/diagnosis/."""
