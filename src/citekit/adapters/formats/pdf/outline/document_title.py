"""The title of a PDF: from its metadata if its pages confirm it, or from its cover, or from its file name."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, takewhile
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.pdf.outline.heading_location import Section, line_index_of
from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of, series_of
from citekit.adapters.formats.pdf.outline.headings import SHORT_LENGTH, join_lines
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts, title_letters
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.adapters.formats.shared.titles import (
    is_confirmed,
    is_institution,
    may_be_title,
    words_of,
    written_title,
)
from citekit.domain.vocabulary import TOC_HEADING, any_of

COVER_PAGES = 3
"""The number of first pages that are searched for a title."""

CONFIRMING_PAGES = 6
"""The number of first pages whose words confirm the title of the metadata. In books, a half title is before the title
page.
"""

PARTS_OF_A_TITLE = 4
"""The maximum number of texts that form a title. More are assumed to be labels of a figure."""

SAMPLE_PAGES = 12
"""The number of first pages whose prevailing size is assumed to be that of body text.

Their words also tell a subtitle from names and places.
"""

COVER_RATIO = 1.15
"""The smallest size of a title on a cover, as a multiple of the size of body text."""

ABOVE_RATIO = 0.65
"""The smallest size of a part of the title above the largest text of a cover, or of the name of a product below it, as
a multiple of the largest size.
"""

TITLE_SECTIONS = 2
"""The minimum number of sections at the beginning that are the parts of the title if all of them are printed in it."""

LETTERS_OF_A_COVER = 20
"""A page with fewer letters is assumed to be mostly a picture. If it has no title, the next page is searched, too."""

LINES_OF_A_COVER = 60
"""The maximum number of lines of a page that are searched for its title."""

SIZE_TOLERANCE = 0.06
"""The largest difference in size of lines of one title, as a share. OCR measures each line separately."""

SUBTITLE_GAP = 0.8
"""The largest distance of the subtitle from the title above it, as a multiple of the size of the title."""

PRODUCTS_IN_A_TITLE = 3
"""The maximum number of names of products in one part of a title."""

LINES_OF_A_LOCKUP = 3
"""The minimum number of groups of lines that form a block of one width in several sizes."""

EDGE_TOLERANCE = 0.1
"""The largest difference of the edges of two lines of such a block, as a share of the width.

