"""Titles and summaries on one line: what is not seen is gone, what words are written with stays."""

from __future__ import annotations

import pytest

from citekit.adapters.formats.shared.outline import one_line


@pytest.mark.parametrize("title", ["می\u200cخواهم", "क\u094d\u200dष", "👨\u200d👩\u200d👧 family \u2764\ufe0f"])
def test_joiners_that_a_word_is_written_with_stay(title: str) -> None:
    assert title == one_line(title, 200)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Com\u00adputer", "Computer"),
        ("\ufeffTitle", "Title"),
        ("de\u2060lta", "delta"),
        ("ev\u200dil", "evil"),
        ("می\u200c\u200cخواهم", "میخواهم"),
        ("end\u200d", "end"),
        ("x\u202ey", "x y"),
        ("a\u200bb", "a b"),
        ("a\x1b[31mb\nc", "a [31mb c"),
    ],
)
def test_what_is_not_seen_is_gone_and_parts_no_word(text: str, title: str) -> None:
    assert title == one_line(text, 200)
