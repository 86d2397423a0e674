"""The PDF outliner: a pipeline from the pages of a document to the items of its outline.

The stages are functions in separate modules; the later ones take the results of the earlier ones:

1. `page_reader` reads a page: its visible lines, without hidden text. `pages` has the lines of all pages, each read
   when a stage first needs it, and `headers_footers` removes running headers and footers.
2. `marked_headings` returns the sections that bookmarks name, or the headings that the author tagged;
   `missing_headings` adds headings that these leave out, and `section_numbers` nests bookmarks by their numbers.
3. `structure` returns the sections that the text shows: `toc_tables` reads the printed table of contents (TOC), and
   `toc` locates its entries; `headings` returns candidates, also those that begin a paragraph (`run_in_headings`), and
   `heading_styles` selects those in heading styles or with numbers that count up;
   `reference_entries` adds the entries of reference works, and `marginal_notes` the sections of acts; `slide_titles`
   returns the titles of slides; `heading_levels` derives the levels. `structure` then merges the headings with the TOC
   or with the bookmarks.
4. `scans` finds scanned pages and recognizes their text, which goes through stage 3.
5. `abstracts` adds the abstract of a paper, `contents_lists` leaves out printed contents,
   and `heading_parts` single lines of headings. `sections` turns sections
   into outline items with page ranges, and `summaries` adds a sentence to each.
6. `figures` finds captions and the regions of figures and tables, and inserts them into the outline.
7. `document_title` and `metadata` describe the document as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory, remember
from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer
from citekit.adapters.formats.pdf.outline.abstracts import with_abstracts
from citekit.adapters.formats.pdf.outline.contents_lists import without_contents_lists
from citekit.adapters.formats.pdf.outline.document_title import title_of, without_title
from citekit.adapters.formats.pdf.outline.figures import figures_of, insert_figures
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_parts import without_parts
from citekit.adapters.formats.pdf.outline.marked_headings import sections_of_bookmarks, sections_of_tags, trusted
from citekit.adapters.formats.pdf.outline.metadata import (
    attachment_notes,
    hidden_text_notes,
    metadata_of,
    repair_notes,
    skipped_page_notes,
    unreadable_page_notes,
)
from citekit.adapters.formats.pdf.outline.missing_headings import with_missing
from citekit.adapters.formats.pdf.outline.page_reader import PageReader
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.scans import Scans, find_scans, mark_scans, read_scans, sections_of_scans
from citekit.adapters.formats.pdf.outline.section_numbers import nested_by_numbers
from citekit.adapters.formats.pdf.outline.sections import moved_section_notes, outline_items_of, page_groups
from citekit.adapters.formats.pdf.outline.structure import (
    TextSections,
    sections_of_text,
    spans,
    with_headings_below,
    with_slides,
)
from citekit.adapters.formats.pdf.text_reader import PageTextCollector
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.domain.errors import SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.formats.shared.read_pages import ReadPages
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

BY_BOOKMARKS = "The structure is taken from the file's bookmarks."
BY_BOOKMARKS_AND_HEADINGS = (
    "The structure is taken from the file's bookmarks and from headings that they leave out, recognized by size, weight, "
    "and numbering."
)
BOOKMARKS_OF_FILES = "Bookmarks whose titles are page numbers, file names, or codes were ignored."
TAGS_OF_SOME = (
    "The tagged headings of the file were ignored, because they include only some of the headings on its pages."
)
BOOKMARKS_OF_FEW = (
    "The bookmarks lead to few of the pages with headings, so they were placed among the headings, or ignored if their "
    "titles are not printed on their pages."
)
BY_TAGS = "The file has no usable bookmarks: the structure comes from its tagged headings."
BY_HEADINGS = (
    "The file has no usable bookmarks: the structure comes from its headings, recognized by size, weight, and "
    "numbering."
)
BY_TOC = "The file has no usable bookmarks: the structure comes from its printed table of contents and its headings."
BY_PAGES = "The file has neither usable bookmarks nor recognizable headings: its nodes are pages or groups of pages."


@frozen
class _Structure:
    """The outline items of a document without its figures, the note `origin` about how they were found, and the `texts`
    as they were read. `is_quick` is true if the items come from bookmarks that needed no exact search for headings
    below them.
    """

    origin: str
    items: Sequence[OutlineItem]
    texts: PageTexts
    scans: Scans
    notes: Sequence[str] = ()
    is_quick: bool = False


@frozen
class PdfOutliner:
    """An outliner for PDFs.

    `index` caches the positions of bookmarks and pages of long documents for the extractor, and the lines that OCR
    recognizes. `password` opens encrypted files. `ocr` reads scanned pages; with None, their text is missing. `texts`
    gets the text of each page if a text reader is to read the same file next.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)
    ocr: OcrReader | None = None
    texts: ReadPages | None = None

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`.

        Also raise `SourceUnsupported` if `password` does not open the file, and `MapperUnavailable` if OCR fails.
        """
        memory = PdfMemory(source, self.index)
        with opened(source.path, SourceUnsupported, password=self.password) as document:
            unreadable = unreadable_page_notes(document, source.path.name)
            recognizer = None if self.ocr is None else PageRecognizer(self.ocr, source.size, self.index)
            collector = None if self.texts is None else PageTextCollector.of(self.texts, source, document)
            found = _structure(PageTexts(PageReader(document, progress, collector)), recognizer)
            figures, not_searched = figures_of(found.texts, quick=found.is_quick)
            items = insert_figures(found.items, figures, found.texts)
            title = title_of(found.texts, source.path)
            outline = Outline(
                title=title.text,
                extent=Extent(pages=document.page_count),
                items=items,
                facts={**metadata_of(document), **_scan_facts(found.scans), "title_source": title.origin},
                notes=[
                    found.origin,
                    *found.notes,
                    *not_searched,
                    *hidden_text_notes(found.texts.pages.values()),
                    *attachment_notes(document),
                    *unreadable,
                    *skipped_page_notes(document),
                    *repair_notes(document),
                ],
            )
            if collector is not None:
                collector.complete(found.texts.reader.report_progress)
            if self.index is not None:
                remember(document, memory)
            return outline


def _structure(texts: PageTexts, recognizer: PageRecognizer | None) -> _Structure:
    """Return the structure from the bookmarks, else from the tags, or else from the text, which OCR may recognize."""
    bookmarked, lost = sections_of_bookmarks(texts.reader.document)
    marked = trusted(bookmarked, texts)
    distrusted = [BOOKMARKS_OF_FILES] if len(marked) < len(bookmarked) else []
    lost = [*lost, *distrusted]
    if marked:
        complete, texts, is_covered = with_headings_below(marked, texts)
        lost += [] if is_covered else [BOOKMARKS_OF_FEW]
        is_quick = len(complete) == len(marked)
        if is_quick:
            texts = texts.quickly()
        complete = with_abstracts(complete, texts, has_authors=False)
        complete = with_missing(complete, texts)
        method = BY_BOOKMARKS_AND_HEADINGS if len(complete) > len(marked) else BY_BOOKMARKS
        return evolve(_of_sections(method, nested_by_numbers(complete), texts, lost, recognizer), is_quick=is_quick)
    tagged = sections_of_tags(texts)
    is_dense = len(tagged) >= texts.count
    told = TextSections([], texts) if is_dense else sections_of_text(texts)
    if tagged and spans(tagged, told.sections):
        read = told.texts.quickly().with_all_headers_footers()
        return _of_sections(BY_TAGS, with_missing(with_slides(tagged, read), read), read, distrusted, recognizer)
    if tagged:
        distrusted.append(TAGS_OF_SOME)
    scans = find_scans(told.texts)
    notes = [*distrusted, *scans.notes(texts.count, reads=recognizer is not None)]
    if scans.without_text and recognizer is not None:
        recognized, about = read_scans(told.texts, scans, recognizer)
        told, notes = sections_of_scans(recognized), [*notes, *about]
    if told.sections:
        complete = with_abstracts(told.sections, told.texts, has_authors=not told.is_printed)
        items, about = _items_and_notes(complete, told.texts)
        return _Structure(BY_TOC if told.is_printed else BY_HEADINGS, items, told.texts, scans, [*about, *notes])
    return _Structure(BY_PAGES, mark_scans(page_groups(told.texts), scans), told.texts, scans, notes)


def _of_sections(
    origin: str,
    sections: Sequence[Section],
    texts: PageTexts,
    notes: Sequence[str],
    recognizer: PageRecognizer | None,
) -> _Structure:
    """Return the structure of sections that bookmarks or tags name."""
    items, about = _items_and_notes(with_abstracts(sections, texts, has_authors=False), texts)
    scans = find_scans(texts)
    read = scans.notes(texts.count, reads=recognizer is not None)
    return _Structure(origin, items, texts, scans, [*notes, *about, *read])


def _items_and_notes(sections: Sequence[Section], texts: PageTexts) -> tuple[Sequence[OutlineItem], list[str]]:
    sections = without_title(without_parts(without_contents_lists(sections, texts), texts), texts)
    items, shortened = outline_items_of(sections, texts)
    notes = moved_section_notes(sections, texts)
    if shortened:
        notes.append("Many sections overlap, so the locations of some contain only their first page.")
    return items, notes


def _scan_facts(scans: Scans) -> dict[str, int]:
    return {"scanned_pages": len(scans.pages)} if scans.pages else {}
