# SPDX-License-Identifier: MIT
"""Kernel logs (.kbl): from chunks and slots to records in time order."""
