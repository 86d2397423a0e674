"""Finds heading candidates: lines that differ from body text by size, weight, font, capitals, or a number."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import (
    depth_of,
    is_heading_number,
    is_label,
    is_label_word,
    is_series_label,
    rank_of,
    series_of,
    with_number_space,
)
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import (
    Columns,
    columns_of,
    font_of,
    join_numbers,
    join_pieces,
    without_line_numbers,
)
from citekit.adapters.formats.pdf.outline.run_in_headings import run_in_of
from citekit.adapters.formats.pdf.outline.table_cells import is_in_cell
from citekit.adapters.formats.pdf.outline.toc_tables import CAPTION_START, LEADER
from citekit.domain.vocabulary import BOOK_HEADING, PAPER_HEADING, STATEMENT, THEOREM, any_of

LINE_LIMIT = 2000
"""The maximum number of lines of a page that is searched; a page with more is usually a poster or a plan."""

DOTTED_DEPTH = 2
"""The minimum depth of a number with dots."""

MAX_LENGTH = 200
SHORT_LENGTH = 80
"""A heading that is marked by neither size, weight, nor a number has fewer characters than this.

Other modules use this number as the maximum length of a short text.
"""

LABEL_LENGTH = 45
"""A bold line without a number that ends in a colon is a heading only if it has fewer characters than this; others
begin a list.
"""

SENTENCE_LENGTH = 70
"""A longer line that ends in a period is a sentence, unless it is much larger than body text, or larger and bold."""

PARAGRAPH_LINES = 4
"""The minimum number of lines below each other, as wide as the text, that are a paragraph, whatever their font."""

FULL_WIDTH = 0.85
"""The minimum width of all but the last line of a paragraph, as a share of the width of the text of the page."""

PARAGRAPH_GAP = 2.6
"""The largest distance between the tops of two lines of a paragraph, as a multiple of the height of a line."""

LARGER_RATIO = 1.12
"""The minimum size of a heading without other signs, as a multiple of the size of body text.

A line of at least this size counts as larger than body text.
"""

_GLYPH = re.compile(r"[•◦‣▪●○■□◊➢✓·–—*-]\s+")
_BULLET = re.compile(rf"{_GLYPH.pattern}|\(?[a-z0-9ivx]{{1,3}}\)\s|\[\d+\]")
_ADDRESS = re.compile(r"\S@\S+\.\w|\w+://\S+\Z|\Awww\.\S+\Z|\A(?:#[^\W\d]\w*\s*)+\Z|\A[@/]\w+\Z")
"""An address, a line of only hashtags, or the name of an account."""

COMMON_HEADING = re.compile(rf"(?:{any_of(PAPER_HEADING, BOOK_HEADING)})\W*", re.IGNORECASE)
_STATEMENT = re.compile(rf"(?:{any_of(THEOREM)})\s+\d", re.IGNORECASE)
_QUOTE = re.compile(r"[\"“„«].{20,}[.!?…,][\"”“»]\Z")
"""A whole sentence in quotation marks, as designers print it large beside the text."""

_NAMED_STATEMENT = re.compile(rf"(?:{any_of(STATEMENT, THEOREM)})\b", re.IGNORECASE)
_CODE = re.compile(r"\d+:\s+[a-z]")
MUCH_LARGER_RATIO = 1.5
"""A line whose font size is at least this multiple of that of body text is not considered part of a sentence or of
other text.
"""

LABEL_RATIO = 0.8
"""The minimum size of a title far below the label of its chapter, as a multiple of the size of the label."""

OPEN_SHARE = 0.2
"""A line that leaves more than this share of the width of its text open at its end is the last of a sentence."""

WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


FontStyle = tuple[str, float, bool, bool]
"""Font, size in points, bold, capitals."""


@frozen
class Heading:
    """A heading candidate: its text, 1-based page, lines, style, and the depth of its number (0 if it has none).

    `column` is the number of its column from the left, or 0 if it spans columns or there is only one. `horizontal` is
    false for vertical writing, whose `lines` are rotated. `is_run_in` is true if the text of a paragraph follows on the
    same line.
    """

    text: str
    page: int
    lines: tuple[StyledLine, ...]
    style: FontStyle
    depth: int
    column: int
    horizontal: bool = True
    is_run_in: bool = False

    @property
    def y(self) -> float:
        """The distance of the first line's top from the top of the page, in points."""
        return self.lines[0].top


@frozen
class BodyStyle:
    """The style of body text, which is the style of most of the document; `size` is in points."""

    size: float
    font: str
    bold: bool
    mono: bool


