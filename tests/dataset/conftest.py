# SPDX-License-Identifier: MIT
"""The bundled recordings as a dataset, made once for all tests of it."""

from __future__ import annotations

import pytest

from tests.dataset.recordings import Both, make_both


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return make_both(tmp_path_factory.mktemp("samples"))
