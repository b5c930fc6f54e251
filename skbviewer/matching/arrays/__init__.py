# SPDX-License-Identifier: MIT
"""Tables, joins and blocks of long arrays, for compiled loops."""
