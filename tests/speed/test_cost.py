"""No operation costs more than was written down, and none of an agent's costs more with more maps. Nothing is timed."""

from __future__ import annotations

import pytest

from tests.speed.ceilings import FEW, MANY, allowed, costs
from tests.speed.counting import Cost, cost
from tests.speed.operations import FLAT

pytestmark = pytest.mark.long

NOISE = 1.05
SMALL = 4_000
"""Bytes within which two runs differ by where the allocator stands."""

Costs = dict[int, dict[str, Cost]]


@pytest.fixture(scope="module")
def counted() -> Costs:
    return costs(FEW, MANY)


@pytest.mark.parametrize("name", allowed())
def test_an_operation_stays_below_its_ceiling(name: str, counted: Costs) -> None:
    ceiling, now = allowed()[name], counted[MANY][name]

    assert now.instructions <= ceiling.instructions
    assert now.bytes <= ceiling.bytes + SMALL


@pytest.mark.parametrize("name", FLAT)
def test_a_look_costs_the_same_among_a_hundred_times_as_many_maps(name: str, counted: Costs) -> None:
    few, many = counted[FEW][name], counted[MANY][name]

    assert many.instructions <= few.instructions * NOISE
    assert many.bytes <= few.bytes * NOISE + SMALL


def test_every_operation_has_a_ceiling(counted: Costs) -> None:
    assert set(counted[MANY]) == set(allowed())


def test_more_work_counts_more() -> None:
    few, many = cost(lambda: [str(n) for n in range(100)]), cost(lambda: [str(n) for n in range(1_000)])

    assert 5 * few.instructions < many.instructions
    assert 5 * few.bytes < many.bytes
