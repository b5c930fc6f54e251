# SPDX-License-Identifier: MIT
"""Opening, importing and exporting files."""
