"""Sections from headings, told by their size, weight, place and numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.adapters.mapping.local.pdf.placing import Section

READ_LIMIT = 3000
"""Pages that are searched for headings, at 2 to 3 ms each; a longer document is grouped by pages."""

PER_PAGE = 8
"""Headings a page on average; more are the cells of tables or the noise of a scan."""

DEPTH = 4
LONGEST = 160
LARGER = 1.12

_LEADER = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}")
_BARE = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[^\W\d_]")
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|algorithm|abb\.|図|表)\s*[\dA-Z]", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:chapter|part|section|appendix|kapitel|teil|chapitre|partie|cap[ií]tulo)\s+(?:\d{1,3}|[ivxlc]+|[a-z])\b|第.{1,4}[章部節]",
    re.IGNORECASE,
)
_USUAL = re.compile(
    r"(?:abstract|introduction|conclusions?|references|bibliography|acknowledge?ments?|contents|preface|summary)\W*",
    re.IGNORECASE,
)

Style = tuple[float, bool]


@frozen
class Found:
    """A heading that may run over several lines; `depth` is that of its number (`2.1` has 2), 0 where it has none."""

    text: str
    page: int
    y: float
    style: Style
    depth: int
    last: Line


def sections_of_headings(texts: PageTexts) -> list[Section]:
    """The headings of a document, none where it is too long, has one only, or nothing that tells them from the text."""
    if texts.count > READ_LIMIT:
        return []
    pages = range(1, texts.count + 1)
    texts.learn_from(pages)
    body = _body(texts)
    if body is None:
        return []
    found = [heading for page in pages for heading in _on_page(page, _with_numbers(texts.lines(page)), body)]
    if len(found) > PER_PAGE * texts.count:
        found = [heading for heading in found if heading.style[0] >= LARGER * body[0]]
    found = _without_title(found)
    if len(found) < 2 or len(found) > PER_PAGE * texts.count:
        return []
    levels = _levels(found)
    return [Section(level, heading.text, heading.page, heading.y) for heading, level in zip(found, levels, strict=True)]


def _body(texts: PageTexts) -> Style | None:
    """The style of most of the text, None where no size prevails (a poster, or a scan that was read by a machine)."""
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    for page in range(1, texts.count + 1):
        for line in texts.lines(page):
            sizes[line.size] += len(line.text)
            bold[line.bold] += len(line.text)
    total = sum(sizes.values())
    if not total:
        return None
    size, _ = max(sizes.items(), key=lambda item: (item[1], -item[0]))
    near = sum(count for other, count in sizes.items() if abs(other - size) <= 1)
    return (size, bold[True] > bold[False]) if near * 2 >= total else None


def _with_numbers(lines: Sequence[Line]) -> list[Line]:
    """The lines, a number that stands before its heading as a line of its own joined to it."""
    joined: list[Line] = []
    for line in lines:
        number = joined[-1] if joined and _BARE.fullmatch(joined[-1].text) else None
        if number is not None and number.block == line.block and abs(number.bottom - line.bottom) < line.size / 2:
            joined[-1] = evolve(line, text=f"{number.text} {line.text}", left=number.left)
        else:
            joined.append(line)
    return joined


def _on_page(page: int, lines: Sequence[Line], body: Style) -> Iterator[Found]:
    held: Found | None = None
    for place, line in enumerate(lines):
        alone = _is_alone(lines, place)
        if not _is_heading(line, body, alone):
            if held is not None:
                yield from _accepted(held)
            held = None
        elif held is not None and _goes_on(held, line):
            held = evolve(held, text=f"{held.text} {line.text}", last=line)
        else:
            if held is not None:
                yield from _accepted(held)
            held = Found(line.text, page, line.top, (line.size, line.bold), _depth(line.text), line)
    if held is not None:
        yield from _accepted(held)


def _accepted(found: Found) -> Iterator[Found]:
    if sum(character.isalpha() for character in found.text) >= 2 and len(found.text) <= LONGEST:
        yield found


def _is_heading(line: Line, body: Style, alone: bool) -> bool:
    text = line.text
    if len(text) > LONGEST or _LEADER.search(text) or _CAPTION.match(text) or text.endswith((",", ";")):
        return False
    if line.size >= LARGER * body[0]:
        return True
    if line.size < 0.95 * body[0] or not alone or text.endswith("."):
        return False
    marked = bool(_NUMBERED.match(text) or _NAMED.match(text) or _USUAL.fullmatch(text))
    if line.bold and not body[1]:
        return marked or text[:1].isupper()
    return marked and text.isupper()


def _is_alone(lines: Sequence[Line], place: int) -> bool:
    """Whether no other line stands beside this one, as in the row of a table, and none of its block before it."""
    line = lines[place]
    before = lines[place - 1] if place else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    if before is not None and before.block == line.block and before.bold == line.bold and before.size == line.size:
        return False
    middle = (line.top + line.bottom) / 2
    return not any(
        other is not None and other.top < middle < other.bottom and abs(other.left - line.right) < 12 * line.size
        for other in (before, after)
    )


def _goes_on(held: Found, line: Line) -> bool:
    """Whether `line` is the next line of the same heading."""
    height = max(held.last.bottom - held.last.top, 1)
    close = -height < line.top - held.last.bottom < 0.8 * height
    return close and held.style == (line.size, line.bold) and not _depth(line.text) and not _NAMED.match(line.text)


def _depth(text: str) -> int:
    number = _NUMBERED.match(text)
    return number[1].count(".") + 1 if number else 0


def _without_title(found: Sequence[Found]) -> list[Found]:
    """The headings without that of the whole document, the only one of the largest size, on the first page.

    What stands large below a title (authors, a date) is no heading either, where numbers or names tell the first one.
    """
    if not found:
        return []
    largest = max(heading.style[0] for heading in found)
    titles = [heading for heading in found if heading.style[0] == largest]
    if len(titles) == 1 and titles[0].page == 1 and not titles[0].depth and len(found) > 2:
        return _without_authors([heading for heading in found if heading is not titles[0]])
    return list(found)


def _without_authors(found: list[Found]) -> list[Found]:
    first = next((place for place, heading in enumerate(found) if heading.depth or _USUAL.fullmatch(heading.text)), 0)
    return [heading for place, heading in enumerate(found) if place >= first or heading.page > 1]


def _levels(found: Sequence[Found]) -> list[int]:
    """The depth of its number, where a heading has one; else that of its style, larger ones above smaller ones."""
    styles = sorted({heading.style for heading in found}, key=lambda style: (-style[0], not style[1]))
    depths = {style: _usual_depth(found, style) for style in styles}
    numbered = any(depths.values())
    levels: dict[Style, int] = {}
    level = 0
    for style in styles:
        if depths[style]:
            level = depths[style]
        elif not numbered:
            level += 1
        levels[style] = max(1, min(level, DEPTH))
    found_levels = [min(heading.depth or levels[heading.style], DEPTH) for heading in found]
    return [min(found_levels), *found_levels[1:]]  # what comes first is below nothing


def _usual_depth(found: Sequence[Found], style: Style) -> int:
    """The depth of most numbered headings of `style`, 0 where fewer than a quarter of them has a number."""
    own = [heading.depth for heading in found if heading.style == style]
    depths = Counter(depth for depth in own if depth)
    return depths.most_common(1)[0][0] if depths.total() * 4 >= len(own) and depths else 0
