"""Killed (SIGKILL) at every step of every operation: before it, and in the middle of each write."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tests.faults import lingering
from tests.faults.operations import OPERATIONS, Operation
from tests.faults.steps import Fault, How, Step
from tests.faults.syncing import unsynced
from tests.faults.table import Row, Scale
from tests.faults.trials import Undisturbed, Workshop, after_fault

_T = TypeVar("_T")

AREA = "kills"

SHARE = 40
LEAST = 10
"""Of 1200 inputs, 30 faults an operation; of 8000, 200: every step of all but the library's, which have up to 900."""


def run(scale: Scale) -> Sequence[Row]:
    """A row for each operation; of its faults at most a `SHARE`-th of `scale.inputs` are tried, spread over all steps."""
    rows: list[Row] = []
    with Workshop.opened() as shop:
        for operation in scale.share(OPERATIONS):
            usual = Undisturbed.of(shop, operation)
            rows.append(killed(shop, operation, usual, max(scale.inputs // SHARE, LEAST)))
            rows.append(powerless(operation, usual.steps))
    return [*(row for row in rows if row.tried), *([] if scale.part else [lingering.row()])]


def killed(shop: Workshop, operation: Operation, usual: Undisturbed, at_most: int) -> Row:
    """Kill it at its steps; what is wrong afterwards is told on standard error, and counted."""
    faults = spread(list(kills(usual.steps)), at_most)
    survived = 0
    for fault in faults:
        shop.anew(operation, usual.kept)
        ended, _, what = shop.faulty(operation, fault)
        wrong = after_fault(shop, operation, usual)
        if ended.code is None:
            wrong = ["blocked", *wrong]
        survived += not wrong
        if wrong:
            print(f"{operation.name}: {fault.how.name} at {fault.at} ({what}): {wrong}", file=sys.stderr)
    return Row(AREA, operation.name, len(faults), survived, f"{len(usual.steps)} steps")


def kills(steps: Sequence[Step]) -> Iterator[Fault]:
    """Before each step, and in the middle of each write."""
    for step in steps:
        yield Fault(step.number, How.KILL)
        if step.size > 1:
            yield Fault(step.number, How.KILL_HALF)


def spread(faults: Sequence[_T], at_most: int) -> list[_T]:
    """At most so many of them, at equal distances."""
    if len(faults) <= at_most:
        return list(faults)
    return [faults[number * len(faults) // at_most] for number in range(at_most)]


def powerless(operation: Operation, steps: Sequence[Step]) -> Row:
    """What is promised to outlast a power cut was flushed to the disk before it got its name, and its folder after."""
    published, wrong = unsynced(steps)
    for each in wrong:
        print(f"{operation.name}: {each}", file=sys.stderr)
    return Row("power", operation.name, published, published - len(wrong), "flushed before and after the rename")
