"""Merges the headings of the pages with the sections that bookmarks, tags, or a printed table of contents (TOC) list."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import merge
from itertools import pairwise

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import (
    is_label,
    is_series_label,
    number_parts,
    series_of,
    unnumbered,
)
from citekit.adapters.formats.pdf.outline.heading_styles import Font
from citekit.adapters.formats.pdf.outline.headings import (
    LARGER_RATIO,
    BodyStyle,
    Heading,
    body_style_of,
    headings_on,
)
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts, matches_title, title_letters
from citekit.adapters.formats.pdf.outline.rows import font_of
from citekit.adapters.formats.pdf.outline.toc_tables import LEADER
from citekit.domain.vocabulary import ABSTRACT, NAMED_PART, REFERENCES, STATEMENT, THEOREM, TOC_HEADING, any_of

PAGE_LIMIT = 1000
"""The maximum number of pages of a document that is searched, at 2 to 4 ms each."""

SECTIONS_PER_PAGE = 100
"""The maximum number of listed sections of one page in a document that is searched."""

MIN_SHOWN = 3
"""The minimum number of listed headings of a level that must be found on their pages to know its look, and of
sections with one word before their numbers.
"""

LOOK_SHARE = 0.8
"""The minimum share of the headings of a level that have its look, and of the sections with one word before their
numbers (`Note 1`) that have one level.
"""

CHAPTER_SHARE = 0.25
"""Named parts that are not listed, such as `References`, are found in the fonts that at least this share of the listed
chapter headings have.
"""

OWN_SHARE = 0.9
"""The minimum share of the text in a look that belongs to headings alone in their row."""

MAX_REPEATS = 2
"""A title that is not listed and has more occurrences than this is a rubric, such as `Example`."""

TOC_LINES = 3
"""The number of titles from other pages, or of lines with leader dots, from which a page is one of a printed TOC."""

_NUMBERED = re.compile(r"\S*\d")
_NUMBER = r"(?:[\dA-Z]{1,3}(?:\.\d{1,2})*\.?\s+)?"
_NAMED_PART = re.compile(rf"{_NUMBER}(?:{any_of(ABSTRACT, NAMED_PART, REFERENCES, TOC_HEADING)})", re.IGNORECASE)
_TOC_HEADING = re.compile(rf"{_NUMBER}(?:{any_of(TOC_HEADING)})", re.IGNORECASE)
_REFERENCES = re.compile(rf"{_NUMBER}(?:{any_of(REFERENCES)})", re.IGNORECASE)
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?(?:\s|\Z)")
_STATEMENT = re.compile(rf"(?:{any_of(STATEMENT, THEOREM)})\b", re.IGNORECASE)

Place = tuple[int, float]
"""A 1-based page, and the distance from the top of that page in points."""


@frozen
class _Listed:
    """A section that the source lists, and the `heading` on its page that is its whole title, or None."""

    section: Section
    heading: Heading | None

    @property
    def number(self) -> str:
        """The number that is printed before the title, but that the source leaves out; "" if there is none."""
        title = self.section.title
        if self.heading is None or _NUMBERED.match(title):
            return ""
        rest = unnumbered(self.heading.text)
        return self.heading.text.removesuffix(rest).strip() if title_letters(rest) == title_letters(title) else ""

    @property
    def place(self) -> Place:
        return self.section.position if self.heading is None else (self.section.page, self.heading.y)


@frozen
class _Missing:
    """A heading that the source does not list, and its level."""

    heading: Heading
    level: int

    @property
    def place(self) -> Place:
        return self.heading.page, self.heading.y

    @property
    def section(self) -> Section:
        return Section(self.level, self.heading.text, self.heading.page, self.heading.y)


def with_missing(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the listed sections, and the headings on the pages that their source does not list, in reading order.

    A heading is added if it has the look of the listed headings of one level, in a font that hardly any other text has;
    if its number continues the numbers of the listed sections; or if it is a named part, such as `References`. Sections
    whose headings are on the next page are moved there. If most headings of a level have a printed number that the
    source leaves out, sections of this level get their numbers. A title that is only a label, such as `Chapter 1`,
    becomes the whole printed title.

    The sections are returned unchanged if they are out of order, if the text has no predominant size, if there are more
    than `PAGE_LIMIT` pages, or if a page has more than `SECTIONS_PER_PAGE`.
    """
    if not sections or texts.count > PAGE_LIMIT or any(one.page > other.page for one, other in pairwise(sections)):
        return sections
    body = body_style_of(texts)
    if body is None or max(Counter(section.page for section in sections).values()) > SECTIONS_PER_PAGE:
        return sections
    search = _Search(texts, body)
    listed = search.on_printed_pages([_Listed(section, search.heading_of(section)) for section in sections])
    found = _Source.of(listed, search).missing()
    in_order: Iterable[_Listed | _Missing] = merge(_with_numbers(listed), found, key=lambda each: each.place)
    return [each.section for each in in_order]


