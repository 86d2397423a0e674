"""Finds headings that the bookmarks leave out although they have the look of those that the bookmarks name."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import pairwise

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import is_label, is_series_label, series_of, unnumbered
from citekit.adapters.formats.pdf.outline.heading_styles import Font
from citekit.adapters.formats.pdf.outline.headings import (
    LARGER_RATIO,
    WORD,
    BodyStyle,
    Heading,
    body_style_of,
    headings_on,
)
from citekit.adapters.formats.pdf.outline.pages import PageTexts, matches_title, title_letters
from citekit.adapters.formats.pdf.outline.rows import font_of
from citekit.adapters.formats.pdf.outline.toc_tables import LEADER
from citekit.domain.vocabulary import ABSTRACT, NAMED_PART, REFERENCES, TOC_HEADING, any_of

PAGE_LIMIT = 1000
"""The maximum number of pages of a document that is searched, at 2 to 4 ms each."""

SECTIONS_PER_PAGE = 100
"""The maximum number of bookmarks of one page in a document that is searched."""

MIN_SHOWN = 3
"""The minimum number of bookmarked headings of a level that must be found on their pages to know its look."""

LOOK_SHARE = 0.8
"""The minimum share of the headings of a level that have its look."""

CHAPTER_SHARE = 0.25
"""The minimum share of the headings of chapters in a font that named parts may have."""

OWN_SHARE = 0.9
"""The minimum share of the lines in a look that belong to headings alone in their row."""

MAX_REPEATS = 2
"""An unlisted title with more occurrences than this is a rubric, such as `Example`."""

TOC_LINES = 3
"""The number of titles from other pages, or of lines with leader dots, from which a page is one of a table of contents."""

_NUMBERED = re.compile(r"\S*\d")
_NUMBER = r"(?:[\dA-Z]{1,3}\.?\s+)?"
_NAMED_PART = re.compile(rf"{_NUMBER}(?:{any_of(ABSTRACT, NAMED_PART, REFERENCES, TOC_HEADING)})", re.IGNORECASE)
_TOC_HEADING = re.compile(rf"{_NUMBER}(?:{any_of(TOC_HEADING)})", re.IGNORECASE)
_REFERENCES = re.compile(rf"{_NUMBER}(?:{any_of(REFERENCES)})", re.IGNORECASE)


@frozen
class _Listed:
    """A section that a bookmark names, and the `heading` on its page that is its whole title, or None."""

    section: Section
    heading: Heading | None

    @property
    def number(self) -> str:
        """The number that is printed before the title, but that the bookmark leaves out; "" if there is none."""
        title = self.section.title
        if self.heading is None or _NUMBERED.match(title):
            return ""
        rest = unnumbered(self.heading.text)
        return self.heading.text.removesuffix(rest).strip() if title_letters(rest) == title_letters(title) else ""

    @property
    def place(self) -> tuple[int, float]:
        """The page of the section, and its distance from the top of the page."""
        return self.section.position if self.heading is None else (self.section.page, self.heading.y)


@frozen
class _Unlisted:
    """A heading that no bookmark names, and its level."""

    heading: Heading
    level: int

    @property
    def place(self) -> tuple[int, float]:
        """The page of the heading, and its distance from the top of the page."""
        return self.heading.page, self.heading.y

    @property
    def section(self) -> Section:
        """The heading as a section."""
        return Section(self.level, self.heading.text, self.heading.page, self.heading.y)


def with_unlisted(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the sections of bookmarks, with the headings that they leave out among them.

    These are alone in their rows, in a font that nearly all bookmarked headings of a level and hardly any other lines
    have; or they are a named part, such as `References`, in a font of chapters. Sections whose headings are at the top
    of the next page are moved there, and get the numbers that are printed before the titles of their level. The
    sections are returned unchanged if they are out of order, if there are more than `PAGE_LIMIT` pages, or if a page has
    more than `SECTIONS_PER_PAGE`.
    """
    if any(one.page > other.page for one, other in pairwise(sections)) or texts.count > PAGE_LIMIT:
        return sections
    if max(Counter(section.page for section in sections).values()) > SECTIONS_PER_PAGE:
        return sections
    body = body_style_of(texts)
    if body is None:
        return sections
    search = _Search(texts, body)
    listed = search.on_printed_pages([_Listed(section, search.heading_of(section)) for section in sections])
    found = _Candidates.of(listed, search).unlisted()
    return _among(_with_numbers(listed), found)


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
        """Return whether no line is between two headings of a page."""
        bottom = max(line.bottom for line in heading.lines)
        middles = [(line.top + line.bottom) / 2 for line in self.texts.displayed_lines(heading.page)]
        return heading.y < below.y and not any(bottom < middle < below.y for middle in middles)


