"""The cache of blocks that were read."""

from __future__ import annotations

from citekit.adapters.search.text_index.kept_blocks import KeptBlocks
from citekit.adapters.search.text_index.stored_form import to_bytes
from citekit.domain.library.extracted_text import ExtractedText, Unit, UnitKind
from citekit.domain.text_search.blocks import TextBlock


def stored(text: str) -> bytes:
    return to_bytes(TextBlock(ExtractedText(UnitKind.PAGE, text, [Unit(1, 0, len(text))])))


def test_the_blocks_used_last_are_kept_up_to_a_number_of_characters() -> None:
    kept = KeptBlocks(limit=10)
    one, two, three, large = map(stored, ("a" * 5, "b" * 5, "c" * 5, "d" * 11))
    first, second = kept.of(one), kept.of(two)

    assert kept.of(one) is first
    kept.of(three)
    assert kept.of(one) is first
    assert kept.of(two) is not second
    assert kept.of(large).text == "d" * 11
    assert kept._size <= 10