@frozen(eq=False)
class _Search:
    """The heading candidates of each page, found when they are first needed."""

    texts: PageTexts
    body: BodyStyle
    on: Lazy[int, list[Heading]] = field(init=False)

    @on.default
    def _found_when_needed(self) -> Lazy[int, list[Heading]]:
        return Lazy(lambda page: headings_on(page, self.texts.displayed_lines(page), self.body))

    def heading_of(self, section: Section) -> Heading | None:
        """Return the candidate whose whole text is the title of `section`, perhaps after a number; the nearest of
        several.
        """
        y = section.y if math.isfinite(section.y) else 0.0
        found = [each for each in self.on[section.page] if _is_same(section.title, each.text)]
        return min(found, key=lambda each: abs(each.y - y), default=None)

    def on_printed_pages(self, listed: Sequence[_Listed]) -> list[_Listed]:
        """Return `listed`, with each section whose title is not on its page, but is a heading of the next page, moved
        there.

        Programs make a bookmark before the page break above its heading. The heading is in a font of other headings of
        the level, and no other section begins before it.
        """
        fonts: dict[int, set[Font]] = defaultdict(set)
        for each in listed:
            if each.heading:
                fonts[each.section.level].add(font_of(each.heading.lines[0]))
        moved: list[_Listed] = []
        last = self.texts.count
        for each in reversed(listed):
            later = self._on_next_page(each.section, fonts[each.section.level]) if each.heading is None else None
            moved.append(later if later is not None and later.section.page <= last else each)
            last = moved[-1].section.page
        return moved[::-1]

    def _on_next_page(self, section: Section, fonts: set[Font]) -> _Listed | None:
        page = section.page + 1
        if page > self.texts.count or self.texts.lines_matching(section.title, section.page):
            return None
        heading = self.heading_of(evolve(section, page=page, y=math.nan))
        if heading is None or font_of(heading.lines[0]) not in fonts:
            return None
        return _Listed(evolve(section, page=page, y=heading.y), heading)

    def is_directly_above(self, heading: Heading, below: Heading) -> bool:
        """Return whether `heading` is above `below` on their page, and no line is between them."""
        bottom = max(line.bottom for line in heading.lines)
        middles = [(line.top + line.bottom) / 2 for line in self.texts.displayed_lines(heading.page)]
        return heading.y < below.y and not any(bottom < middle < below.y for middle in middles)


def _keys(text: str) -> tuple[str, str]:
    """Return the letters of the heading `text`, and those of `text` without its number.

    For a mere label, such as `ITEM 7A`, return its letters and digits twice.
    """
    if is_series_label(text):
        key = "".join(filter(str.isalnum, text.casefold()))
        return key, key
    return title_letters(text), title_letters(unnumbered(text))


def _is_same(title: str, text: str) -> bool:
    """Return whether the heading `text` is the whole `title`, perhaps after a number.

    This is also so if both name the references, or if `title` is the label of a chapter with which `text` begins.
    """
    wanted, _ = _keys(title)
    return bool(wanted) and (
        wanted in _keys(text)
        or bool(_REFERENCES.fullmatch(title) and _REFERENCES.fullmatch(text))
        or _is_labeled(title, text)
    )


def _is_labeled(title: str, text: str) -> bool:
    """Return whether `title` is only the label of a chapter, with which the heading `text` begins."""
    label = title.strip(" .:").casefold()
    return is_label(title) and text.casefold().startswith(label) and not text[len(label) : len(label) + 1].isalnum()


