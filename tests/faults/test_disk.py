"""A few disks of the long run (`python -m tests.faults disk`), and that the harness notices what it looks for."""

from __future__ import annotations

import errno

import pytest

from tests.faults.disk import unclear
from tests.faults.operations import OPERATIONS
from tests.faults.starting import Ended
from tests.faults.steps import NEEDS_SPACE, Fault, How
from tests.faults.trials import Undisturbed, Workshop, after_fault

pytestmark = pytest.mark.long

INGEST = next(each for each in OPERATIONS if each.name == "ingest, text")


@pytest.fixture(scope="module")
def usual(shop: Workshop) -> Undisturbed:
    """The operation as it is when nothing goes wrong."""
    return Undisturbed.of(shop, INGEST)


@pytest.mark.parametrize(
    "error", [pytest.param(errno.ENOSPC, id="the disk is full"), pytest.param(errno.EIO, id="the disk fails")]
)
def test_a_map_that_cannot_be_written_is_one_clear_error_and_the_next_run_writes_it(
    shop: Workshop, usual: Undisturbed, error: int
) -> None:
    publishing = next(step.number for step in usual.steps if step.path.endswith(".tmp"))
    shop.anew(INGEST, usual.kept)

    ended, _, _ = shop.faulty(INGEST, Fault(publishing, How.FAIL_ON, error, NEEDS_SPACE))

    assert (1, []) == (ended.code, unclear(ended))
    assert [] == after_fault(shop, INGEST, usual)


def test_writes_that_take_less_than_they_are_given_lose_nothing(shop: Workshop, usual: Undisturbed) -> None:
    shop.anew(INGEST, usual.kept)

    ended, _, what = shop.faulty(INGEST, Fault(1, How.SHORT))

    assert (0, []) == (ended.code, after_fault(shop, INGEST, usual))
    assert "write" in what


def test_the_secret_of_a_home_that_is_written_in_pieces_is_whole(shop: Workshop) -> None:
    shelf = next(each for each in OPERATIONS if each.name == "library ingest, first book")
    undisturbed = Undisturbed.of(shop, shelf)
    shop.anew(shelf, undisturbed.kept)

    ended, _, what = shop.faulty(shelf, Fault(1, How.SHORT))

    assert (0, []) == (ended.code, after_fault(shop, shelf, undisturbed))
    assert "write" in what


def test_an_end_that_is_no_clear_error_is_noticed() -> None:
    ends = [
        Ended(0, "done", ""),
        Ended(1, "", "Error: The disk is full.\n"),
        Ended(1, "", "Traceback (most recent call last):\n"),
        Ended(-7, "", ""),
        Ended(None, "", ""),
    ]

    assert [True, True, False, False, False] == [unclear(each) == [] for each in ends]
