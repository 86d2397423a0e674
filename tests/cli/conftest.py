"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line in an empty folder."""
    return Cli(tmp_path)


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command line in a folder whose `code.py` is mapped; tests only read there."""
    cli = Cli(tmp_path_factory.mktemp("mapped"))
    cli.write("code.py")
    assert cli("ingest", "code.py").code == 0
    return cli