It also limits how far centered lines are from the middle.
"""

BOLD_RATIO = 0.9
"""The smallest size of a bold title on a page without large text, as a multiple of the size of body text."""

LINES_ABOVE_A_TITLE = 12
"""The maximum number of lines of body text above a title. Larger text below more of them is a heading or a decoration."""

PROSE_WIDTH = 0.6
"""The minimum width of a line of prose, as a share of the width of the text of its page."""

NEW_WORDS = 2
"""The minimum number of words that a printed title adds to a title in the metadata that it replaces."""

_PERIOD = re.compile(
    r"\b(?:(?:fiscal |financial )?year|(?:quarterly |annual )?period|quarter|months) end(?:ed|ing)\b.*?\b(?:19|20)\d\d",
    re.I,
)
_CODE = re.compile(r"[0-9a-f]{16,}|[\W\d_]*|\d[\d.v-]*", re.I)
"""File names that mean nothing to a reader: digests, and numbers such as arXiv IDs or register numbers."""

_PRODUCT = re.compile(r"(?!(?i:rev|ver|vol)\d)(?=\S*\d)(?=[A-Z][^A-Z\s]*[A-Z])[\w/+-]{4,}")
"""The name of a product, such as `AXP209`."""

_NOTICE = re.compile(r"©|\(c\)|\bcopyright\b|\b[\w-]{1,63}\.[a-z]{2,}\b", re.I)
"""Matches a sign of a copyright notice or a web address."""

_COMPANY = re.compile(
    r"(.*\w),?\s+(?:LLC|Inc|INC|Ltd|LTD|GmbH|GMBH|Corp|CORP|Corporation|CORPORATION|Limited|LIMITED)\b(?P<rest>.*)"
)
"""Matches a line with the legal form of a company after its name."""

_ADDRESS = re.compile(r"^[\w ]+,\s+[A-Z]\.?[A-Z]\.?\s+\d{5}$|_{3,}$")
"""Matches a place with its ZIP code, and the blank of a form."""

_DATE = re.compile(r"\b(?:\d{1,2}/\d{1,2}/\d{4}|\d{4}-\d\d-\d\d)\b")
_REGISTRANT = re.compile(r"\W*exact name of (?:the )?registrant", re.I)
_FILE_NUMBER = re.compile(r"\d{3}")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_TOC = re.compile(rf"(?:{any_of(TOC_HEADING)})\W*", re.I)
_SEPARATOR = " – "


@frozen
class DocumentTitle:
    """A title and where it was found: `metadata`, `page N`, or `file name`."""

    text: str
    origin: str


def title_of(texts: PageTexts, path: Path) -> DocumentTitle:
    """Return the title in the metadata if it looks like one, the first pages confirm it, and they have no better one.

    Otherwise, return the most prominent lines of the first pages. Without these, return the unconfirmed title of the
    metadata, or else the file name in a readable form, or, if that is only a code, the first line of at least three
    words.
    """
    metadata = texts.reader.document.metadata or {}
    written, author = written_title(metadata.get("title") or ""), title_letters(metadata.get("author") or "")
    body_size = _body_size(texts)
    is_trusted = bool(written) and is_confirmed(written, _first_words(texts))
    cover = _cover_page(texts)
    found = _title_on_pages(texts, cover, body_size, author)
    if is_trusted and not (found and _is_better(found.text, written, texts, body_size)):
        return DocumentTitle(_with_spaces(written, found.text if found else ""), "metadata")
    if found:
        return found
    if written:
        return DocumentTitle(written, "metadata")
    opening = next(
        (line.text for line in [*texts.lines(cover), *texts.read(cover)] if len(words_of(line.text)) > 2), ""
    )
    if opening and _CODE.fullmatch(path.stem):
        return DocumentTitle(one_line(opening, TITLE_LIMIT), f"page {cover}")
    return DocumentTitle(_readable(path.stem), "file name")


def without_title(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the sections without the first ones, if these are parts of the title on their page.

    There must be at least two of them, with hardly any other text between them. A single one is kept, because it may be
    the heading of all text.
    """
    page = sections[0].page if len(sections) > TITLE_SECTIONS else 0
    if not 0 < page <= COVER_PAGES or sections[TITLE_SECTIONS - 1].page != page:
        return sections
    author = title_letters((texts.reader.document.metadata or {}).get("author") or "")
    found = _title_on_pages(texts, page, _body_size(texts), author)
    if found is None or found.origin != f"page {page}":
        return sections
    title = title_letters(found.text)
    parts = [*takewhile(lambda each: each.page == page and _is_part(each.title, title), sections)]
    if not TITLE_SECTIONS <= len(parts) < len(sections):
        return sections
    first, last = line_index_of(parts[0], texts), line_index_of(parts[-1], texts)
    between = [] if first is None or last is None else texts.lines(page)[first:last]
    other = [letters for line in between if (letters := title_letters(line.text)) not in title]
    return sections[len(parts) :] if between and sum(map(len, other)) <= SHORT_LENGTH else sections


def _is_part(heading: str, title: str) -> bool:
    """Return whether `title` (only letters, in lower case) contains the unnumbered `heading`."""
    letters = title_letters(heading)
    return len(letters) > 3 and letters in title and not (depth_of(heading) or series_of(heading))


def _cover_page(texts: PageTexts) -> int:
    """Return the first page that is not mostly a picture, or the last one that is searched for a title."""
    first = range(1, min(COVER_PAGES, texts.count) + 1)
    return next((page for page in first if _letters(texts.read(page)) >= LETTERS_OF_A_COVER), first[-1])


