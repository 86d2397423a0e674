"""What the short runs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.steps import compiler
from tests.faults.trials import Workshop


@pytest.fixture(scope="session")
def shop() -> Iterator[Workshop]:
    """A workshop for all tests: Linux only, where a C compiler is."""
    if compiler() is None or not Path("/proc/self/fd").is_dir():
        pytest.skip("steps are counted on Linux, with a C compiler")
    with Workshop.opened() as opened:
        yield opened
