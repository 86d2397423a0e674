"""Pages grouped by number, where a document shows no structure."""

from __future__ import annotations

from citekit.adapters.mapping.local.outline import Draft
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.adapters.mapping.local.pdf.sentences import first_sentence
from citekit.domain.locations import Pages

GROUPS = 40
"""Groups that a document is parted into at most."""

_SIZES = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500)


def page_groups(texts: PageTexts) -> tuple[Draft, ...]:
    """Groups of equally many pages, one page each in a short document."""
    size = next((size for size in _SIZES if texts.count <= size * GROUPS), -(-texts.count // GROUPS))
    return tuple(_group(texts, first, min(first + size - 1, texts.count)) for first in range(1, texts.count + 1, size))


def _group(texts: PageTexts, first: int, last: int) -> Draft:
    kind = "page" if first == last else "pages"
    return Draft(group_title(first, last), kind, Pages.span(first, last), first_sentence(texts.lines(first)))


def group_title(first: int, last: int) -> str:
    """`Page 3` or `Pages 1-10`."""
    return f"Page {first}" if first == last else f"Pages {first}-{last}"