def _title_on_pages(texts: PageTexts, last: int, body_size: float, author: str) -> DocumentTitle | None:
    """Return the title on the first page that shows one, among the pages up to `last`; None if there is none."""
    for page in range(1, last + 1):
        texts = texts.exactly_on([page])
        if printed := _cover_title(page, texts, body_size, author):
            return DocumentTitle(printed, f"page {page}")
    return None


def _is_better(printed: str, written: str, texts: PageTexts, body_size: float) -> bool:
    """Return whether `printed`, the title on a cover, is better than `written`, the title in the metadata, which the
    pages confirm.

    `printed` is better if its first part continues `written`. It is also better if `written` seems to be the name of a
    draft or of another document: no first page shows `written` in bold or large type, `written` has no date, and
    `printed` adds several words. If the two have no word in common, no first page may have `written` at all, and
    `printed` must not be a sentence.
    """
    wanted, first = title_letters(written), title_letters(printed.split(_SEPARATOR)[0])
    if first.startswith(wanted):
        return first != wanted
    words, known = set(words_of(printed)), set(words_of(written))
    is_sentence = printed.endswith(".") and not words & known
    if len(words - known) < NEW_WORDS or _DATE.search(written) or is_sentence:
        return False
    size = COVER_RATIO * body_size if words & known else 0.0
    pages = range(1, min(CONFIRMING_PAGES, texts.count) + 1)
    return not any(wanted in _prominent_letters(texts.read(page), size) for page in pages)


def _with_spaces(written: str, printed: str) -> str:
    """Return the title in the metadata with the spaces of the first part of the printed one if only these differ; often,
    a line break lost its space.
    """
    first = printed.split(_SEPARATOR)[0]
    return first if first.replace(" ", "") == written.replace(" ", "") and " " in first else written


def _prominent_letters(lines: Sequence[StyledLine], size: float) -> str:
    """Return the letters of the lines that are bold or have at least `size`."""
    return title_letters("".join([line.text for line in lines if line.bold or line.size >= size]))


def _first_words(texts: PageTexts) -> set[str]:
    pages = range(1, min(CONFIRMING_PAGES, texts.count) + 1)
    return {word for page in pages for line in texts.read(page) for word in words_of(line.text)}


def _letters(lines: Sequence[StyledLine]) -> int:
    return sum(character.isalpha() for line in lines for character in line.text)


def _body_size(texts: PageTexts) -> float:
    """Return the prevailing size of the first pages in points, or 0 if they have no text."""
    sizes: Counter[float] = Counter()
    for page in range(1, min(SAMPLE_PAGES, texts.count) + 1):
        for line in texts.read(page):
            sizes[line.size] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], -item[0]))[0] if sizes else 0.0


def _cover_title(page: int, texts: PageTexts, body_size: float, author: str) -> str:
    """Return the title on `page`: its largest text with the parts of the title around it and its subtitle, or else the
    title in the size of the text.

    Institutions are left out, unless `page` has no other title. So is text below `LINES_ABOVE_A_TITLE` lines. The last
    part is the name of the publisher, or of the `author` in the metadata (letters in lower case). In the report of a
    company about a period, the name of the company is the first part, and the period the last one. Return "" if there
    is no such text, if it has too many parts, or if it follows the heading of a table of contents.
    """
    lines = [line for line in texts.all_displayed_lines(page) if _reads_across(line)]
    every = _as_lockups(_groups([line for line in lines if line.size >= COVER_RATIO * body_size]))
    contents = next((at for at, group in enumerate(every) if _TOC.fullmatch(_text(group))), len(every))
    lowest = _end_of_head(lines, body_size)
    groups = [
        group
        for group in every[:contents]
        if (_is_title(_text(group)) or _is_product(_text(group))) and group[0].top < lowest
    ]
    institutions = [group for group in groups if is_institution(_text(group))]
    named = [group for group in groups if group not in institutions]
    shown = (found[0] for line in lines if len(line.text) <= SHORT_LENGTH and (found := _PERIOD.search(line.text)))
    period = [*islice(shown, 1)]
    registrant = _registrant(lines)
    if any(_is_title(_text(group)) for group in named):
        parts = [*map(_text, _parts_and_publisher(named, lines, texts, body_size, author, bool(period)))]
    elif contents == len(every) and (plain := _plain_title(lines, body_size, author)):
        parts = [plain]
    else:
        parts = [] if registrant or period else [*map(_text, _parts_of_title(institutions, lines, body_size))]
    if not parts and not (institutions and (registrant or period)):
        return ""
    return one_line(_SEPARATOR.join(_distinct([*registrant, *parts, *period])), TITLE_LIMIT)