def _keys(text: str) -> tuple[str, str]:
    """Return the letters of a heading with and without its number; with the number, if it is all of the title."""
    if is_series_label(text):
        key = "".join(filter(str.isalnum, text.casefold()))
        return key, key
    return title_letters(text), title_letters(unnumbered(text))


def _is_same(title: str, text: str) -> bool:
    """Return whether a heading is the whole title, perhaps after a number, or both are names of the references, or the
    title is only the label of a chapter.
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


@frozen(eq=False)
class _Candidates:
    """What the bookmarks name, by page, and how it looks: the level of each `looks`, and the fonts of `chapters`, whose
    level is `top`. `series` has the levels of words such as `section` that the bookmarks number.
    """

    listed: Sequence[_Listed]
    search: _Search
    looks: Mapping[Font, int]
    series: Mapping[str, int]
    chapters: frozenset[Font]
    top: int
    by_page: Mapping[int, Sequence[_Listed]]
    pages: Mapping[str, set[int]]

    @classmethod
    def of(cls, listed: Sequence[_Listed], search: _Search) -> _Candidates:
        """Learn the looks of the headings of `listed`."""
        by_page: dict[int, list[_Listed]] = defaultdict(list)
        pages: dict[str, set[int]] = defaultdict(set)
        for each in listed:
            by_page[each.section.page].append(each)
            pages[_keys(each.section.title)[0]].add(each.section.page)
        top = _level_of_chapters(listed)
        fonts = Counter(font_of(each.heading.lines[0]) for each in listed if each.heading and each.section.level == top)
        chapters = frozenset(font for font, times in fonts.items() if times >= CHAPTER_SHARE * fonts.total())
        looks = {font: level for font, level in _looks_of(listed).items() if _stands_out(font, search.body)}
        return cls(listed, search, looks, _series_of(listed), chapters, top, by_page, pages)

    def unlisted(self) -> list[_Unlisted]:
        """Return the headings that no bookmark names, in reading order."""
        found: list[Heading] = []
        lines: Counter[Font] = Counter()
        used: Counter[Font] = Counter()
        for page in range(1, self.search.texts.count + 1):
            shown = [line for line in self.search.texts.lines(page) if WORD.search(line.text)]
            own = [font_of(line) for line in shown]
            counted = any(self._is_in_series(line.text) for line in shown)
            if self.looks.keys().isdisjoint(own) and self.chapters.isdisjoint(own) and not counted:
                continue
            self.search.texts.reader.report_progress()
            candidates = self.search.on[page]
            if self._is_toc(page):
                top = min((each.y for each in candidates if _TOC_HEADING.fullmatch(each.text)), default=0.0)
                candidates = [each for each in candidates if each.y < top or _NAMED_PART.fullmatch(each.text)]
            else:
                lines.update(own)
                used.update(font_of(line) for each in candidates for line in each.lines)
            found += [
                each
                for each in candidates
                if not self._is_listed(each) and (not is_label(each.text) or self._is_in_series(each.text))
            ]
        mixed = {font for font in self.looks if used[font] < OWN_SHARE * lines[font]}
        leveled = {each: _Unlisted(each, level) for each in found if (level := self._level_of(each, mixed))}
        leveled |= {each.heading: each for each in self._next_in_series(found, leveled.values())}
        in_order = (leveled[each] for each in found if each in leveled)
        return _without_repeated(each for each in in_order if not self._is_of_chapter(each))

    def _is_in_series(self, text: str) -> bool:
        own = series_of(text)
        return own is not None and own[0] in self.series

    def _next_in_series(self, found: Sequence[Heading], leveled: Collection[_Unlisted]) -> Iterator[_Unlisted]:
        """Yield the headings that stand out and whose numbers are the first or the next of a series that bookmarks name.

        Their fonts differ from those of the bookmarked ones, as in a document of several authors.
        """
        known = {each.heading for each in leveled}
        named = [(each.place, series_of(each.section.title)) for each in self.listed]
        named += [(each.place, series_of(each.heading.text)) for each in leveled]
        rest = sorted(((place, own) for place, own in named if own), reverse=True)
        last: dict[str, str] = {}
        for heading in found:
            while rest and rest[-1][0] < (heading.page, heading.y):
                word, number = rest.pop()[1]
                last[word] = number
            own = series_of(heading.text)
            if heading in known or own is None or own[0] not in self.series or not own[1].isdecimal():
                continue
            before = last.get(own[0], "0")
            is_next = own[1] == "1" or (before.isdecimal() and int(own[1]) == int(before) + 1)
            if is_next and _stands_out(font_of(heading.lines[0]), self.search.body):
                last[own[0]] = own[1]
                yield _Unlisted(heading, self.series[own[0]])

    def _is_toc(self, page: int) -> bool:
        """Return whether `page` has entries of a table of contents: titles of other pages, or lines with leader dots."""
        texts = [line.text for line in self.search.texts.lines(page)]
        return sum(bool(LEADER.search(text)) or self._is_elsewhere(text, page) for text in texts) >= TOC_LINES

    def _is_elsewhere(self, text: str, page: int) -> bool:
        return not is_series_label(text) and any(
            len(key) >= 4 and self.pages.get(key, {page}) != {page} for key in _keys(text)
        )

    def _is_listed(self, heading: Heading) -> bool:
        """Return whether a bookmark of the same page names `heading`, perhaps with other words, or is its beginning; or
        one of the page before names it, as that of a slide that continues.
        """
        if not is_series_label(heading.text) and any(
            heading.page - 1 in self.pages.get(key, ()) for key in _keys(heading.text)
        ):
            return True
        return any(_names(each, heading) for each in self.by_page.get(heading.page, ()))

    def _level_of(self, heading: Heading, mixed: set[Font]) -> int:
        """Return the level of an unlisted heading, or 0 if it is no heading, or if its font is `mixed` with text."""
        font = font_of(heading.lines[0])
        in_front = (heading.page, heading.y) < self.listed[0].place
        if _NAMED_PART.fullmatch(heading.text) and (font in self.chapters or (in_front and font in self.looks)):
            named = [each.section for each in self.listed if _REFERENCES.fullmatch(each.section.title)]
            return 0 if named and _REFERENCES.fullmatch(heading.text) else self.top
        level = self.looks.get(font, 0) if font not in mixed else 0
        return 0 if in_front and (level != self.top or self._is_on_cover(heading)) else level

    def _is_on_cover(self, heading: Heading) -> bool:
        """Return whether `heading` is on the first page with text, or repeats a line of it. A page with a bookmarked
        heading is no cover below its title, which is in larger type.
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

    def _is_of_chapter(self, each: _Unlisted) -> bool:
        """Return whether a heading is part of the next bookmarked heading of a higher level, like `CHAPTER TWO` above
        it, or a named part before a deeper section, such as the references of a chapter.
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
        shown = [heading for heading in own if heading is not None]
        if len(shown) >= max(MIN_SHOWN, len(own) / 2):
            font, times = Counter(font_of(heading.lines[0]) for heading in shown).most_common(1)[0]
            if times >= LOOK_SHARE * len(shown):
                looks[font].append(level)
    return {font: levels[0] for font, levels in looks.items() if len(levels) == 1}


def _series_of(listed: Sequence[_Listed]) -> dict[str, int]:
    """Return the words that bookmarks number (`Section 1`, `Section 2`), with their level."""
    levels: dict[str, Counter[int]] = defaultdict(Counter)
    for each in listed:
        own = series_of(each.section.title)
        if own and len(own[0]) > 1:
            levels[own[0]][each.section.level] += 1
    usual = {word: counted.most_common(1)[0] for word, counted in levels.items()}
    return {
        word: level
        for word, (level, times) in usual.items()
        if times >= max(MIN_SHOWN, LOOK_SHARE * levels[word].total())
    }


def _stands_out(font: Font, body: BodyStyle) -> bool:
    _, size, bold = font
    return size >= LARGER_RATIO * body.size or (bold and not body.bold)


def _without_repeated(found: Iterable[_Unlisted]) -> list[_Unlisted]:
    """Return the headings without those whose title has more than `MAX_REPEATS` occurrences, like `Example`."""
    kept = list(found)
    times = Counter(title_letters(each.heading.text) for each in kept)
    return [each for each in kept if times[title_letters(each.heading.text)] <= MAX_REPEATS]


def _with_numbers(listed: Sequence[_Listed]) -> list[_Listed]:
    """Return `listed`, with the printed titles of those that are only labels, and with the printed numbers before the
    titles of each level of which most headings have one that the bookmarks leave out.
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


def _among(*groups: Sequence[_Listed | _Unlisted]) -> list[Section]:
    """Return the sections of all groups by their places."""
    return [each.section for each in merge(*groups, key=lambda each: each.place)]
