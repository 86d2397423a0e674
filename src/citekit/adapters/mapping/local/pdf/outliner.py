"""The outliner of PDF: which of the three ways to find a structure is taken."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.drivers.pymupdf import Document, opened
from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.adapters.mapping.local.pdf.bookmarks import sections_of_bookmarks
from citekit.adapters.mapping.local.pdf.facts import facts_of, title_of
from citekit.adapters.mapping.local.pdf.groups import page_groups
from citekit.adapters.mapping.local.pdf.headings import sections_of_headings
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.adapters.mapping.local.pdf.placing import Section
from citekit.adapters.mapping.local.pdf.sections import drafts_of
from citekit.domain.bounds import Bounds
from citekit.domain.errors import SourceUnsupported
from citekit.domain.progress import Progress
from citekit.domain.source import Source

BY_BOOKMARKS = "The structure is that of the file's bookmarks."
BY_HEADINGS = "The file has no bookmarks: the structure was told from the size, weight and numbering of its headings."
BY_PAGES = "The file has neither bookmarks nor headings that can be told apart: its pages are grouped by number."


@frozen
class PdfOutliner:
    """Opens the file once and reads each page at most once."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The structure of the PDF `source`. Raises `SourceUnreadable`, `SourceUnsupported`, `Cancelled`."""
        with opened(source.path, SourceUnsupported) as document:
            drafts, notes = _structure(document, PageTexts(document, progress))
            return Outline(
                title=title_of(document, source.path),
                bounds=Bounds(pages=document.page_count),
                drafts=drafts,
                facts=facts_of(document),
                notes=notes,
            )


def _structure(document: Document, texts: PageTexts) -> tuple[Sequence[Draft], list[str]]:
    sections, lost = sections_of_bookmarks(document)
    if sections:
        return _told(sections, texts, [BY_BOOKMARKS, *lost])
    headings = sections_of_headings(texts)
    if headings:
        return _told(headings, texts, [BY_HEADINGS])
    return page_groups(texts), [BY_PAGES]


def _told(sections: Sequence[Section], texts: PageTexts, notes: list[str]) -> tuple[Sequence[Draft], list[str]]:
    drafts, shortened = drafts_of(sections, texts)
    if shortened:
        notes.append("So many sections overlap that some name their first page only.")
    return drafts, notes
