"""A short run of what `python -m tests.faults processes` does at length."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.faults.changes import OF_SOURCES, OF_STORES
from tests.faults.crowd import Crowd
from tests.faults.holders import SCENES, Scene, killed, stopped
from tests.faults.moments import MOMENTS, at_moment, jumped
from tests.faults.truth import text
from tests.faults.versions import written_by_02
from tests.faults.world import World, run_changes

pytestmark = pytest.mark.long

BACK = next(moment for moment in MOMENTS if moment.name == "edited, and edited back")


def test_processes_on_one_home_do_not_get_in_the_way_of_each_other(tmp_path: Path) -> None:
    crowd = Crowd.at_work(tmp_path, 0.3, processes=3, servers=0, pressure=False, library=False)

    assert [] == crowd.wrong
    assert crowd.deeds["resolve"] > 0


def test_others_go_on_when_the_holder_of_a_lock_is_killed(tmp_path: Path) -> None:
    assert [] == list(killed(tmp_path, SCENES[0]))


def test_others_wait_for_a_stopped_holder_and_may_give_up(tmp_path: Path) -> None:
    assert [] == list(stopped(tmp_path, Scene("mapped", "map", "map")))


def test_a_server_answers_right_while_its_files_are_changed(tmp_path: Path) -> None:
    chosen = ("objects edited, their time put back", "databases replaced by garbage")
    changes = [each for each in (*OF_STORES, *OF_SOURCES[:1]) if each.name in (*chosen, OF_SOURCES[0].name)]
    with World.opened(tmp_path) as world:
        found = dict(run_changes(world, changes, commands=False))

    assert {each.name: [] for each in changes} == found


@pytest.mark.parametrize("work", ["cut", "map"])
def test_a_source_that_is_changed_and_changed_back_while_it_is_read_gives_nothing_wrong(
    tmp_path: Path, work: str
) -> None:
    assert [] == list(at_moment(tmp_path, text("letters"), BACK, work))


def test_answers_stay_right_when_the_clock_jumps(tmp_path: Path) -> None:
    assert [] == list(jumped(tmp_path, timedelta(days=-3650)))


def test_a_home_of_citekit_02_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    assert [] == list(written_by_02(tmp_path))