class _Numbering:
    """The numbers that continue those of the sections so far: after `2.1`, these are `2.1.1` and `2.2`; after `Note 1`,
    it is `Note 2`.

    `listed` are all sections of the source. A word before numbers counts if the source numbers several sections with
    it, nearly all of them on one level.
    """

    def __init__(self, listed: Sequence[_Listed]) -> None:
        titles = [_title_with_number(each) for each in listed]
        self._named = {parts for title in titles if (parts := number_parts(title))}
        levels: dict[str, Counter[int]] = defaultdict(Counter)
        for each in listed:
            own = series_of(each.section.title)
            if own and len(own[0]) > 1:
                levels[own[0]][each.section.level] += 1
        usual = {word: counted.most_common(1)[0] for word, counted in levels.items()}
        self._series = {
            word: level
            for word, (level, times) in usual.items()
            if times >= max(MIN_SHOWN, LOOK_SHARE * levels[word].total())
        }
        self._open: list[tuple[tuple[str, ...], int]] = []
        self._last: dict[str, str] = {}

    def counts(self, text: str) -> bool:
        """Return whether the source numbers sections with the word before the number of `text`."""
        own = series_of(text)
        return own is not None and own[0] in self._series

    def open(self, title: str, level: int) -> None:
        """Continue after a section, which closes those of its level and of lower ones."""
        while self._open and self._open[-1][1] >= level:
            self._open.pop()
        self._open.append((number_parts(title), level))
        if own := series_of(title):
            self._last[own[0]] = own[1]

    def level_of(self, text: str, *, stands_out: bool) -> int:
        """Return the level of a heading whose number is the next one; 0 for any other.

        A number after a word counts only if the heading `stands_out`. It may also be 1 again.
        """
        own, number = series_of(text), number_parts(text)
        if own and own[0] in self._series and stands_out and own[1].isdecimal():
            before = self._last.get(own[0], "0")
            is_next = own[1] == "1" or (before.isdecimal() and int(own[1]) == int(before) + 1)
            return self._series[own[0]] if is_next else 0
        if len(number) < 2 or number in self._named or _STATEMENT.match(unnumbered(text)):
            return 0
        last, level = self._open[-1] if self._open else ((), 0)
        if last and number == (*last, "1"):
            return level + 1
        return next((own for before, own in self._open if _is_next(before, number)), 0)


def _is_next(before: tuple[str, ...], number: tuple[str, ...]) -> bool:
    same = len(before) == len(number) and before[:-1] == number[:-1]
    return same and before[-1].isdecimal() and int(number[-1]) == int(before[-1]) + 1


def _title_with_number(each: _Listed) -> str:
    return f"{each.number} {each.section.title}".strip()