def _parts_and_publisher(
    groups: Sequence[list[StyledLine]],
    lines: Sequence[StyledLine],
    texts: PageTexts,
    body_size: float,
    author: str,
    is_report: bool,
) -> list[list[StyledLine]]:
    """Return the parts of a title among `groups`, the subtitle, and last the publisher; none if there are too many.

    In the report of a company about a period (`is_report`), the company is no publisher.
    """
    titles = [group for group in groups if _is_title(_text(group))]
    largest = max(titles, key=_size)
    is_named = len(titles) > 1 and not is_report and _Mentions.on(lines).has_publisher(largest, author)
    publisher = [largest] if is_named else []
    parts = _parts_of_title([group for group in groups if group not in publisher], lines, body_size)
    if len(parts) > PARTS_OF_A_TITLE:
        return []
    parts.sort(key=lambda group: -_size(group))
    subtitles = _subtitles([group for group in titles if group not in publisher], parts, texts)
    return [*parts, *subtitles, *publisher]


def _parts_of_title(
    groups: Sequence[list[StyledLine]], lines: Sequence[StyledLine], body_size: float
) -> list[list[StyledLine]]:
    """Return the largest of `groups`, those above it in nearly its size, and those below it in its size before prose;
    names of products below it may be smaller.
    """
    if not groups:
        return []
    largest = max(groups, key=_size)
    at = groups.index(largest)
    prose = min((line.top for line in lines if _is_prose(line, body_size)), default=math.inf)
    below = [group for group in groups[at + 1 :] if group[0].top < max(prose, largest[-1].bottom)]
    return [
        largest,
        *(group for group in groups[:at] if _size(group) >= ABOVE_RATIO * _size(largest)),
        *(
            group
            for group in below
            if _same_size_as(_size(group), _size(largest))
            or (_is_product(_text(group)) and _size(group) >= ABOVE_RATIO * _size(largest))
        ),
    ]


def _subtitles(
    groups: Sequence[list[StyledLine]], parts: Sequence[list[StyledLine]], texts: PageTexts
) -> list[list[StyledLine]]:
    """Return the subtitle, if there is one: the group next below the lowest of the `parts` if it is near,
    has no numbers, and mostly has words that the first pages also have in small letters, unlike names and places.
    """
    last = max((part[-1] for part in parts), key=lambda line: line.bottom)
    below = [
        group
        for group in groups
        if group[0].top >= last.bottom - last.size / 2
        and group not in parts
        and any(line.left < last.right and last.left < line.right for line in group)
    ]
    first = min(below, key=lambda group: group[0].top, default=None)
    if first is None or first[0].top - last.bottom > SUBTITLE_GAP * last.size:
        return []
    text = _text(first)
    words, title = _LONG_WORD.findall(text), sum(len(_text(part)) + len(_SEPARATOR) for part in parts)
    if len(words) < 2 or title + len(text) > TITLE_LIMIT or any(map(str.isdigit, text)):
        return []
    pages = range(1, min(SAMPLE_PAGES, texts.count) + 1)
    lines = (line.text for page in pages for line in texts.read(page) if not _NOTICE.search(line.text))
    known = {word for line in lines for word in _LONG_WORD.findall(line)}
    return [first] if 2 * sum(word.casefold() in known for word in words) > len(words) else []


def _reads_across(line: StyledLine) -> bool:
    """Return whether a line of the displayed page is horizontal or slightly slanted."""
    return line.upright or line.right - line.left > 2 * (line.bottom - line.top)


