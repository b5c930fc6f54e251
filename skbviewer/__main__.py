# SPDX-License-Identifier: MIT
"""`python -m skbviewer`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