@frozen(eq=False)
class _Source:
    """The sections that a source lists, and how their headings look.

    `looks` has the level of each font that nearly all headings of a level have, and `chapters` the fonts of chapters,
    whose level is `top`. `by_page` has the sections of each page, and `pages` the pages of each title.
    """

    listed: Sequence[_Listed]
    search: _Search
    looks: Mapping[Font, int]
    chapters: frozenset[Font]
    top: int
    by_page: Mapping[int, Sequence[_Listed]]
    pages: Mapping[str, set[int]]
    numbering: _Numbering
    has_references: bool

    @classmethod
    def of(cls, listed: Sequence[_Listed], search: _Search) -> _Source:
        """Learn the looks and the numbers of the headings of `listed`."""
        by_page: dict[int, list[_Listed]] = defaultdict(list)
        pages: dict[str, set[int]] = defaultdict(set)
        for each in listed:
            by_page[each.section.page].append(each)
            pages[_keys(each.section.title)[0]].add(each.section.page)
        top = _level_of_chapters(listed)
        fonts = Counter(font_of(each.heading.lines[0]) for each in listed if each.heading and each.section.level == top)
        chapters = frozenset(font for font, times in fonts.items() if times >= CHAPTER_SHARE * fonts.total())
        looks = {font: level for font, level in _looks_of(listed).items() if _stands_out(font, search.body)}
        has_references = any(_REFERENCES.fullmatch(each.section.title) for each in listed)
        return cls(listed, search, looks, chapters, top, by_page, pages, _Numbering(listed), has_references)

    def missing(self) -> list[_Missing]:
        """Return the headings that belong to the source, but that it does not list, in reading order."""
        candidates, mixed = self._candidates()
        found: list[_Missing] = []
        rest = list(self.listed)[::-1]
        for heading in candidates:
            while rest and rest[-1].place <= (heading.page, heading.y):
                self.numbering.open(_title_with_number(rest[-1]), rest.pop().section.level)
            if level := self._level_of(heading, mixed):
                found.append(_Missing(heading, level))
                self.numbering.open(heading.text, level)
        times = Counter(title_letters(each.heading.text) for each in found)
        return [
            each
            for each in found
            if _is_dotted(each.heading)
            or (times[title_letters(each.heading.text)] <= MAX_REPEATS and not self._is_of_chapter(each))
        ]

    def _candidates(self) -> tuple[list[Heading], set[Font]]:
        """Return the heading candidates of the pages that may have missing ones, and the fonts that text has, too."""
        found: list[Heading] = []
        letters: Counter[Font] = Counter()
        used: Counter[Font] = Counter()
        for page in range(1, self.search.texts.count + 1):
            shown = self.search.texts.lines(page)
            if not any(map(self._may_be_missing, shown)):
                continue
            self.search.texts.reader.report_progress()
            candidates = self.search.on[page]
            if self._is_toc(page):
                top = min((each.y for each in candidates if _TOC_HEADING.fullmatch(each.text)), default=0.0)
                candidates = [
                    each for each in candidates if each.y < top or _is_dotted(each) or _NAMED_PART.fullmatch(each.text)
                ]
            else:
                _count_letters(shown, letters)
                _count_letters([line for each in candidates for line in each.lines], used)
            candidates = [each for each in candidates if not each.is_run_in or _is_dotted(each)]  # others begin items
            found += [each for each in candidates if not is_label(each.text) or self.numbering.counts(each.text)]
        return found, {font for font in self.looks if used[font] < OWN_SHARE * letters[font]}

    def _may_be_missing(self, line: StyledLine) -> bool:
        font, text = font_of(line), line.text
        if font in self.looks or font in self.chapters or self.numbering.counts(text):
            return True
        marked = line.bold or line.lead or font[0] != self.search.body.font or _stands_out(font, self.search.body)
        return bool(marked and _DOTTED.match(text)) or bool(not self.has_references and _REFERENCES.fullmatch(text))

    def _is_toc(self, page: int) -> bool:
        """Return whether `page` has entries of a printed TOC: titles of other pages, or lines with leader dots."""
        texts = [line.text for line in self.search.texts.lines(page)]
        return sum(bool(LEADER.search(text)) or self._is_elsewhere(text, page) for text in texts) >= TOC_LINES

    def _is_elsewhere(self, text: str, page: int) -> bool:
        return not is_series_label(text) and any(
            len(key) >= 4 and self.pages.get(key, {page}) != {page} for key in _keys(text)
        )

    def _is_listed(self, heading: Heading) -> bool:
        """Return whether the source lists `heading` on its page, perhaps with other words, or only its beginning.

        It may also list the heading on the page before, as the title of a slide that continues.
        """
        if not is_series_label(heading.text) and any(
            heading.page - 1 in self.pages.get(key, ()) for key in _keys(heading.text)
        ):
            return True
        return any(_names(each, heading) for each in self.by_page.get(heading.page, ()))

    def _level_of(self, heading: Heading, mixed: set[Font]) -> int:
        """Return the level of a candidate, or 0 if it does not belong to the source. `mixed` are fonts of text, too."""
        font, place = font_of(heading.lines[0]), (heading.page, heading.y)
        stands_out = _stands_out(font, self.search.body)
        if _is_dotted(heading) and (level := self.numbering.level_of(heading.text, stands_out=stands_out)):
            return level
        if self._is_listed(heading):
            return 0
        in_front = place < next((each.place for each in self.listed if each.heading), place)
        if _NAMED_PART.fullmatch(heading.text) and (font in self.chapters or (in_front and font in self.looks)):
            return 0 if self.has_references and _REFERENCES.fullmatch(heading.text) else self.top
        if not (self.has_references or in_front) and _REFERENCES.fullmatch(heading.text):
            return self.top
        level = self.looks.get(font, 0) if font not in mixed else 0
        if in_front and (level != self.top or self._is_on_cover(heading)):
            return 0
        return level or self.numbering.level_of(heading.text, stands_out=stands_out)

    def _is_on_cover(self, heading: Heading) -> bool:
        """Return whether `heading` is on the first page with text, or repeats a line of it.

        On the page of the first listed heading, a heading below a line in larger type is not on the cover, because that
        line is the title.
        """
        texts = self.search.texts
        cover = next((page for page in range(1, heading.page + 1) if texts.read(page)), heading.page)
        if heading.page == self.listed[0].section.page and self.listed[0].heading:
            size = heading.lines[0].size
            if any(line.size > size and line.bottom < heading.y for line in texts.displayed_lines(heading.page)):
                return False
        letters = title_letters(heading.text)
        return cover == heading.page or any(
            matches_title(title_letters(line.text), letters) for line in texts.read(cover)
        )

    def _is_of_chapter(self, each: _Missing) -> bool:
        """Return whether a heading probably belongs to a listed chapter.

        This is so if it is directly above a listed heading of a higher level, as `CHAPTER TWO` is, or if a listed
        section of a higher level has no known heading on its page. It is also so for a named part before a deeper
        section, such as the references of a chapter.
        """
        for other in self.by_page.get(each.heading.page, ()):
            if other.section.level < each.level and (
                other.heading is None or self.search.is_directly_above(each.heading, other.heading)
            ):
                return True
        after = bisect_right(self.listed, each.place, key=lambda other: other.place)
        follows = after < len(self.listed) and self.listed[after].section.level > each.level
        return follows and bool(_NAMED_PART.fullmatch(each.heading.text))