def body_style_of(texts: PageTexts, smallest: float = 0.0) -> BodyStyle | None:
    """Return the style of most of the text; None without text or a predominant size, as in a poster.

    Text below the size `smallest` in points, such as the labels of diagrams, does not count.
    """
    sizes: Counter[float] = Counter()
    fonts: Counter[tuple[str, bool, bool]] = Counter()
    for page in range(1, texts.count + 1):
        for line in texts.lines(page):
            if line.size < smallest:
                continue
            sizes[line.size] += len(line.text)
            fonts[line.font, line.bold, line.mono] += len(line.text)
    if not sizes:
        return None
    size, _ = max(sizes.items(), key=lambda item: (item[1], -item[0]))
    near = sum(count for other, count in sizes.items() if abs(other - size) <= 1)
    if near * 2 < sizes.total():
        return None
    font, bold, mono = max(fonts.items(), key=lambda item: (item[1], item[0]))[0]
    return BodyStyle(size, font, bold, mono)


def headings_on(page: int, lines: Sequence[StyledLine], body: BodyStyle) -> list[Heading]:
    """Return the heading candidates on a page in reading order, with consecutive lines of one heading joined.

    There are none if the page has more than `LINE_LIMIT` lines.
    """
    if len(lines) > LINE_LIMIT:
        return []
    lines = without_line_numbers(lines)
    columns = columns_of(lines)
    held: list[StyledLine] = []
    above: StyledLine | None = None
    found: list[Heading] = []
    pieces = join_pieces(lines, columns, LARGER_RATIO * body.size)
    for line in _in_reading_order(join_numbers(pieces), columns):
        if opening := _run_in_of(line, above, lines, columns, body):
            held = [each for each in held if each not in opening]
            own = (evolve(heading, is_run_in=True) for heading in _heading_of(page, opening, columns, body))
            found += [*_heading_of(page, held, columns, body), *own]
            held = []
        elif held and line.font != body.font and _continues_heading(held, line, body):
            held.append(line)  # whatever its words: it may begin with a lowercase letter
        elif not _may_be_heading(line, lines, columns, body):
            if _ends_paragraph(held, line, body):
                held = []
            found += _heading_of(page, held, columns, body)
            held = []
        elif held and _continues_heading(held, line, body):
            held.append(line)
        else:
            found += _heading_of(page, held, columns, body)
            held = [line]
        above = line
    return _without_paragraphs([*found, *_heading_of(page, held, columns, body)], lines)


def _without_paragraphs(found: Sequence[Heading], lines: Sequence[StyledLine]) -> list[Heading]:
    """Return the candidates without the lines of paragraphs with wide spacing: at least `PARAGRAPH_LINES` single lines in
    one font, of which all but the last are nearly as wide as the text of the page.
    """
    left, right = min((line.left for line in lines), default=0.0), max((line.right for line in lines), default=0.0)
    kept: list[Heading] = []
    run: list[Heading] = []
    for heading in found:
        if not (run and _continues_paragraph(run[-1].lines[-1], heading, right - left)):
            kept += run if len(run) < PARAGRAPH_LINES else []
            run = []
        run.append(heading)
    return [*kept, *(run if len(run) < PARAGRAPH_LINES else [])]


def _continues_paragraph(last: StyledLine, heading: Heading, width: float) -> bool:
    first = heading.lines[0]
    is_full = last.right - last.left >= FULL_WIDTH * width and len(heading.lines) == 1
    near = 0 < first.top - last.top < PARAGRAPH_GAP * (last.bottom - last.top)
    return is_full and near and font_of(last) == font_of(first) and not heading.depth


def _run_in_of(
    line: StyledLine, above: StyledLine | None, lines: Sequence[StyledLine], columns: Columns, body: BodyStyle
) -> tuple[StyledLine, ...]:
    """Return the lines of the run-in heading that ends in `line`, perhaps begun in the line `above`; none if the whole
    line may be a heading or the cell of a table.
    """
    if not line.upright or line.has_note_number or line.size >= LARGER_RATIO * body.size:
        return ()
    opening = run_in_of(line, above)
    if not opening or depth_of(opening[0].text) >= DOTTED_DEPTH:
        return opening
    return () if is_in_cell(line, lines) or _may_be_heading(line, lines, columns, body) else opening


def _ends_paragraph(held: Sequence[StyledLine], line: StyledLine, body: BodyStyle) -> bool:
    """Return whether the lines `held` and `line`, in one font, are a paragraph that ends in a period."""
    alike = bool(held) and font_of(held[-1]) == font_of(line)
    return alike and line.text.endswith(".") and _continues_heading(held, line, body)


