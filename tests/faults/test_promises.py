"""Promises that only a look at one kill can hold."""

from __future__ import annotations

import json

import pytest

from tests.faults.kills import kills, spread
from tests.faults.operations import OPERATIONS, Operation
from tests.faults.steps import Fault, How
from tests.faults.trials import Undisturbed, Workshop, after_fault


def test_leftovers_of_killed_processes_go_with_cache_verify(shop: Workshop) -> None:
    ingest = _operation("ingest, text")
    usual = Undisturbed.of(shop, ingest)
    renamed = next(step.number for step in usual.steps if step.does == "rename" and ".resource_maps" in step.other)
    shop.anew(ingest, usual.kept)
    shop.faulty(ingest, Fault(renamed, How.KILL))
    left = list(shop.place.home.rglob(".*.tmp"))

    wrong = after_fault(shop, ingest, usual)

    assert (1, [], []) == (len(left), wrong, list(shop.place.home.rglob(".*.tmp")))


@pytest.mark.long
def test_a_removal_of_a_book_that_was_cut_off_can_be_done_again(shop: Workshop) -> None:
    remove = _operation("library remove")
    usual = Undisturbed.of(shop, remove)
    restored = next(
        step.number for step in usual.steps if step.does == "rename" and step.other.endswith("tides_md.json")
    )
    shop.anew(remove, usual.kept)

    shop.faulty(remove, Fault(restored, How.KILL))

    assert [] == after_fault(shop, remove, usual)


@pytest.mark.slow
def test_a_book_that_is_being_replaced_is_found_after_a_kill_at_any_step(shop: Workshop) -> None:
    replace = _operation("library ingest, replaced")
    usual = Undisturbed.of(shop, replace)
    words = ("library", "query", "the tide in the evening", "--threshold", "0", "--limit", "3", "--json")
    shop.anew(replace, usual.kept)
    before = _chunks(shop.check(replace, words).out)
    lost = []
    for fault in spread(list(kills(usual.steps)), 8):
        shop.anew(replace, usual.kept)
        shop.faulty(replace, fault)
        if _chunks(shop.check(replace, words).out) != before:
            lost.append(fault)

    assert before
    assert [] == lost


def _chunks(answer: str) -> list[str]:
    """The addresses of the hits."""
    return [hit["address"] for hit in json.loads(answer)["results"]]


def _operation(name: str) -> Operation:
    return next(each for each in OPERATIONS if each.name == name)
