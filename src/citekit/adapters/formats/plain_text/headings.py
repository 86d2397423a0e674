"""Finds the headings of plain prose, line by line, in bounded memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, field

from citekit.adapters.formats.markup.rst import width
from citekit.adapters.formats.shared.roman_numbers import from_roman, to_roman
from citekit.adapters.formats.shared.sections import TextHeading, is_bare_number
from citekit.domain.vocabulary import (
    ACT,
    APPENDIX,
    BOOK,
    BOOK_HEADING,
    CHAPTER,
    CHAPTER_OF_PROSE,
    CJK_CHAPTER,
    CJK_OTHER,
    CJK_PART,
    CJK_SECTION,
    PART,
    SCENE,
    SECTION,
    TOC_HEADING,
    VOLUME,
    any_of,
)

_WORD_NUMBER = r"[A-Z]?[a-z]{2,10}(?:[- ][a-z]{3,8})?|[A-Z]{3,12}(?:[- ][A-Z]{3,8})?"
_NUMBER = rf"(?:\d{{1,4}}|[IVXLCDM]{{1,9}}|[ivxlcdm]{{1,9}}|(?:the\s+)?(?:{_WORD_NUMBER})|[A-Z])"
_RANKS = (
    (any_of(VOLUME), 1),
    (any_of(BOOK, PART), 2),
    (any_of(ACT, APPENDIX), 3),
    (any_of(CHAPTER, CHAPTER_OF_PROSE, SECTION), 4),
    (any_of(SCENE), 5),
)
_WORDS = tuple(
    (re.compile(rf"\s*(?:{words})\s+{_NUMBER}\s*(?:[.:—–-]+\s*.{{0,80}})?\s*\Z", re.I), rank) for words, rank in _RANKS
)
_DOUBLE = re.compile(rf"((?:{'|'.join(words for words, _ in _RANKS)})\s+{_NUMBER})[\s.,:;—–-]+(?=[^\W\d_]+\s)", re.I)
"""Matches the first of two headings on one line, such as `ACT I. SCENE II.`, and the separator."""

_COUNTING = re.compile(
    r"(?:the\s+)?(?:\d+|[ivxlcdm]+|[a-z]|(?:twenty|thirty|forty|fifty)?[- ]?(?:one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    r"first|second|third|fourth|fifth|last|final))\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rf"\s*(?:{any_of(BOOK, PART, VOLUME, CHAPTER, ACT).upper()})\s+(?:\d{{1,4}}|[IVXLCDM]{{1,9}})\s*\.?\s*"
)
_ALONE = re.compile(rf"\s*(?:contents|{any_of(BOOK_HEADING)})\s*\.?\s*\Z", re.IGNORECASE)
_CHINESE = re.compile(
    rf"\s*第[0-9０-９一二三四五六七八九十百千零〇两]{{1,8}}[{CJK_PART}{CJK_CHAPTER}{CJK_SECTION}{CJK_OTHER}]\s*.{{0,30}}\Z"
)
_NUMBERED = re.compile(r"\s{0,3}(\d{1,3}(?:\.\d{1,3}){0,5})\.?\)?\s+([^\W\d_].{0,90}[^,;:\s])\s*\Z")
_UNDERLINE = re.compile(r"\s*([=~^*#-])\1{2,}\s*\Z")
_TOC = re.compile(rf"\s*(?:{any_of(TOC_HEADING)})\s*[.:]?\s*\Z".replace(" ", r"\s+"), re.IGNORECASE)
_LEADER = re.compile(r"(?:(?:[ .·…_]*[.·…_]{2,}[ .·…_]*)|\s{2,})\s*(?:\d{1,4}|[ivxlc]{1,7})\s*\Z", re.IGNORECASE)
TOC_LIMIT = 1000
"""The maximum number of lines of a table of contents."""

_END_OF_BOOK = re.compile(r"\s*\*{3}\s*END OF TH(?:E|IS) PROJECT GUTENBERG ", re.IGNORECASE)
_START_OF_BOOK = re.compile(r"\s*\*{3}\s*START OF TH(?:E|IS) PROJECT GUTENBERG ", re.IGNORECASE)
"""The lines before and after the text of a Project Gutenberg book. The license follows the end line."""

_OWN_TITLE = re.compile(r"Title:[ \t]+(\S.{1,150})")
_TITLE_LINES = 30
"""The number of lines at the beginning of a text that are searched for a line `Title: ...`."""

_NUMBERING = re.compile(
    rf"\s*(?:(?:{any_of(CHAPTER, BOOK, PART, APPENDIX)})\s+)?(?:\d{{1,3}}|[IVXLC]{{1,8}})(?:[.:)—–-]+|\s{{2,}})"
    r"\s*(?=\S*[^\W\d_])",
    re.I,
)
"""Matches the number before a title, as in `Chapter IV. The Storm` and `IV.--The Storm`."""

_PAGE = re.compile(r"(?<=[^\W\d_.])[.,]?\s+\d{1,3}\s*\Z")
"""Matches the page number after an entry of a printed table of contents."""

_CONTINUES = re.compile(
    r".*(?:[,;&–—-]|\b(?:a|an|the|of|or|and|nor|but|to|for|in|on|at|by|with|from|as|not|is|are|be|any|that|which|if|"
    r"der|die|das|des|und|oder|von|für|mit|zu|im|le|la|les|du|et|ou|que|el|los|y|o|con|por|il|lo|gli|e|di|da|per))\Z",
    re.IGNORECASE,
)
"""Matches a line that ends within a sentence: with a comma or dash, or with a word such as `the`."""

_QUOTED = re.compile(r"[\"“„«'‘].*[\"”“»'’]")
"""Matches a line of dialog."""

_BY = re.compile(r"by|von|par|de|di|por|door|af|av", re.IGNORECASE)
"""Matches the line above the name of the author."""

_INDENT = " " * 8
"""The beginning of lines that are far from the margin."""

_STEP = "  "
"""The beginning of text below a heading at the margin."""

_INDENTED_RATIO = 4
"""The minimum number of indented lines for each line at the margin in a text whose headings alone are at the margin."""

_LEAST_AT_MARGIN = 3
"""The minimum number of such headings."""

_PARAGRAPH = 4
"""The minimum number of lines of a paragraph. A heading that is wrapped has fewer."""

_COLUMNS = re.compile(r"\S[ \t]{3,}\S|\S[ .\u00b7\u2026_]*[.\u00b7\u2026_]{2,}[ .\u00b7\u2026_]*\d{1,4}\s*\Z")
"""Matches a line that is not a heading, because it has columns, or a leader before a page number."""

_FULL_LINE = 50
"""The minimum number of characters of the first line of a paragraph that is wrapped."""

_SHORT = 100
_CAPITALS_LIMIT = 70
_NUMBERED_LEVEL = 10
"""The level of `1 Title`. `1.1 Title` is one level deeper."""


@define
class HeadingFinder:
    """Finds headings in the lines that are passed to `feed` in order. `finish` returns the headings.

    If `prose` is False, no headings are found. Named headings (`Chapter 1`, `ACT II`) and underlined lines count if a
    blank line precedes them; a mere name and number in capitals (`CHAPTER IV`) also counts if a blank line follows.
    Numbered lines, and lines in capitals that end no clause, count only between blank lines, and only if they are rare
    and distinct, because others are list items or names of speakers. A named heading may be wrapped, but a paragraph
    that begins like one does not count. If nearly all text is indented, as in specifications and manual pages, the short
    lines at the margin before it are headings, and numbered lines and those in capitals only there. `title` is a line in
    capitals among the first ten lines, and `own_title` the title in a line `Title: ...`; both may be None.
    """

    prose: bool
    title: str | None = None
    own_title: str | None = None
    lines: int = 0
    before: str = ""
    last: str = ""
    named: list[TextHeading] = field(factory=list)
    underlined: list[TextHeading] = field(factory=list)
    numbered: list[TextHeading] = field(factory=list)
    capitals: list[TextHeading] = field(factory=list)
    romans: list[TextHeading] = field(factory=list)
    listing: bool = False
    entry: tuple[int, str] = (0, "")
    below: list[str] = field(factory=list)
    above: str = ""
    indented: set[int] = field(factory=set)
    at_margin: list[TextHeading] = field(factory=list)
    waiting: TextHeading | None = None
    indented_lines: int = 0
    margin_lines: int = 0

    def feed(self, number: int, line: str) -> None:
        """Process line `number` (1-based), which also decides whether the previous line is a heading."""
        if self.prose:
            own = _OWN_TITLE.match(line) if number <= _TITLE_LINES else None
            if own and self.own_title is None:
                self.own_title = own[1].strip()
            if self.listing and line.strip():
                self.entry, self.listing = (number, _normalized(line)), False
            elif not self.entry[0] and is_toc_heading(line):
                self.listing = True
            if self.last and len(self.last) <= _SHORT:
                if not self.before:
                    self._decide(number - 1, self.last, line)
                elif not line.strip() and _PLAIN.fullmatch(self.last):
                    self.named.append(TextHeading(number - 1, _rank(self.last) or 4, self.last.strip()))
            self._follow(line)
            self._compare_with_margin(number, line)
            self.above = self.last.strip() or self.above
            self.before, self.last, self.lines = self.last, line if line.strip() else "", number

    def finish(self) -> list[TextHeading]:
        """Return the headings in order, with consecutive levels from 1; none if there are fewer than two."""
        self.feed(self.lines + 1, "")
        chosen = dict(self._chosen())
        found = _without_toc_runs(self._without_toc([chosen[line] for line in sorted(chosen)]))
        found = _as_siblings(_with_titles(_with_parents_on_one_line(found)))
        levels = sorted({heading.level for heading in found})
        if len(found) < 2:
            return []
        return [TextHeading(each.line, levels.index(each.level) + 1, each.title, each.height) for each in found]

    def _compare_with_margin(self, number: int, line: str) -> None:
        """Note whether a line is at the margin, and whether it may be a heading there: indented text follows."""
        if not line.strip():
            return
        if line.startswith((_STEP, "\t")):
            self.indented_lines += 1
            if self.waiting:
                self.at_margin.append(self.waiting)
            self.waiting = None
            return
        self.margin_lines += 1
        title = line.strip()
        fits = len(title) <= _CAPITALS_LIMIT and title[0].isalnum() and title[-1] not in ",;.:" and not _is_piece(title)
        self.waiting = TextHeading(number, _NUMBERED_LEVEL, title) if fits and not self.last else None

    def _follow(self, line: str) -> None:
        """Follow the last named heading through its wrapped lines up to `line`, the next one.

        The heading gets their text. If they are too many for a heading, it is the beginning of a paragraph, and is
        dropped.
        """
        if self.last and self.named and self.named[-1].line == self.lines and self.named[-1].level:
            self.below = [self.last]
        if not self.below:
            return
        if line.strip():
            self.below.append(line)
        if not line.strip() or len(self.below) == _PARAGRAPH:
            if len(self.below) > 1 and _is_wrapped(self.below):
                heading = self.named.pop()
                if len(self.below) < _PARAGRAPH:
                    title = " ".join(map(str.strip, self.below))
                    self.named.append(TextHeading(heading.line, heading.level, title, len(self.below)))
            self.below = []

    def _decide(self, number: int, line: str, after: str) -> None:
        title = line.strip()
        rule = _UNDERLINE.match(after)
        if (
            rule
            and abs(width(title) - len(after.strip())) <= max(3, width(title) // 2)
            and any(map(str.isalnum, title))
        ):
            self.underlined.append(TextHeading(number, 6 if rule[1] in "=#*" else 7, title, 2))
            return
        rank = _rank(line)
        if _END_OF_BOOK.match(line):
            self.named.append(TextHeading(number, 0, title.strip("* ")))
        elif rank:
            self.named.append(TextHeading(number, rank, title))
        elif not after.strip() and not _START_OF_BOOK.match(line) and not _is_piece(title):
            self._maybe(number, title)

    def _maybe(self, number: int, title: str) -> None:
        counted = _NUMBERED.match(title)
        if counted and not counted[2][0].islower() and (not title.endswith(".") or _in_title_case(counted[2])):
            self.numbered.append(TextHeading(number, _NUMBERED_LEVEL + counted[1].count("."), title))
        elif _roman_value(title):
            self.romans.append(TextHeading(number, 9, title))
        elif len(title) <= _CAPITALS_LIMIT and title[-1] not in ",;" and title.isupper() and _is_words(title):
            if (_QUOTED.fullmatch(title) and not is_bare_number(self.above)) or _BY.fullmatch(self.above):
                return
            self.capitals.append(TextHeading(number, 8, title))
            if self.last.startswith(_INDENT):
                self.indented.add(number)
            self.title = self.title or (title if number <= 10 and not _TOC.match(title) else None)

    def _chosen(self) -> Iterator[tuple[int, TextHeading]]:
        if self._heads_are_at_margin():
            places = {heading.line for heading in self.at_margin}
            yield from ((heading.line, heading) for heading in self.at_margin)
            others = (heading for heading in (*self.capitals, *self.numbered) if heading.line in places)
            yield from ((heading.line, heading) for heading in (*others, *self.underlined, *self.named))
            return
        for candidates in (_without_paragraphs(self._aligned()), self.numbered):
            if len(candidates) > 1 and not self._is_noise(candidates):
                yield from ((heading.line, heading) for heading in candidates)
        for headings in (_in_sequence(self.romans), self.underlined, self.named):
            yield from ((heading.line, heading) for heading in headings)

    def _heads_are_at_margin(self) -> bool:
        """Return whether headings are at the margin, and nearly all other text is indented."""
        different = {heading.title for heading in self.at_margin}
        are_few = self.indented_lines >= _INDENTED_RATIO * self.margin_lines
        return are_few and len(different) >= max(_LEAST_AT_MARGIN, 0.7 * len(self.at_margin))

    def _aligned(self) -> list[TextHeading]:
        """Return the lines in capitals, without those far from the margin if most are at the margin: signs and letters that
        the text quotes.
        """
        if 2 * len(self.indented) > len(self.capitals):
            return self.capitals
        return [heading for heading in self.capitals if heading.line not in self.indented]

    def _without_toc(self, found: list[TextHeading]) -> list[TextHeading]:
        """Return the headings without the entries of a printed table of contents, which ends where its first entry
        occurs again.
        """
        line, entry = self.entry
        for each in found if len(entry) > 2 else ():
            title = _normalized(each.title)
            if line < each.line <= line + TOC_LIMIT and len(title) > 2 and entry.startswith(title):
                return [other for other in found if not line <= other.line < each.line]
        return found

    def _is_noise(self, found: list[TextHeading]) -> bool:
        different = Counter(heading.title for heading in found)
        return len(different) < 0.7 * len(found) or len(found) * 12 > self.lines


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Return whether the first of `lines` is long, and ends where the next word would have made it the longest."""
    first = lines[0].rstrip()
    word = lines[1].split(None, 1)[0]
    return len(first) >= _FULL_LINE and len(first) + 1 + len(word) > max(len(line.rstrip()) for line in lines)


