"""The words of a page in which a passage differs from what a model said."""

from __future__ import annotations

from citekit.domain.quotes.differing_words import differing_words
from citekit.domain.quotes.marked_words import marked_words

FIRST = ["The", "queen", "lays", "up", "to", "2,000", "eggs", "a", "day,", "and", "the", "work-"]
SECOND = ["Bees", "12", "ers", "gather", "nectar.", "The", "queen", "lays", "up", "to", "2,000", "eggs", "a", "day,"]


def _differing(said: str, passage: str, *pages: list[str]) -> list[str]:
    found = differing_words(said, passage, marked_words(passage, pages), pages)
    return [pages[each.page][each.first] for each in found]


def test_the_words_that_a_model_changed_or_left_out_are_found_on_the_page() -> None:
    passage = "The queen lays up to 2,000 eggs a day"
    assert ["2,000"] == _differing("The queen lays up to 3,000 eggs a day", passage, FIRST)
    assert ["up", "to"] == _differing("The queen lays 2,000 eggs a day", passage, FIRST)
    assert [] == _differing("The queen lays up to 2,000 brown eggs a day", passage, FIRST)  # it is on no page
    assert [] == _differing(passage, passage, FIRST)


def test_every_occurrence_and_the_parts_on_two_pages_are_compared() -> None:
    passage = "lays up to 2,000 eggs"
    assert ["2,000", "2,000"] == _differing("lays up to 300 eggs", passage, FIRST, SECOND)
    over = "eggs a day, and the workers gather nectar."
    assert ["work-", "ers"] == _differing("eggs a day, and the drones gather nectar.", over, FIRST, SECOND)


def test_nothing_is_found_if_the_ranges_are_not_those_of_the_passage() -> None:
    ranges = marked_words("lays up to", [FIRST])
    assert [] == differing_words("The drone", "The queen", ranges, [FIRST])
