"""Finds the headings of a Word document, and the title that it prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING

from citekit.adapters.formats.docx.false_headings import false_headings
from citekit.adapters.formats.docx.opening import LARGER, OPENING_LIMIT, PROSE_LENGTH, Line, printed_title
from citekit.adapters.formats.docx.paragraphs import (
    HEADING_LIMIT,
    begins_page,
    end_of,
    has_page_break,
    is_bold,
    is_centered,
    is_in_table,
    is_unseen,
    line_of,
    size_of,
    style_of,
    words_in,
)
from citekit.adapters.formats.docx.styles import BODY, Styles, outline_level
from citekit.adapters.formats.docx.unstyled import Shown, unstyled_headings
from citekit.adapters.formats.shared.titles import may_be_title
from citekit.adapters.libraries.office_package import below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

LOOK_LIMIT = 100
"""Maximum number of characters of a bold line that counts as a heading without heading styles."""

SAMPLE = 2000
"""The number of paragraphs from which the size of body text is determined."""

LOOK_BACK = 3
"""The number of paragraphs before a line that are searched for a page number."""

LEAST_SECTIONS = 3
"""The minimum number of paragraphs in the style `Title` before other text that show that the style titles sections."""

_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s")
"""Matches the number of a heading below another heading, such as `3.1`."""


def levels_and_title(paragraphs: Sequence[_Element], styles: Styles) -> tuple[list[int], str]:
    """Return the outline level of each paragraph, which is `BODY` for body text, and the title that they print, or ""."""
    body_size = common_size(paragraphs, styles)
    cover = _cover(paragraphs, styles)
    levels = [_paragraph_level(each, styles, at < cover) for at, each in enumerate(paragraphs)]
    levels = _with_sections_in_title_style(paragraphs, levels, styles)
    levels = _with_unstyled(
        paragraphs, levels, _without_false(paragraphs, levels, styles, body_size), styles, body_size
    )
    title = _printed_title(paragraphs, levels, styles, body_size)
    if all(level == BODY or line_of(paragraphs[at]) == title for at, level in enumerate(levels)):
        found = _without_false(paragraphs, _by_look(paragraphs, styles), styles, body_size)
        for at in _title_lines(paragraphs, found, title):
            found[at] = BODY
        if any(level < BODY and levels[at] == BODY for at, level in enumerate(found)):
            levels = found
    return levels, title


def _with_sections_in_title_style(paragraphs: Sequence[_Element], levels: Sequence[int], styles: Styles) -> list[int]:
    """Return the levels. If other text follows at least `LEAST_SECTIONS` paragraphs in the style `Title`, these are
    titles of sections, not of the document: they get the highest level, and all other headings are one level lower.
    """
    shown = [at for at, each in enumerate(paragraphs) if line_of(each)]
    titled = {at for at in shown if levels[at] == BODY and styles.is_called(style_of(paragraphs[at]), "title")}
    if sum(one in titled and other not in titled for one, other in pairwise(shown)) < LEAST_SECTIONS:
        return list(levels)
    return [
        0 if at in titled else min(level + 1, BODY - 1) if level < BODY else BODY for at, level in enumerate(levels)
    ]


def _title_lines(paragraphs: Sequence[_Element], levels: Sequence[int], title: str) -> list[int]:
    """Return the positions of the headings that are the second and following lines of the title, whose first line is a
    heading.
    """
    first = next((at for at, level in enumerate(levels) if level < BODY), len(levels))
    if not title.startswith(line_of(paragraphs[first]) if first < len(levels) else "\0"):
        return []
    following = ((at, text) for at in range(first + 1, len(levels)) if (text := line_of(paragraphs[at])))
    return [at for at, _ in takewhile(lambda line: levels[line[0]] < BODY and line[1] in title, following)]


def common_size(paragraphs: Sequence[_Element], styles: Styles) -> int:
    """Return the most common font size of the text in half points, or the usual size if there is no text."""
    sizes: Counter[int] = Counter()
    for each, text in islice(((each, text) for each in paragraphs if (text := line_of(each))), SAMPLE):
        sizes[size_of(each, styles)] += len(text)
    return max(sizes, key=lambda size: sizes[size], default=styles.usual_size)


def _cover(paragraphs: Sequence[_Element], styles: Styles) -> int:
    """Return the number of paragraphs before the first page break, or 0 if the first page is no cover.

    A cover has text, but no prose, no table, no heading with a heading style, and at most `OPENING_LIMIT` lines.
    """
    count = 0
    for at, each in enumerate(paragraphs):
        text = line_of(each)
        count += bool(text)
        is_heading = bool(text) and styles.level(style_of(each)) < BODY
        if len(text) >= PROSE_LENGTH or count > OPENING_LIMIT or is_in_table(each) or is_heading:
            return 0
        if has_page_break(each):
            return at if count else 0
    return 0


def _paragraph_level(paragraph: _Element, styles: Styles, on_cover: bool) -> int:
    """Return the outline level that a paragraph sets itself, or else that of its style. It is `BODY` if the paragraph
    is empty or too long for a heading.

    In tables and on covers, programs and authors set levels for lines that are no headings. There, a level that a
    paragraph sets itself counts only if it is `BODY`, or if the style is a heading style.
    """
    properties = next(below(paragraph, "pPr"), None)
    own = None if properties is None else outline_level(properties)
    level = styles.level(style_of(paragraph))
    if own is not None and (own == BODY or level < BODY or not (on_cover or is_in_table(paragraph))):
        level = own
    return level if level < BODY and 0 < len(words_in(paragraph)) <= HEADING_LIMIT else BODY


def _without_false(paragraphs: Sequence[_Element], levels: Sequence[int], styles: Styles, body_size: int) -> list[int]:
    """Return the levels of headings without those of `false_headings`."""
    headings = {at: line_of(paragraphs[at]) for at, level in enumerate(levels) if level < BODY}
    false = false_headings(
        headings,
        {at: style_of(paragraphs[at]) for at in headings},
        {at for at in headings if is_bold(paragraphs[at], styles) or size_of(paragraphs[at], styles) > body_size},
        lambda at: line_of(paragraphs[at]) if at < len(paragraphs) else "",
        lambda at: next(filter(None, map(end_of, paragraphs[max(at - LOOK_BACK, 0) : at][::-1])), ""),
    )
    return [BODY if at in false else level for at, level in enumerate(levels)]


def _with_unstyled(
    paragraphs: Sequence[_Element], said: Sequence[int], levels: list[int], styles: Styles, body_size: int
) -> list[int]:
    """Return `levels` with those of `unstyled_headings`. `said` has the levels that paragraphs and their styles
    specify, even for paragraphs that are no headings.

    If there are parts, which are above all other headings, the other headings are one level lower.
    """
    if all(level == BODY for level in levels):
        return levels
    found = unstyled_headings(list(_shown(paragraphs, said, levels, styles)), body_size)
    shift = int(-1 in found.values())
    return [
        min(found.get(at, level) + shift, BODY - 1) if found.get(at, level) < BODY else BODY
        for at, level in enumerate(levels)
    ]


def _shown(
    paragraphs: Sequence[_Element], said: Sequence[int], levels: Sequence[int], styles: Styles
) -> Iterator[Shown]:
    on_page = None
    for at, paragraph in enumerate(paragraphs):
        text = line_of(paragraph)
        if begins_page(paragraph):
            on_page = 0
        if text:
            key = style_of(paragraph)
            yield Shown(
                at,
                text,
                levels[at],
                "" if key == styles.default else key,
                size_of(paragraph, styles),
                is_bold(paragraph, styles),
                is_centered(paragraph, styles),
                is_plain=levels[at] != said[at]
                or is_in_table(paragraph)
                or any(styles.is_called(key, name) for name in ("caption", "title", "subtitle", "table of figures"))
                or styles.is_entry(key),
                on_page=on_page,
            )
            on_page = None if on_page is None else on_page + 1
        if has_page_break(paragraph):
            on_page = 0


def _by_look(paragraphs: Sequence[_Element], styles: Styles) -> list[int]:
    """Return the heading level of each paragraph of a document that has no heading styles, by font size and by numbers
    such as 3.1.

    Short bold lines outside of lists and tables are headings, and so are those that are the only text of a row of a
    table (see `_is_banner`). If they are more than half of the lines, there are no headings.
    """
    levels = [BODY] * len(paragraphs)
    bold = {at: size_of(each, styles) for at, each in enumerate(paragraphs) if _looks_like_heading(each, styles)}
    if not bold or len(bold) * 2 > sum(1 for each in paragraphs if words_in(each)):
        return levels
    sizes = sorted(set(bold.values()), reverse=True)
    above = 0
    for at, size in bold.items():
        levels[at] = min(sizes.index(size), 5)
        numbered = _NUMBER.match(words_in(paragraphs[at]))
        depth = numbered[0].strip(". ").count(".") if numbered else 0
        if depth:
            levels[at] = min(max(levels[at], above + depth), 5)
        else:
            above = levels[at]
    return levels


def _looks_like_heading(paragraph: _Element, styles: Styles) -> bool:
    parent = paragraph.getparent()
    words = words_in(paragraph)
    if (
        parent is None
        or not (local(parent) == "body" or _is_banner(paragraph))
        or not 2 < len(words) <= LOOK_LIMIT
        or words[-1] in ".,;"
    ):
        return False
    properties = next(below(paragraph, "pPr"), None)
    if properties is not None and next(below(properties, "numPr"), None) is not None:
        return False
    return is_bold(paragraph, styles) and any(c.isalpha() for c in words) and not _is_row(paragraph)


def _is_banner(paragraph: _Element) -> bool:
    """Return whether a paragraph is the only text of a row of a table with several rows and columns."""
    cell = paragraph.getparent()
    row = None if cell is None or local(cell) != "tc" else cell.getparent()
    table = None if row is None else row.getparent()
    if cell is None or row is None or table is None or local(table) != "tbl":
        return False
    alone = len(list(below(row, "tc"))) == 1 and sum(bool(line_of(each)) for each in below(cell, "p")) == 1
    return alone and any(len(list(below(each, "tc"))) > 1 for each in below(table, "tr"))


def _is_row(paragraph: _Element) -> bool:
    """Return whether tabs separate the words of a line into three or more columns."""
    pieces = (each for run in paragraph.iter("{*}r") for each in run)
    text = "".join("\t" if local(each) == "tab" else str(each.text or "") for each in pieces)
    return sum(any(map(str.isalpha, column)) for column in text.split("\t")) > 2


def _printed_title(paragraphs: Sequence[_Element], levels: Sequence[int], styles: Styles, body_size: int) -> str:
    """Return the title that the document prints, or ""; see `opening`."""
    shown = ((at, text) for at, each in enumerate(paragraphs) if (text := _own_line(each)))
    texts = list(islice(shown, OPENING_LIMIT + 1))
    counts = Counter(levels)
    lines, before, page, reached = [], -1, 0, 0
    for index, (at, text) in enumerate(texts[:OPENING_LIMIT]):
        paragraph, level = paragraphs[at], levels[at]
        key = style_of(paragraph)
        page += begins_page(paragraph) or any(map(has_page_break, paragraphs[reached:at]))
        reached = at
        if styles.is_called(key, "caption") or is_in_table(paragraph):
            continue
        following = next((levels[later] for later, _ in texts[index + 1 : index + 2]), BODY)
        alone = level < BODY and counts[level] == 1
        lines.append(
            Line(
                text,
                size_of(paragraph, styles),
                level,
                bold=is_bold(paragraph, styles),
                centered=is_centered(paragraph, styles),
                title_style=key if level == BODY and styles.is_called(key, "title") else "",
                follows=at == before + 1,
                holds_text=level < BODY and not alone and (following == BODY or following > level),
                page=page,
            )
        )
        before = at
    return printed_title(lines, body_size)


def _own_line(paragraph: _Element) -> str:
    """Return the text of a paragraph without that of its text boxes, whose paragraphs follow; "" in the copy of a text
    box for older programs.
    """
    if next(paragraph.iterancestors("{*}Fallback"), None) is not None:
        return ""
    boxed = {text for box in paragraph.iter("{*}txbxContent") for text in box.iter("{*}t")}
    if not boxed:
        return line_of(paragraph)
    own = (each for each in paragraph.iter("{*}t") if each not in boxed and not is_unseen(each.getparent()))
    return " ".join("".join(str(each.text or "") for each in own)[:HEADING_LIMIT].split())


def large_title(paragraphs: Sequence[_Element], body_size: int, styles: Styles) -> str:
    """Return the largest of the first paragraphs, joined, if they are larger than body text and may be a title, or "".

    `body_size` is in half points.
    """
    found = [(size_of(each, styles), text) for each in paragraphs[:OPENING_LIMIT] if (text := line_of(each))]
    largest = max((size for size, _ in found), default=0)
    title = " ".join(text for size, text in found if size == largest)
    return title if largest >= LARGER * body_size and may_be_title(title) else ""
