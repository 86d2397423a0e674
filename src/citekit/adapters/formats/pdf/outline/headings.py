"""Lines that may be headings: they stand alone, and differ from the text by size, weight, font, capitals or a number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import (
    depth_of,
    is_begun_label,
    is_label,
    is_number,
    rank_of,
    spaced,
)
from citekit.adapters.formats.pdf.outline.lines import Typed
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import Columns, columns_of, type_of, whole, with_numbers
from citekit.adapters.formats.pdf.outline.toc_page import LEADER

LINE_LIMIT = 2000
"""Lines of a page that is searched; more are those of a poster or a plan."""

LONGEST = 200
SHORT = 80
"""Characters of a heading that neither size nor weight nor a number tells."""

LARGER = 1.12
"""How many times the size of the text a heading has that needs no other sign."""

_CAPTION = re.compile(
    r"(?:figure|fig\.|table|listing|algorithm|example|abb\.|abbildung|tabelle|tab\.|figura|tabla|図|表|图)\s*[\dA-Z]",
    re.I,
)
_BULLET = re.compile(r"[•◦‣▪●○■□◊➢✓–—*-]\s|\(?[a-z0-9ivx]{1,3}\)\s|\[\d+\]")
USUAL = re.compile(
    r"(?:abstract|introduction|background|related work|methods?|results|discussion|conclusions?|references|bibliography|"
    r"acknowledge?ments?|preface|foreword|summary|appendix|index|glossary)\W*",
    re.IGNORECASE,
)
MUCH_LARGER = 1.5
"""How many times the size of the text a line has that is no part of a sentence in it, whatever stands around it."""

WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


Style = tuple[str, float, bool, bool]
"""Font, size in points, bold, capitals."""


@frozen
class Heading:
    """What may be a heading: its words and `lines`, where it stands, its style, and the depth of its number (0: none).

    `column` counts from the left of the page, 0 where it spans them all. `across` says that it is no vertical writing,
    of which `lines` were laid down.
    """

    text: str
    page: int
    lines: tuple[Typed, ...]
    style: Style
    depth: int
    column: int
    across: bool = True

    @property
    def y(self) -> float:
        """The top of its first line, in points."""
        return self.lines[0].top


@frozen
class Body:
    """The type of most of the text."""

    size: float
    font: str
    bold: bool
    mono: bool


def body_of(texts: PageTexts) -> Body | None:
    """The type of most of the text; None where no size prevails (a poster, a scan read by a machine) or there is none."""
    sizes: Counter[float] = Counter()
    fonts: Counter[tuple[str, bool, bool]] = Counter()
    for page in range(1, texts.count + 1):
        for line in texts.lines(page):
            sizes[line.size] += len(line.text)
            fonts[line.font, line.bold, line.mono] += len(line.text)
    if not sizes:
        return None
    size, _ = max(sizes.items(), key=lambda item: (item[1], -item[0]))
    near = sum(count for other, count in sizes.items() if abs(other - size) <= 1)
    if near * 2 < sizes.total():
        return None
    font, bold, mono = max(fonts.items(), key=lambda item: (item[1], item[0]))[0]
    return Body(size, font, bold, mono)


def headings_on(page: int, lines: Sequence[Typed], body: Body) -> list[Heading]:
    """What may be a heading on a page, in reading order; lines that go on in the next are one."""
    if len(lines) > LINE_LIMIT:
        return []
    columns = columns_of(lines)
    held: list[Typed] = []
    found: list[Heading] = []
    for line in _in_order(with_numbers(whole(lines, columns, LARGER * body.size)), columns):
        if not _may_be(line, lines, columns, body):
            found += _closed(page, held, columns)
            held = []
        elif held and _goes_on(held, line):
            held.append(line)
        else:
            found += _closed(page, held, columns)
            held = [line]
    return [*found, *_closed(page, held, columns)]


def _in_order(lines: Sequence[Typed], columns: Columns) -> list[Typed]:
    return sorted(lines, key=lambda line: (columns.band(line), columns.of(line), round(line.top), line.left))


def _closed(page: int, held: Sequence[Typed], columns: Columns) -> Iterator[Heading]:
    if not held:
        return
    text = spaced(_joined([line.text for line in held]))
    first = max(held, key=lambda line: (line.size, -line.top))
    if len(text) <= LONGEST and WORD.search(text) and not text.endswith("。"):  # a sentence, however large it is set
        style = (first.font, first.size, first.bold, _is_capitals(text))
        yield Heading(text, page, tuple(held), style, depth_of(text), columns.of(first))


def _joined(texts: Sequence[str]) -> str:
    text = texts[0]
    for more in texts[1:]:
        if text.endswith("\u00ad") or (text.endswith("-") and more[:1].islower() and text[-2:-1].isalpha()):
            text = text[:-1] + more
        else:
            text = f"{text} {more}"
    return text


def _is_capitals(text: str) -> bool:
    count = 0
    for character in text:  # most end at their first small letter
        if character.isalpha():
            if not character.isupper():
                return False
            count += 1
    return count >= 3


def _may_be(line: Typed, lines: Sequence[Typed], columns: Columns, body: Body) -> bool:
    text = line.text
    if not line.upright or line.noted or len(text) > LONGEST or not _stands_out(line, body):
        return False
    if text.endswith((",", ";")) or _BULLET.match(text) or _CAPTION.match(text) or LEADER.search(text):
        return False
    if line.size < LARGER * body.size and "://" in text:
        return False
    if "：" in text[:-1] and not depth_of(text) and rank_of(text) is None:
        return False  # a fact with its name before it, as above a table
    if line.size < MUCH_LARGER * body.size and _runs_on(line, lines):
        return False
    return _is_alone(line, lines, columns)


def _runs_on(line: Typed, lines: Sequence[Typed]) -> bool:
    """Whether the line belongs to a sentence that began above it or ends below it, in another weight."""
    height = line.bottom - line.top
    for other in lines:
        if other.block != line.block or other is line or type_of(other) == type_of(line):
            continue
        above, below = line.top - other.bottom, other.top - line.bottom
        if -height / 2 < above < height / 2 and not other.text.endswith((".", ":", "!", "?", "。")):
            return True
        if -height / 2 < below < height / 2 and other.text[:1].islower():
            return True
    return False


def _stands_out(line: Typed, body: Body) -> bool:
    text = line.text
    if line.size >= LARGER * body.size:
        return True
    if line.size < 0.9 * body.size or (text.endswith(".") and not is_number(text.split()[-1])):
        return False
    if line.bold and not body.bold:
        return not line.tail and (not text.endswith(":") or bool(depth_of(text)))
    if not (line.font != body.font and line.mono == body.mono) and not _is_capitals(text):
        return False
    marked = bool(depth_of(text) or rank_of(text) is not None or USUAL.fullmatch(text))
    return marked or (text[:1].isupper() and len(text) < SHORT)


def _is_alone(line: Typed, lines: Sequence[Typed], columns: Columns) -> bool:
    """Whether nothing else stands in its row of its column, as in a table, a definition, or a line of running text."""
    middle = (line.top + line.bottom) / 2
    own = columns.of(line)
    for other in lines:
        if other.top < middle < other.bottom and columns.of(other) == own:
            inside = other.left >= line.left - 1 and other.right <= line.right + 1
            if not inside:
                return False
    return True


def _goes_on(held: Sequence[Typed], line: Typed) -> bool:
    """Whether `line` is the next line of the same heading; the name of a chapter goes on in its title."""
    last = held[-1]
    height = max(last.bottom - last.top, 1)
    gap = line.top - last.bottom
    if len(held) == 1 and is_begun_label(last.text):
        return -height < gap < 3 * height
    if is_label(" ".join(each.text for each in held)):
        return -height < gap < 6 * height and line.size >= last.size * 0.8
    same = (last.size, last.bold, last.font) == (line.size, line.bold, line.font)
    return same and -height < gap < 0.7 * height and not depth_of(line.text) and rank_of(line.text) is None