def is_toc_heading(line: str) -> bool:
    """Return whether `line` is the heading of a printed table of contents."""
    return len(line) < _SHORT and _TOC.match(line) is not None


def _without_paragraphs(found: list[TextHeading]) -> list[TextHeading]:
    """Return `found`, lines in capitals, without those that form a paragraph in a text with a blank line after each
    line, recognized by lines that end in mid-sentence.
    """
    kept: list[TextHeading] = []
    run: list[TextHeading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        run.append(heading)
        if after is None or after.line - heading.line > 2:
            running = any(_CONTINUES.match(each.title) for each in run[:-1])
            kept.extend([] if running and (len(run) > 2 or run[-1].title.endswith(".")) else run)
            run = []
    return kept


def _without_toc_runs(found: list[TextHeading]) -> list[TextHeading]:
    """Return the headings without the entries of printed tables of contents: dense runs of headings that mostly occur
    again later.
    """
    last = {_core(heading.title): heading.line for heading in found}
    kept: list[TextHeading] = []
    run: list[TextHeading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        run.append(heading)
        if after is None or after.line - heading.line > 3:
            listed = [n for n, each in enumerate(run) if _is_listed(each.title, run[-1].line, last)]
            is_toc = len(run) >= 3 and len(listed) * 5 >= (len(run) - 1) * 4
            kept.extend(each for n, each in enumerate(run) if not is_toc or n < listed[0] or n > listed[-1])
            run = []
    return kept


def _is_listed(title: str, line: int, last: Mapping[str, int]) -> bool:
    """Return whether the title, with or without a page number at its end, occurs again after `line`."""
    return any(last.get(_core(each), 0) > line for each in (title, _PAGE.sub("", title)))


def _core(title: str) -> str:
    """Return the title for comparison, without its number if it has words of its own."""
    return _normalized(_NUMBERING.sub("", title, count=1))


def _as_siblings(found: list[TextHeading]) -> list[TextHeading]:
    """Return the headings, with those such as `Preface` on the level of the next other heading, unless that is
    numbered.
    """
    kept: list[TextHeading] = []
    after = min((each.level for each in found if each.level and not _ALONE.match(each.title)), default=2)
    for heading in reversed(found):
        if not _ALONE.match(heading.title):
            after = heading.level or after
        elif after < _NUMBERED_LEVEL:
            heading = TextHeading(heading.line, after, heading.title, heading.height)
        kept.append(heading)
    return kept[::-1]


def _roman_value(title: str) -> int:
    """Return the value of a title that is a Roman numeral in standard form and in capitals, or 0."""
    number = title.rstrip(".")
    value = from_roman(number.lower())
    return value if number.isupper() and to_roman(value) == number.lower() else 0


def _in_sequence(found: list[TextHeading]) -> list[TextHeading]:
    """Return the headings that are Roman numerals counting up from I, in runs of at least three that may skip single
    numerals.
    """
    kept: list[TextHeading] = []
    run: list[TextHeading] = []
    last = 0
    for heading in [*found, TextHeading(0, 9, "I")]:
        value = _roman_value(heading.title)
        if value == 1:
            kept += run if len(run) > 2 else []
            run, last = [heading], 1
        elif run and last < value <= last + 2:
            run.append(heading)
            last = value
    return kept


def _with_parents_on_one_line(found: list[TextHeading]) -> list[TextHeading]:
    """Split headings such as `ACT I. SCENE II.` into an act, which is added once, and a scene."""
    kept: list[TextHeading] = []
    parents: dict[int, str] = {}
    for heading in found:
        double = _DOUBLE.match(heading.title)
        first, rest = (double[1], heading.title[double.end() :]) if double else (heading.title, "")
        outer, inner = _rank(first), _rank(rest) if rest else 0
        if 0 < outer < inner:
            if parents.get(outer) != _normalized(first):
                kept.append(TextHeading(heading.line, outer, first, heading.height))
            kept.append(TextHeading(heading.line, inner, rest, heading.height))
            parents[outer] = _normalized(first)
        else:
            kept.append(heading)
            parents[heading.level] = _normalized(heading.title)
    return kept


def _with_titles(found: list[TextHeading]) -> list[TextHeading]:
    """Join a number (`IV`, `Chapter 4`) and the title in capitals two lines below it."""
    kept: list[TextHeading] = []
    for heading in found:
        last = kept[-1] if kept else None
        if last and heading.level == 8 and heading.line - last.line == 2 and _is_number(last.title):
            kept[-1] = TextHeading(last.line, last.level, f"{last.title.rstrip('.')}. {heading.title}", 3)
        else:
            kept.append(heading)
    return kept


def _is_piece(line: str) -> bool:
    """Return whether a line is not text: it is a row of columns, or the end of a caption in brackets."""
    return _COLUMNS.search(line) is not None or line.count("[") < line.count("]")


def _is_number(title: str) -> bool:
    return bool(_roman_value(title)) or _PLAIN.fullmatch(title) is not None


def _normalized(line: str) -> str:
    """Return the letters and digits of `line`, case-folded, without leader dots and a page number."""
    return "".join(filter(str.isalnum, _LEADER.sub("", line).casefold()))


def _in_title_case(title: str) -> bool:
    """Return whether `title`, which ends with a period, is a title and not a sentence.

    A title has at most eight words, which are capitalized or short, and no other period before a space.
    """
    words = title.split()
    return len(words) <= 8 and not any(word[:1].islower() and len(word) > 4 for word in words) and ". " not in title


def _is_words(title: str) -> bool:
    """Return whether at least three characters, and 70 percent of those that are not white space, are capitals, unlike
    in codes.
    """
    capitals = sum(character.isupper() for character in title)
    return capitals >= 3 and capitals * 10 >= sum(not character.isspace() for character in title) * 7


def _rank(line: str) -> int:
    """Return the level of a heading that starts with a keyword such as `Chapter`; 0 for any other line."""
    if _CHINESE.match(line):
        return 4
    if _ALONE.match(line):
        return 2
    for pattern, rank in _WORDS:
        if pattern.match(line) and _COUNTING.match(line.split(None, 1)[1]):
            return rank
    return 0
