"""Quotes are looked up in everything that is mapped, with the real adapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.application.look_up_quote import LOOKED_UP
from citekit.domain.errors import RequestRefused
from citekit.domain.quotes.verdict_finding import Finding
from citekit.entrypoints.sdk import CiteKit


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    kit = CiteKit(tmp_path)
    texts = {
        "a": "The queen lives in the hive.\nHoney is food.\n",
        "b": "A hive is where the queen lives in.\n",
        "c": "Bees.\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
        kit.ingest(tmp_path / f"{name}.txt", resource_id=name)
    return kit


def test_the_file_with_the_exact_words_is_found_with_its_line(kit: CiteKit) -> None:
    found = kit.look_up_quote("queen lives in the hive")

    assert found.verdict is not None
    assert (Finding.EXACT, "a") == (found.verdict.finding, found.verdict.resource_id)
    (place,) = found.verdict.places
    assert ("text://a#lines=1", "The queen lives in the hive.") == (str(place.address), place.line)
    assert (3, False) == (found.searched, found.is_cut)


def test_words_that_no_file_has_are_absent(kit: CiteKit) -> None:
    assert kit.look_up_quote("a zeppelin").verdict is None
    similar = kit.look_up_quote("queen hive lives").verdict
    assert similar is not None
    assert Finding.ABSENT is similar.finding


def test_the_number_of_compared_files_is_bounded_and_the_answer_says_so(kit: CiteKit, tmp_path: Path) -> None:
    for number in range(LOOKED_UP + 1):
        (tmp_path / f"copy{number}.txt").write_text(f"Copy {number}.\nThe wax is yellow.\n")
        kit.ingest(tmp_path / f"copy{number}.txt")

    found = kit.look_up_quote("The wax is yellow.")

    assert found.is_cut
    assert found.verdict is not None
    assert LOOKED_UP == len(found.verdict.places)


def test_a_quote_without_words_is_refused(kit: CiteKit) -> None:
    with pytest.raises(RequestRefused):
        kit.look_up_quote("...")
