# SPDX-License-Identifier: MIT
"""Names and sentences for the contents of records and packets."""
