# SPDX-License-Identifier: MIT
"""Every process that collects the tests finds the same ones.

pytest-xdist refuses to run when two workers collect different names. A test that takes compressed
bytes as a parameter is named after them, and the header of gzip holds the time.
"""

from __future__ import annotations

import pytest

#: How pytest writes the first bytes of a gzip file in the name of a test (RFC 1952, 2.3.1).
GZIP = r"\x1f\x8b"


def test_no_name_holds_the_time(request: pytest.FixtureRequest) -> None:
    assert not [item.nodeid for item in request.session.items if GZIP in item.nodeid]
