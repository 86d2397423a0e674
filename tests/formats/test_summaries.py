"""The sentence of a section that is its summary."""

from __future__ import annotations

import pytest

from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.summaries import first_sentence as first_of_page
from citekit.adapters.formats.shared.summaries import first_sentence

SENTENCE = "The water of the lake is sampled each month."


@pytest.mark.parametrize(
    "before",
    [
        "Nadia Nemo, Otto Omnes, and others of the north",
        "Figure 3: The lake and its shore in the winter",
        "The lake and the shore 14",
    ],
    ids=["names", "caption", "contents"],
)
def test_a_line_that_is_no_sentence_is_no_summary_if_a_sentence_follows(before: str) -> None:
    assert first_sentence([before, "", SENTENCE]) == SENTENCE


def test_a_text_without_sentences_is_summarized_by_its_first_line() -> None:
    assert (
        first_sentence(["Rain", "", "Snow and ice in the north of the lake"]) == "Snow and ice in the north of the lake"
    )


def test_the_end_of_a_sentence_from_another_column_is_no_summary_of_a_section_of_a_pdf() -> None:
    text = ["and the scope of what was said since its first release. " + SENTENCE, "Later words."]
    lines = [
        StyledLine(each, 50, 100 + 12 * at, 400, 110 + 12 * at, 10, bold=False, block=1) for at, each in enumerate(text)
    ]

    assert first_of_page(lines) == SENTENCE