def _names(each: _Listed, heading: Heading) -> bool:
    title, _ = _keys(each.section.title)
    if _is_labeled(each.section.title, heading.text):
        return True
    if any(matches_title(title, key) or matches_title(key, title) for key in _keys(heading.text)):
        return True
    if each.heading is not None:
        return False
    beside = math.isfinite(each.section.y) and abs(heading.y - each.section.y) < 2 * heading.lines[0].size
    one, other = ({*text.casefold().split()} for text in (heading.text, each.section.title))
    return beside or len(one & other) * 2 > min(len(one), len(other))


def _level_of_chapters(listed: Sequence[_Listed]) -> int:
    """Return the highest level with several sections, or the highest if there is none."""
    times = Counter(each.section.level for each in listed)
    return min((level for level in times if times[level] > 1), default=min(times))


def _looks_of(listed: Sequence[_Listed]) -> dict[Font, int]:
    """Return the fonts that nearly all headings of a level have, with that level; without fonts of several levels."""
    by_level: dict[int, list[Heading | None]] = defaultdict(list)
    for each in listed:
        by_level[each.section.level].append(each.heading)
    looks: dict[Font, list[int]] = defaultdict(list)
    for level, own in by_level.items():
        shown = [heading for heading in own if heading is not None and not heading.is_run_in]
        if len(shown) >= max(MIN_SHOWN, len(own) / 2):
            font, times = Counter(font_of(heading.lines[0]) for heading in shown).most_common(1)[0]
            if times >= LOOK_SHARE * len(shown):
                looks[font].append(level)
    return {font: levels[0] for font, levels in looks.items() if len(levels) == 1}


def _is_dotted(heading: Heading) -> bool:
    return len(number_parts(heading.text)) > 1


def _stands_out(font: Font, body: BodyStyle) -> bool:
    _, size, bold = font
    return size >= LARGER_RATIO * body.size or (bold and not body.bold)


def _count_letters(lines: Sequence[StyledLine], letters: Counter[Font]) -> None:
    for line in lines:
        letters[font_of(line)] += sum(map(str.isalpha, line.text))


def _with_numbers(listed: Sequence[_Listed]) -> list[_Listed]:
    """Return `listed`, with the printed titles of sections whose listed titles are only labels, and with printed
    numbers.

    Numbers are added on each level on which most headings have a number that the source leaves out. A title is not
    changed if the source lists the words or the number to add as another section of the page.
    """
    shown = Counter(each.section.level for each in listed if each.heading)
    counted = Counter(each.section.level for each in listed if each.number)
    said = {(each.section.page, title) for each in listed for title in (each.section.title, *_keys(each.section.title))}
    numbered: list[_Listed] = []
    for each in listed:
        section, title = each.section, each.section.title
        if each.heading and _is_labeled(title, each.heading.text):
            if (section.page, title_letters(unnumbered(each.heading.text))) not in said:
                title = each.heading.text
        elif (
            each.number
            and 2 * counted[section.level] > shown[section.level]
            and (section.page, each.number) not in said
        ):
            title = f"{each.number} {title}"
        numbered.append(evolve(each, section=evolve(section, title=title)))
    return numbered