def _registrant(lines: Sequence[StyledLine]) -> list[str]:
    """Return a list with the name of the company if the page is the cover of a form for the US Securities and Exchange
    Commission; otherwise, an empty list.
    """
    caption = next((line for line in lines if _REGISTRANT.match(line.text)), None)
    if caption is None:
        return []
    height = caption.bottom - caption.top
    above = [line for line in lines if -height / 2 < caption.top - line.bottom < 2 * height and _is_title(line.text)]
    name = max(above, key=lambda line: line.bottom, default=None)
    return [name.text] if name is not None and not _FILE_NUMBER.search(name.text) else []


@frozen
class _Mentions:
    """The lines of a page that name organizations, each with letters of its text in lower case.

    For `companies`, these are the letters before the legal form; for `notices` (web addresses and copyright notices),
    they are all letters.
    """

    companies: Sequence[tuple[StyledLine, str]]
    notices: Sequence[tuple[StyledLine, str]]

    @classmethod
    def on(cls, lines: Sequence[StyledLine]) -> _Mentions:
        """Find the mentions among the lines of a page."""
        return cls(
            [(line, title_letters(found[1])) for line in lines if (found := _COMPANY.match(line.text))],
            [(line, title_letters(line.text)) for line in lines if _NOTICE.search(line.text)],
        )

    def has_publisher(self, group: Sequence[StyledLine], author: str) -> bool:
        """Return whether `group` is the author in the metadata, or whether another line mentions it."""
        found = _COMPANY.fullmatch(_text(group))
        name = title_letters(found[1] if found and not title_letters(found["rest"]) else _text(group))
        return (
            name == author
            or any(letters.endswith(name) for line, letters in self.companies if line not in group)
            or any(name in letters for line, letters in self.notices if line not in group)
        )


def _size(group: Sequence[StyledLine]) -> float:
    return max(line.size for line in group)


def _plain_title(lines: Sequence[StyledLine], body_size: float, author: str) -> str:
    """Return the title of a page without large text, or "": the first lines that are both bold and centered, or else the
    first of all if they are bold, or else the first that are centered; a single word only if there is nothing else.

    Lines are at least as large as body text; if there is no title, bold lines nearly as large count, too. Only lines
    above prose count as centered. Institutions, companies, and the `author` are passed over.
    """
    large = _plain_title_among([line for line in lines if line.size >= body_size], lines, author)
    nearly = (line for line in lines if line.size >= (BOLD_RATIO if line.bold else 1) * body_size)
    return large or _plain_title_among([*nearly], lines, author)


def _plain_title_among(shown: Sequence[StyledLine], lines: Sequence[StyledLine], author: str) -> str:
    """Return the title among the lines `shown` of a page with `lines`, or ""; see `_plain_title`."""
    mentions = _Mentions.on(lines)
    groups = [
        group for group in _groups(shown) if not (is_institution(_text(group)) or mentions.has_publisher(group, author))
    ]
    titles = [group for group in groups if _is_title(_text(group))]
    left, right = min((line.left for line in lines), default=0.0), max((line.right for line in lines), default=0.0)
    wide = [line.top for line in lines if line.right - line.left > PROSE_WIDTH * (right - left) and not line.bold]
    prose = min(wide, default=-math.inf)
    centered = [group for group in titles if group[-1].bottom < prose and _is_centered(group, left, right)]
    first = [group for group in groups[:1] if group[0].bold and _is_title(one_line(_text(group), TITLE_LIMIT))]
    found = [*(group for group in centered if group[0].bold), *first, *centered]
    best = next((group for group in found if len(_text(group).split()) > 1), found[0] if found else None)
    return one_line(_text(best), TITLE_LIMIT) if best else ""


def _is_centered(group: Sequence[StyledLine], left: float, right: float) -> bool:
    """Return whether all lines of `group` are in the middle between `left` and `right`, and shorter."""
    slack = EDGE_TOLERANCE * (right - left)
    return all(
        line.left - left > slack / 4 and abs(line.left + line.right - left - right) < 2 * slack for line in group
    )