def _in_reading_order(lines: Sequence[StyledLine], columns: Columns) -> list[StyledLine]:
    return sorted(lines, key=lambda line: (columns.band(line), columns.column_of(line), round(line.top), line.left))


def _heading_of(page: int, held: Sequence[StyledLine], columns: Columns, body: BodyStyle) -> Iterator[Heading]:
    if not held:
        return
    joined = join_lines([line.text.removesuffix(line.note_mark).rstrip() for line in held])
    bullet = _GLYPH.match(joined)
    text = with_number_space(joined[bullet.end() :] if bullet else joined)
    first = max(held, key=lambda line: (line.size, -line.top))
    if WORD.search(text) and not _is_sentence(text, first, body):
        style = (first.font, first.size, first.bold, is_capitals(text))
        yield Heading(text, page, tuple(held), style, depth_of(text), columns.column_of(first))


def _is_sentence(text: str, first: StyledLine, body: BodyStyle) -> bool:
    """Return whether `text` is a sentence or a paragraph, rather than a heading in the style of its line `first`."""
    if len(text) > MAX_LENGTH or text.endswith("。") or _QUOTE.match(text):
        return True
    small = first.size < LARGER_RATIO * body.size
    weak = small or (not first.bold and first.size < MUCH_LARGER_RATIO * body.size)
    return weak and len(text) > SENTENCE_LENGTH and text.endswith(".") and not series_of(text)


def join_lines(texts: Sequence[str]) -> str:
    """Return the lines of a heading as one text, with the parts of a hyphenated word joined."""
    text = texts[0]
    for more in texts[1:]:
        if text.endswith("\u00ad") or (text.endswith("-") and more[:1].islower() and text[-2:-1].isalpha()):
            text = text[:-1] + more
        else:
            text = f"{text} {more}"
    return text


def is_capitals(text: str) -> bool:
    """Return whether `text` has at least three letters, all of them capitals."""
    count = 0
    for character in text:  # most texts end this loop at their first lowercase letter
        if character.isalpha():
            if not character.isupper():
                return False
            count += 1
    return count >= 3


def _may_be_heading(line: StyledLine, lines: Sequence[StyledLine], columns: Columns, body: BodyStyle) -> bool:
    text = line.text
    if not line.upright or line.has_note_number or len(text) > MAX_LENGTH or not _stands_out(line, body):
        return False
    own = _GLYPH.sub("", text, count=1)
    listed = _BULLET.match(text) and not (
        line.bold and (series_of(text) or depth_of(own) or _is_marked(line, lines, body))
    )
    broken = text.endswith((",", ";")) and not _is_first_of_several(line, lines, columns)
    if broken or listed or CAPTION_START.match(text) or LEADER.search(text) or _ADDRESS.search(text):
        return False
    if _STATEMENT.match(text) or _CODE.match(text) or (line.size < LARGER_RATIO * body.size and "://" in text):
        return False
    if "：" in text[:-1] and not depth_of(text) and rank_of(text) is None:
        return False  # a value with its name before it, as in the lines above a table
    counted = bool(depth_of(text)) and line.bold and line.size >= LARGER_RATIO * body.size
    if line.size < MUCH_LARGER_RATIO * body.size and not counted and _is_part_of_sentence(line, lines):
        return False
    many = len(columns.gutters) > 1 and line.size < LARGER_RATIO * body.size  # a table may look like columns
    if not _is_alone_in_row(line, lines, Columns() if many else columns):
        return False
    small = line.size < LARGER_RATIO * body.size and depth_of(text) < DOTTED_DEPTH
    return not (small and is_in_cell(line, lines))


def _is_marked(line: StyledLine, lines: Sequence[StyledLine], body: BodyStyle) -> bool:
    """Return whether the bold line `line`, which begins with a bullet, is not an item of a list: body text is not bold,
    and no other bold line with a bullet is near.
    """
    near = 2 * (line.bottom - line.top)
    beside = (other for other in lines if other is not line and abs(other.top - line.top) < near)
    return not body.bold and not any(other.bold and _GLYPH.match(other.text) for other in beside)


def _is_part_of_sentence(line: StyledLine, lines: Sequence[StyledLine]) -> bool:
    """Return whether `line` belongs to a sentence that continues in another font above or below it."""
    height = line.bottom - line.top
    early = _early_end(line, lines) if depth_of(line.text) else -math.inf
    for other in lines:
        if other.block != line.block or other is line or font_of(other) == font_of(line):
            continue
        if other.size >= LARGER_RATIO * line.size:
            continue  # a heading
        above, below = line.top - other.bottom, other.top - line.bottom
        if -height / 2 < above < height / 2 and not (_ends_sentence(other.text) or other.right < early):
            return True
        if -height / 2 < below < height / 2 and other.text[:1].islower():
            return True
    return False


