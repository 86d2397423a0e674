"""Splits PDFs and pictures into windows for a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from citekit.adapters.mappers.llm.file_views import SIDE_LIMIT
from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Part, TextPart
from citekit.adapters.mappers.llm.text_views import TEXT_LIMIT
from citekit.adapters.mappers.llm.windows import SourceView, Window, part_sentence, section_starts, split_ranges
from citekit.domain.errors import MapperUnavailable

PAGES_PER_FILE = 200
"""The maximum number of pages in one file: models lose count in longer files."""

_PDF = "application/pdf"


def pdf_windows(view: SourceView) -> list[Window]:
    """Split a PDF into windows: the file, files with some of its pages, or the text of its pages.

    In a file with some of the pages, the model counts from 1. Raise `MapperUnavailable` if the PDF needs too many
    requests, if a page is too large, or if the service needs text and the PDF has none.
    """
    return _file_windows(view) if view.limits.as_file else _text_windows(view)


def _file_windows(view: SourceView) -> list[Window]:
    count = int(view.codec.last)
    limit = min(PAGES_PER_FILE, view.limits.pages or PAGES_PER_FILE)
    if count <= limit and view.file_fits:
        return [Window((1, count), lambda: [FilePart(view.source.path, _PDF)])]
    borders = {int(page) - 1: depth for page, depth in section_starts(view.local.nodes, view.codec).items()}
    ranges = split_ranges([1.0] * count, limit, borders)
    view.check_count(len(ranges))
    files = [each for first, end in ranges for each in _split_files(view, first + 1, end)]
    view.check_count(len(files))
    return [_file_window(n, len(files), *each) for n, each in enumerate(files, 1)]


def _file_window(number: int, count: int, first: int, last: int, path: Path) -> Window:
    page_text = f"{_pages(first, last)}. The attached file contains nothing else; count its first page as page 1"
    return Window((first, last), lambda: [FilePart(path, _PDF)], first - 1, part_sentence(number, count, page_text))


def _pages(first: int, last: int) -> str:
    return f"page {first}" if first == last else f"pages {first}-{last}"


def _split_files(view: SourceView, first: int, last: int) -> list[tuple[int, int, Path]]:
    """Cut the pages `first` to `last` (1-based, inclusive) into PDF files that are small enough for the service.

    Return (first page, last page, path) for each. Raise `MapperUnavailable` if a page is too large.
    """
    path = view.folder / f"{view.source.path.stem[:40]}-pages-{first}-{last}.pdf"
    view.viewer.cut_pages(view.source.path, first, last, path, view.progress)
    size = path.stat().st_size
    if view.limits.file_bytes is None or size <= view.limits.file_bytes:
        return [(first, last, path)]
    path.unlink()
    if first == last:
        raise view.page_too_large(first, size)
    middle = (first + last) // 2
    return [*_split_files(view, first, middle), *_split_files(view, middle + 1, last)]


def _text_windows(view: SourceView) -> list[Window]:
    pages = view.viewer.page_texts(view.source.path, view.progress)
    if not any(page.strip() for page in pages):
        raise MapperUnavailable(
            f"{view.source.path.name} has no text layer, and {view.service} does not accept PDF files. Add one with an OCR "
            "program such as OCRmyPDF, or use another mapper. Nothing was sent."
        )
    borders = {int(page) - 1: depth for page, depth in section_starts(view.local.nodes, view.codec).items()}
    limit = min(view.limits.characters or TEXT_LIMIT, TEXT_LIMIT)
    ranges = split_ranges([len(page) + 20 for page in pages], limit, borders)
    view.check_count(len(ranges))
    return [
        Window(
            (start + 1, end),
            partial(_page_parts, pages, start, end),
            instruction=_TEXT_SENTENCE + part_sentence(n, len(ranges), _pages(start + 1, end)),
        )
        for n, (start, end) in enumerate(ranges, 1)
    ]


_TEXT_SENTENCE = "You see the text of the pages, each after a line with its number. Identify pages by these numbers. "


def _page_parts(pages: Sequence[str], start: int, end: int) -> Sequence[Part]:
    return [TextPart("\n".join(f"=== page {n + 1} ===\n{pages[n]}" for n in range(start, end)))]


def image_windows(view: SourceView) -> list[Window]:
    """Return a single window with the whole picture.

    Locations refer to the upright picture, so a picture with a rotation in its metadata is converted.
    """
    if view.limits.as_file and view.file_fits and view.viewer.is_upright(view.source.path):
        return [Window((0.0, 0.0, 1.0, 1.0), lambda: [FilePart(view.source.path, view.source.format.media_type)])]
    return [Window((0.0, 0.0, 1.0, 1.0), lambda: _image_part(view))]


def _image_part(view: SourceView) -> Sequence[Part]:
    data, media_type = view.viewer.picture(view.source.path, SIDE_LIMIT)
    return [ImagePart(data, media_type, "the picture")]
