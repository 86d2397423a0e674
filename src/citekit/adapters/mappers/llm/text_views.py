"""Splits texts and books into windows with numbered lines or paragraphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from citekit.adapters.formats.shared.text_file import open_text
from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.messages import Part, TextPart
from citekit.adapters.mappers.llm.windows import SourceView, Window, part_sentence, section_starts, split_ranges
from citekit.domain.ports.reader import Book

TEXT_LIMIT = 120_000
"""The maximum number of characters in one window."""

LINE_LIMIT = 400
"""The maximum number of characters of one line that are sent."""

PARAGRAPH_LIMIT = 1500
"""The maximum number of characters of one paragraph that are sent."""


def text_windows(view: SourceView) -> list[Window]:
    """Split a text into windows, with its lines numbered as in the file. Raise `MapperUnavailable` if it is too long."""
    limit = min(view.limits.characters or TEXT_LIMIT, TEXT_LIMIT)
    rows: list[str] = []
    total = 0
    for number, line in enumerate(open_text(view.source.path, view.progress).lines(view.progress), 1):
        rows.append(f"{number}| {_truncated(line, LINE_LIMIT)}")
        total += len(rows[-1]) + 1
        if total > limit * (view.max_windows + view.cached + 1):
            view.check_count(total * int(view.codec.last) // number // limit)
    return _row_windows(view, rows, limit, "lines")


def book_windows(view: SourceView, book: Book, codec: ParagraphCodec) -> list[Window]:
    """Split a book into windows, with numbered chapters and paragraphs. Raise `MapperUnavailable` if it is too long."""
    limit = min(view.limits.characters or TEXT_LIMIT, TEXT_LIMIT)
    rows = []
    for number, (chapter, spans) in enumerate(zip(book.chapters, codec.paragraphs, strict=True), 1):
        for paragraph, (start, end) in enumerate(spans, 1):
            head = f"=== chapter {number} ===\n" if paragraph == 1 else ""
            rows.append(f"{head}{paragraph}| {_truncated(chapter.text[start:end].strip(), PARAGRAPH_LIMIT)}")
    return _row_windows(view, rows, limit, "paragraphs")


def _row_windows(view: SourceView, rows: Sequence[str], limit: int, unit: str) -> list[Window]:
    borders = {int(row) - 1: depth for row, depth in section_starts(view.local.nodes, view.codec).items()}
    ranges = split_ranges([len(row) + 1 for row in rows], limit, borders)
    view.check_count(len(ranges))
    return [
        Window(
            (start + 1, end),
            partial(_row_part, rows, start, end, _chapter_line(view, start)),
            instruction=part_sentence(
                number, len(ranges), f"{unit} {view.codec.describe((start + 1, end)).partition(' ')[2]}"
            ),
        )
        for number, (start, end) in enumerate(ranges, 1)
    ]


def _chapter_line(view: SourceView, start: int) -> str:
    """Return a line that names the chapter if the window that begins with row `start` (from 0) starts inside a chapter;
    else "".
    """
    if not isinstance(view.codec, ParagraphCodec):
        return ""
    chapter, paragraph = view.codec.position(start + 1)
    return f"=== chapter {chapter} (continued) ===\n" if paragraph > 1 else ""


def _row_part(rows: Sequence[str], start: int, end: int, head: str) -> Sequence[Part]:
    return [TextPart(head + "\n".join(rows[start:end]))]


def _truncated(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
