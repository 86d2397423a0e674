"""Links in a home, in short; all of them: `python -m tests.faults links`."""

from __future__ import annotations

import pytest

from tests.faults.links import HOW, Place, Trial
from tests.representatives import representatives

pytestmark = pytest.mark.long

COPY, PRECIOUS, NOTHING, FIFO, WRONG = HOW

TRIALS = (
    Trial(".citekit_cache/evidence/uses", PRECIOUS),
    Trial(".citekit_cache/index-1/cache.db", FIFO),
    Trial(".citekit_output", PRECIOUS),
    Trial(".resource_maps/faulty.json", COPY),
    Trial(".citekit_library/index/.turns", NOTHING),
    Trial(".citekit_library/index/alexandria", FIFO),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place.filled(tmp_path_factory.mktemp("links").resolve())


@pytest.mark.parametrize("trial", representatives(TRIALS, 2), ids=str)
def test_no_command_follows_what_was_put_into_a_home(place: Place, trial: Trial) -> None:
    assert place.wrong_with(trial) is None


def test_a_folder_of_a_home_that_is_a_link_is_refused_by_name(place: Place) -> None:
    wrong = place.said(Trial(".citekit_output", PRECIOUS), ("resolve", "text://bees#lines=1-3"))

    assert f"{place.home}/.citekit_output is a symbolic link" in wrong
    assert "Remove the link" in wrong
    assert 1 == len(wrong.splitlines())
