"""Small files stay cheap: those that once were not, on every run; `python -m tests.faults bills` searches for others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.bill_grammars import GRAMMARS
from tests.faults.bill_meter import Meter
from tests.faults.bill_shapes import Shape
from tests.faults.bills import SHAPES, Gene, bill_of, bred

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="what a process costs is read from /proc"),
]


@pytest.fixture(scope="module")
def meter() -> Iterator[Meter]:
    with Meter.started() as started:
        yield started


@pytest.mark.parametrize("shape", [each for each in SHAPES if each.brief], ids=lambda each: f"{each.file}: {each.name}")
def test_a_small_file_stays_within_the_limits_of_time_and_memory(shape: Shape, meter: Meter, tmp_path: Path) -> None:
    size, bill = bill_of(meter, shape, tmp_path)

    assert "" == bill.fault(size)


def test_the_meter_sees_what_costs_too_much_and_kills_it(meter: Meter, tmp_path: Path) -> None:
    shape = next(each for each in SHAPES if each.file == "a.sh")

    _, bill = bill_of(meter, shape, tmp_path, seconds=0.01)

    assert "was stopped" in bill.died


def test_a_search_tries_the_same_files_again(meter: Meter, tmp_path: Path) -> None:
    grammar = next(each for each in GRAMMARS if each.file == "a.txt")

    once, again = (next(bred(meter, grammar, 2, 5000, tmp_path)).data for _ in range(2))

    assert once == again


def test_a_body_nests_its_pieces_within_the_size() -> None:
    assert b"x((()))" == Gene(b"x", ((b"(", b")"),)).body(6)


def test_every_file_of_the_grammars_has_a_name_of_its_own() -> None:
    names = [each.file for each in GRAMMARS]

    assert sorted(set(names)) == sorted(names)
