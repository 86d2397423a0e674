"""The PDF outliner: derives the structure of a document from bookmarks, tags, the printed TOC, or headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory, remember
from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer
from citekit.adapters.formats.pdf.outline.document_title import title_of
from citekit.adapters.formats.pdf.outline.figures import figures_of, insert_figures
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.marked_headings import name_files, sections_of_bookmarks, sections_of_tags
from citekit.adapters.formats.pdf.outline.metadata import attachment_notes, metadata_of, repair_notes
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.scans import Scans, find_scans, mark_scans, read_scans, sections_of_scans
from citekit.adapters.formats.pdf.outline.sections import moved_section_notes, outline_items_of, page_groups
from citekit.adapters.formats.pdf.outline.structure import is_incomplete, sections_of_text, with_headings_below
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.libraries.mupdf.engine import Document, opened, skipped_pages
from citekit.domain.errors import SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

BY_BOOKMARKS = "The structure is taken from the file's bookmarks."
BY_BOOKMARKS_AND_HEADINGS = (
    "The structure is taken from the file's bookmarks and, below them, from its headings, recognized by size, weight, and "
    "numbering."
)
BOOKMARKS_OF_FILES = "Bookmarks whose titles are file names or codes that no page prints are ignored."
BY_TAGS = "The file has no bookmarks: the structure is that of the headings that its author tagged."
BY_HEADINGS = (
    "The file has no bookmarks: the structure is that of its headings, recognized by size, weight, and numbering."
)
BY_TOC = "The file has no bookmarks: the structure is that of its printed table of contents, and of its headings."
BY_PAGES = "The file has neither bookmarks nor recognizable headings: its pages are grouped by number."


NAMED_PAGES = 20
"""The number of pages with hidden text that a note lists."""

CHECKED_PAGES = 5000
"""The number of pages of a repaired file that are checked for readability."""


@frozen
class PdfOutliner:
    """An outliner for PDFs that opens the file once and reads each page at most once in each mode (quick or exact).

    `index` caches the positions of bookmarks and pages of long documents for the extractor. `password` opens encrypted
    files and never appears in a map. `ocr` reads scanned pages; with None, their text is missing.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)
    ocr: OcrReader | None = None

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Return the outline of the PDF `source`.

        Raise `SourceUnreadable` if the file cannot be read, `SourceUnsupported` if it is damaged or encrypted, or
        `Cancelled`.
        """
        memory = PdfMemory(source, self.index)
        with opened(source.path, SourceUnsupported, password=self.password) as document:
            lost = _unreadable_page_notes(document, source.path.name)
            texts = PageTexts(document, progress)
            recognizer = None if self.ocr is None else PageRecognizer(self.ocr, source.size, self.index)
            outline_items, notes, scans = _structure(document, texts, recognizer)
            figures, passed = figures_of(document, texts, quick=notes[0] == BY_BOOKMARKS)
            outline_items = insert_figures(outline_items, figures, texts)
            title = title_of(texts, source.path)
            outline = Outline(
                title=title.text,
                extent=Extent(pages=document.page_count),
                items=outline_items,
                facts={**metadata_of(document), **_scan_facts(scans), "title_source": title.origin},
                notes=[
                    *notes,
                    *passed,
                    *_hidden_text_notes(texts),
                    *attachment_notes(document),
                    *lost,
                    *_skipped_page_notes(document),
                    *repair_notes(document),
                ],
            )
            if self.index is not None:
                remember(document, memory)
            return outline


def _hidden_text_notes(texts: PageTexts) -> list[str]:
    """Return notes for the user about hidden text on the pages that were read, and about pages not checked for it."""
    unchecked = (
        [
            f"Many pages may hold hidden text; {len(texts.unchecked)} of them, page {min(texts.unchecked)} first, were not "
            "checked for it, and summaries may repeat it."
        ]
        if texts.unchecked
        else []
    )
    if not texts.hidden:
        return unchecked
    pages, words = sorted(texts.hidden), sum(texts.hidden.values())
    named = ", ".join(map(str, pages[:NAMED_PAGES])) + (", ..." if len(pages) > NAMED_PAGES else "")
    return [
        f"Hidden text, which no reader of the page sees: {words} {'word' if words == 1 else 'words'} on "
        f"{'page' if len(pages) == 1 else 'pages'} {named}. Titles and summaries leave it out.",
        *unchecked,
    ]


def _skipped_page_notes(document: Document) -> list[str]:
    """Return a note about pages whose content is too complex to process."""
    skipped = skipped_pages(document)
    if not skipped:
        return []
    which = f"page {skipped[0]} is" if len(skipped) == 1 else f"{len(skipped)} pages, page {skipped[0]} first, are"
    return [f"Not all of the file was read: {which} too complex to process, and can be extracted only as pdf."]


def _unreadable_page_notes(document: Document, name: str) -> list[str]:
    """Return a note about unreadable pages of a repaired file. Raise `SourceUnsupported` if no page is readable."""
    if not document.is_repaired:
        return []
    lost = [
        number for number in range(1, min(document.page_count, CHECKED_PAGES) + 1) if not _page_exists(document, number)
    ]
    if len(lost) == document.page_count:
        raise SourceUnsupported(f"'{name}' is damaged: no page of it can be read.")
    return [f"The file is damaged: {len(lost)} of its pages cannot be read, page {lost[0]} first."] if lost else []


def _page_exists(document: Document, number: int) -> bool:
    try:
        return bool(document.xref_object(document.page_xref(number - 1)).startswith("<<"))
    except RuntimeError:  # MuPDF raises it for a missing object
        return False


def _structure(
    document: Document, texts: PageTexts, recognizer: PageRecognizer | None
) -> tuple[Sequence[OutlineItem], list[str], Scans]:
    sections, lost = sections_of_bookmarks(document)
    distrusted = [BOOKMARKS_OF_FILES] if sections and name_files(sections, texts) else []
    if sections and not distrusted:
        complete = with_headings_below(sections, texts)
        texts.quick = len(complete) == len(sections)
        by = BY_BOOKMARKS if texts.quick else BY_BOOKMARKS_AND_HEADINGS
        outline_items, notes = _items_and_notes(complete, texts, [by, *lost])
        scans = find_scans(document, texts)
        return outline_items, [*notes, *scans.notes(texts.count, reads=recognizer is not None)], scans
    tagged = sections_of_tags(texts)
    is_dense = len(tagged) >= texts.count
    headings, printed = ([], False) if is_dense else sections_of_text(texts)
    if tagged and not is_incomplete(tagged, headings):
        texts.quick = True
        texts.learn_headers_footers(range(1, texts.count + 1))
        outline_items, notes = _items_and_notes(tagged, texts, [BY_TAGS, *distrusted])
        scans = find_scans(document, texts)
        return outline_items, [*notes, *scans.notes(texts.count, reads=recognizer is not None)], scans
    scans = find_scans(document, texts)
    about = [*distrusted, *scans.notes(texts.count, reads=recognizer is not None)]
    if scans.without_text and recognizer is not None:
        about += read_scans(document, texts, scans, recognizer)
        headings, printed = sections_of_scans(texts)
    if headings:
        outline_items, notes = _items_and_notes(headings, texts, [BY_TOC if printed else BY_HEADINGS])
        return outline_items, [*notes, *about], scans
    return mark_scans(page_groups(texts), scans), [BY_PAGES, *about], scans


def _scan_facts(scans: Scans) -> dict[str, int]:
    return {"scanned_pages": len(scans.pages)} if scans.pages else {}


def _items_and_notes(
    sections: Sequence[Section], texts: PageTexts, notes: list[str]
) -> tuple[Sequence[OutlineItem], list[str]]:
    outline_items, shortened = outline_items_of(sections, texts)
    notes += moved_section_notes(sections)
    if shortened:
        notes.append("Many sections overlap, so some name only their first page.")
    return outline_items, notes