def _ends_sentence(text: str) -> bool:
    return text.endswith((".", ":", "!", "?", "。"))


def _early_end(line: StyledLine, lines: Sequence[StyledLine]) -> float:
    """Return the x position before which a line of the paragraph of `line` ends only if its sentence ends there."""
    own = [line, *(other for other in lines if other.block == line.block)]
    left, right = min(other.left for other in own), max(other.right for other in own)
    return right - OPEN_SHARE * (right - left)


def _is_first_of_several(line: StyledLine, lines: Sequence[StyledLine], columns: Columns) -> bool:
    """Return whether the numbered `line` reaches the right edge of its column, so that its text continues below."""
    column = columns.column_of(line)
    beside = [other.right for other in lines if other.upright and columns.column_of(other) == column]
    edge = max(beside, default=line.right)
    return bool(depth_of(line.text)) and edge - line.right < OPEN_SHARE * (edge - line.left)


def _stands_out(line: StyledLine, body: BodyStyle) -> bool:
    text = line.text
    if line.size >= LARGER_RATIO * body.size:
        return True
    heavy, capitals = line.bold and not body.bold, is_capitals(text)
    depth = depth_of(_GLYPH.sub("", text, count=1))
    if line.size < (0.75 if capitals and depth else 0.9) * body.size:
        return False
    if (
        text.endswith(".")
        and not text.endswith("...")
        and not (heavy and (depth or series_of(text)))
        and not (len(words := text.split()) <= 2 and is_heading_number(words[-1]))
    ):
        return False
    if heavy:
        is_article = is_series_label(text) and not _NAMED_STATEMENT.match(text)
        is_topic = len(text) < LABEL_LENGTH and not text.rstrip(": ")[-1:].isdigit()
        return not text.endswith(":") or is_topic or bool(depth) or is_article
    if not (line.font != body.font and line.mono == body.mono) and not capitals:
        return False
    named = rank_of(text) is not None or (capitals and series_of(text))
    marked = bool(depth or named or COMMON_HEADING.fullmatch(text))
    return marked or (text[:1].isupper() and len(text) < SHORT_LENGTH and not (line.lead and line.lead.bold))


def _is_mark_in_margin(line: StyledLine, lines: Sequence[StyledLine]) -> bool:
    """Return whether `line` is only a mark, such as that of a changed section, to the left of all text of the page."""
    if any(map(str.isalnum, line.text)):
        return False
    return all(line.right <= other.left for other in lines if any(map(str.isalnum, other.text)))


def _is_alone_in_row(line: StyledLine, lines: Sequence[StyledLine], columns: Columns) -> bool:
    """Return whether no other text is at the same height in the same column, unlike in tables and body text."""
    middle = (line.top + line.bottom) / 2
    own = columns.column_of(line)
    for other in lines:
        if other.upright and other.top < middle < other.bottom and columns.column_of(other) == own:
            if _is_mark_in_margin(other, lines):
                continue
            inside = other.left >= line.left - 1 and other.right <= line.right + 1
            if not inside:
                return False
    return True


def _continues_heading(held: Sequence[StyledLine], line: StyledLine, body: BodyStyle) -> bool:
    """Return whether `line` continues the heading with the lines `held`, or is the title after a chapter's label or
    number.
    """
    last = held[-1]
    height = max(last.bottom - last.top, 1)
    gap = line.top - last.bottom
    if len(held) == 1 and is_label_word(last.text):
        is_number = rank_of(f"{last.text} {line.text}") is not None
        return -height < gap < 3 * height and (is_number or font_of(last) == font_of(line))
    own = depth_of(line.text) or series_of(line.text)
    labeled = is_label(" ".join(each.text for each in held))
    if labeled and line.size >= LABEL_RATIO * last.size:
        return not own and -height < gap < 6 * height
    if labeled or (len(held) == 1 and last.size > line.size and is_heading_number(last.text)):
        return not own and -height < gap < height and line.size >= LARGER_RATIO * body.size
    same = (last.size, last.bold, last.font) == (line.size, line.bold, line.font)
    begins = depth_of(line.text) or rank_of(line.text) is not None or is_label(line.text) or _GLYPH.match(line.text)
    return same and -height < gap < 0.7 * height and not begins and not _has_other_case(held, line)


def _has_other_case(held: Sequence[StyledLine], line: StyledLine) -> bool:
    """Return whether `line` is not in capitals below the lines `held` in capitals, so that it is another heading."""
    return all(is_capitals(each.text) for each in held) and line.text[:1].isupper() and line.text[1:2].islower()
