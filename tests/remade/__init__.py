# SPDX-License-Identifier: MIT
"""Tables and figures of the earlier works, made with this program: docs/remade.md."""