def _end_of_head(lines: Sequence[StyledLine], body_size: float) -> float:
    """Return the top of the line of body text below which no title begins, because it has many others above it.

    Return infinity if there are not so many.
    """
    tops = sorted(line.top for line in lines if line.size < COVER_RATIO * body_size)
    return tops[LINES_ABOVE_A_TITLE] if len(tops) > LINES_ABOVE_A_TITLE else math.inf


def _is_prose(line: StyledLine, body_size: float) -> bool:
    return len(line.text) > SHORT_LENGTH and _same_size_as(line.size, body_size)


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the texts that no earlier text contains, ignoring case."""
    kept: list[str] = []
    for text in texts:
        if not any(text.casefold() in each.casefold() for each in kept):
            kept.append(text)
    return kept


def _groups(lines: Sequence[StyledLine]) -> list[list[StyledLine]]:
    """Return the lines from top to bottom, with adjacent lines of one size and weight in one group."""
    groups: list[list[StyledLine]] = []
    for line in sorted(lines, key=lambda line: (round(line.bottom), line.left))[:LINES_OF_A_COVER]:
        group = next((group for group in reversed(groups) if _continues(group[-1], line)), None)
        if group is None:
            groups.append([line])
        else:
            group.append(line)
    return groups


def _as_lockups(groups: Sequence[list[StyledLine]]) -> list[list[StyledLine]]:
    """Return the groups, with those joined that form a block: at least `LINES_OF_A_LOCKUP`, one below the other, of one
    font and width, but in several sizes.
    """
    blocks: list[list[list[StyledLine]]] = []
    for group in groups:
        if blocks and _is_below_in_block(blocks[-1][-1], group):
            blocks[-1].append(group)
        else:
            blocks.append([group])
    return [
        group
        for block in blocks
        for group in ([[line for each in block for line in each]] if len(block) >= LINES_OF_A_LOCKUP else block)
    ]


def _is_below_in_block(above: Sequence[StyledLine], below: Sequence[StyledLine]) -> bool:
    last, first = above[-1], below[0]
    slack = EDGE_TOLERANCE * (last.right - last.left)
    level = abs(last.left - first.left) < slack and abs(last.right - first.right) < slack
    return level and last.font == first.font and first.top - last.bottom < 0.3 * (first.bottom - first.top)


def _continues(last: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` has the size and weight of `last`, and is to its right and near it, or in the row below."""
    height = last.bottom - last.top
    if not _same_size(last, line) or last.bold != line.bold:
        return False
    if abs(last.bottom - line.bottom) < height / 3:
        return line.left - last.left >= 0 and line.left - last.right < 1.5 * height
    return -height / 2 < line.top - last.bottom < 0.6 * height and line.left < last.right and last.left < line.right


def _same_size(line: StyledLine, other: StyledLine) -> bool:
    return _same_size_as(line.size, other.size)


def _same_size_as(size: float, other: float) -> bool:
    return abs(size - other) <= SIZE_TOLERANCE * max(size, other)


def _text(group: Sequence[StyledLine]) -> str:
    return join_lines([line.text for line in group])


def _is_title(text: str) -> bool:
    return may_be_title(text) and not depth_of(text) and not _ADDRESS.search(text)


def _is_product(text: str) -> bool:
    """Return whether `text` consists of one to `PRODUCTS_IN_A_TITLE` names of products."""
    names = text.split(maxsplit=PRODUCTS_IN_A_TITLE) if len(text) <= SHORT_LENGTH else []
    return 0 < len(names) <= PRODUCTS_IN_A_TITLE and all(map(_PRODUCT.fullmatch, names))


def _readable(stem: str) -> str:
    """Return the name of a file with spaces for underscores, and for hyphens if these separate three or more words."""
    spaced = stem.replace("_", " ")
    return " ".join((spaced.replace("-", " ") if stem.count("-") > 1 and " " not in stem else spaced).split()) or stem
