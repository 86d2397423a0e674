"""Replaces the text of pages with the text that is visible when the pages are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.quotes.headers_footers import WITHOUT, without_running_lines
from citekit.domain.quotes.hidden import NOT_VISIBLE
from citekit.domain.quotes.quotable import Quotable


def as_drawn(texts: Sequence[Quotable], pages: Mapping[int, str]) -> Sequence[Quotable]:
    """Return the quotable `texts` of a file, with the visible text of some of its pages.

    `texts` is the result of `QuotableTexts.read`, and `pages` is a result of `QuotableTexts.drawn`. The result is
    `texts` itself if nothing differs or the text has no pages. Pages whose text was recognized by OCR are left as they
    are.
    """
    shown = texts[0].placed
    if not isinstance(shown, ExtractedText) or shown.kind is not UnitKind.PAGE:
        return texts
    own = [shown.text[unit.start : unit.end] for unit in shown.units]
    drawn = [pages.get(number, text) if number not in shown.recognized else text for number, text in enumerate(own, 1)]
    if drawn == own:
        return texts
    visible = ExtractedText.joined(shown.kind, drawn, "\n", unread=shown.unread, recognized=shown.recognized)
    bare = without_running_lines(visible)
    whole = next((each for each in texts if each.note == NOT_VISIBLE), evolve(texts[0], note=NOT_VISIBLE))
    return [Quotable.of(visible), whole, *([] if bare is None else [Quotable.of(bare, WITHOUT)])]
