"""A few kills of the long run (`python -m tests.faults kills`), and that the harness notices what it looks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import pytest

from tests.faults.checking import OUTPUT
from tests.faults.kills import kills, spread
from tests.faults.operations import OPERATIONS, Operation
from tests.faults.steps import NONE, Fault, How, Step
from tests.faults.syncing import unsynced
from tests.faults.trials import Undisturbed, Workshop, after_fault

pytestmark = pytest.mark.long

RESOLVE = next(each for each in OPERATIONS if each.name == "resolve, PDF pages")


@pytest.fixture(scope="module")
def usual(shop: Workshop) -> Undisturbed:
    """The operation as it is when nothing goes wrong."""
    return Undisturbed.of(shop, RESOLVE)


def test_a_kill_at_steps_of_a_resolve_loses_nothing_and_the_next_run_does_it(
    shop: Workshop, usual: Undisturbed
) -> None:
    faults = [*telling(usual.steps, 3), *spread(list(kills(usual.steps)), 2)]

    wrong = [_after(shop, usual, RESOLVE, fault) for fault in faults]

    assert [[]] * 5 == wrong


def telling(steps: Sequence[Step], at_most: int) -> list[Fault]:
    """In the middle of what is written under a name that lasts; and where an object or an output has just got its name."""
    halves = [Fault(step.number, How.KILL_HALF) for step in steps if step.does == "write" and lasts(step.path)]
    named = [Fault(step.number + 1, How.KILL) for step in reversed(steps) if lasts(step.other)]
    return [*halves, *named][:at_most]


def lasts(path: str) -> bool:
    """Whether that is the name of an object, or of a file in the output folder."""
    place = PurePath(path)
    return not place.name.startswith(".") and (place.parent.name == OUTPUT or "objects" in place.parts)


def test_a_step_is_the_end_of_the_process_that_is_to_be_killed_there(shop: Workshop, usual: Undisturbed) -> None:
    shop.anew(RESOLVE, usual.kept)

    ended, counted, what = shop.faulty(RESOLVE, Fault(3, How.KILL))

    assert (-9, 3) == (ended.code, counted)
    assert what


def test_a_torn_object_and_a_lost_map_are_noticed(shop: Workshop, usual: Undisturbed) -> None:
    shop.anew(RESOLVE, usual.kept)
    assert shop.faulty(RESOLVE, NONE)[0].code == 0
    home = shop.place.home
    torn = next(path for path in home.rglob("objects/*/*"))
    torn.chmod(0o600)
    torn.write_bytes(b"torn")
    (home / ".resource_maps" / "report.json").unlink()

    said = " ".join(after_fault(shop, RESOLVE, usual))

    assert "is torn" in said
    assert "the map report.json is lost" in said


def test_a_name_that_is_given_before_its_content_is_flushed_is_noticed() -> None:
    steps = [
        Step(1, 1, "write", "/h/.resource_maps/.a.tmp", "", 9),
        Step(2, 1, "rename", "/h/.resource_maps/.a.tmp", "/h/.resource_maps/a.json", 0),
    ]

    published, wrong = unsynced(steps)

    assert (1, 2) == (published, len(wrong))


def test_maps_are_flushed_before_and_after_they_get_their_name(shop: Workshop) -> None:
    steps = Undisturbed.of(shop, next(each for each in OPERATIONS if each.name == "ingest, text")).steps

    assert (1, []) == unsynced(steps)


def _after(shop: Workshop, usual: Undisturbed, operation: Operation, fault: Fault) -> list[str]:
    shop.anew(operation, usual.kept)
    shop.faulty(operation, fault)
    return after_fault(shop, operation, usual)


def test_a_file_that_is_replaced_never_lies_beside_the_receipt_of_the_one_before(shop: Workshop) -> None:
    replaced = next(each for each in OPERATIONS if each.name == "output of a changed source")
    usual = Undisturbed.of(shop, replaced)
    named = max(step.number for step in usual.steps if step.does == "rename" and lasts(step.other))

    wrong = [_after(shop, usual, replaced, Fault(number, How.KILL)) for number in (named, named + 1)]

    assert [[], []] == wrong
