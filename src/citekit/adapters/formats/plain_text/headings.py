"""Finds the headings of plain prose, line by line, in bounded memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from attrs import define, field

from citekit.adapters.formats.markup.rst import width
from citekit.adapters.formats.shared.sections import TextHeading

_WORD_NUMBER = r"[A-Z]?[a-z]{2,10}(?:[- ][a-z]{3,8})?|[A-Z]{3,12}(?:[- ][A-Z]{3,8})?"
_NUMBER = rf"(?:\d{{1,4}}|[IVXLCDM]{{1,9}}|[ivxlcdm]{{1,9}}|(?:the\s+)?(?:{_WORD_NUMBER})|[A-Z])"
_RANKS = (
    ("volume|vol\\.?|tome|band", 1),
    ("book|part|livre|buch|teil|parte|partie|libro", 2),
    ("act|acte|akt|canto|appendix|anhang|annexe", 3),
    ("chapter|chapitre|kapitel|cap[ií]tulo|capitolo|letter|stave|lecture|section", 4),
    ("scene|sc[eè]ne|szene", 5),
)
_WORDS = tuple(
    (re.compile(rf"\s*(?:{words})\s+{_NUMBER}\s*(?:[.:—–-]+\s*.{{0,80}})?\s*\Z", re.I), rank) for words, rank in _RANKS
)
_COUNTING = re.compile(
    r"(?:the\s+)?(?:\d+|[ivxlcdm]+|[a-z]|(?:twenty|thirty|forty|fifty)?[- ]?(?:one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    r"first|second|third|fourth|fifth|last|final))\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\s*(?:BOOK|PART|VOLUME|CHAPTER|CANTO|ACT)\s+(?:\d{1,4}|[IVXLCDM]{1,9})\s*\.?\s*")
_ALONE = re.compile(
    r"\s*(?:prologue|epilogue|preface|foreword|introduction|contents|afterword|index|glossary)\s*\.?\s*\Z", re.I
)
_CHINESE = re.compile(r"\s*第[0-9０-９一二三四五六七八九十百千零〇两]{1,8}[章节節回卷部篇集]\s*.{0,30}\Z")
_NUMBERED = re.compile(r"\s{0,3}(\d{1,3}(?:\.\d{1,3}){0,5})\.?\)?\s+([^\W\d_].{0,90}[^,;:\s])\s*\Z")
_UNDERLINE = re.compile(r"\s*([=~^*#-])\1{2,}\s*\Z")
_CONTENTS = re.compile(
    r"\s*(?:(?:table\s+of\s+)?contents|inhalt(?:sverzeichnis)?|table\s+des\s+mati[eè]res|sommaire|[ií]ndice|"
    r"inhoud(?:sopgave)?|目录|目次|目錄)\s*[.:]?\s*\Z",
    re.IGNORECASE,
)
_LEADER = re.compile(r"(?:(?:[ .·…_]*[.·…_]{2,}[ .·…_]*)|\s{2,})\s*(?:\d{1,4}|[ivxlc]{1,7})\s*\Z", re.IGNORECASE)
_CONTENTS_LIMIT = 1000
"""Lines that printed contents may take."""

_GOES_ON = re.compile(
    r".*(?:[,;&–—-]|\b(?:a|an|the|of|or|and|nor|but|to|for|in|on|at|by|with|from|as|not|is|are|be|any|that|which|if|"
    r"der|die|das|des|und|oder|von|für|mit|zu|im|le|la|les|du|et|ou|que|el|los|y|o|con|por|il|lo|gli|e|di|da|per))\Z",
    re.IGNORECASE,
)
"""A line that a sentence does not end with."""

_SHORT = 100
_CAPITALS_LIMIT = 70


@define
class HeadingFinder:
    """Takes the lines in order; `finish` gives the headings. With `prose` False it finds none.

    Named headings (`Chapter 1`, `ACT II`) count wherever a blank line stands before them. Numbered lines and lines in
    capitals count only between blank lines, and only where they are few and not always the same: else they are lists, or
    the names of speakers.
    """

    prose: bool
    title: str | None = None
    lines: int = 0
    before: str = ""
    last: str = ""
    named: list[TextHeading] = field(factory=list)
    underlined: list[TextHeading] = field(factory=list)
    numbered: list[TextHeading] = field(factory=list)
    capitals: list[TextHeading] = field(factory=list)
    listing: bool = False
    entry: tuple[int, str] = (0, "")

    def feed(self, number: int, line: str) -> None:
        """Look at line `number`: it decides about the line before it."""
        if self.prose:
            if self.listing and line.strip():
                self.entry, self.listing = (number, _folded(line)), False
            elif not self.entry[0] and len(line) < _SHORT and _CONTENTS.match(line):
                self.listing = True
            if self.last and len(self.last) <= _SHORT:
                if not self.before:
                    self._decide(number - 1, self.last, line)
                elif not line.strip() and _PLAIN.fullmatch(self.last):
                    self.named.append(TextHeading(number - 1, _rank(self.last) or 4, self.last.strip()))
            self.before, self.last, self.lines = self.last, line if line.strip() else "", number

    def finish(self) -> list[TextHeading]:
        """The headings, in order, levels from 1 without gaps."""
        self.feed(self.lines + 1, "")
        chosen = dict(self._chosen())
        found = _without_toc_runs(self._without_contents([chosen[line] for line in sorted(chosen)]))
        levels = sorted({heading.level for heading in found})
        if len(found) < 2:
            return []
        return [TextHeading(each.line, levels.index(each.level) + 1, each.title, each.height) for each in found]

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
        if rank:
            self.named.append(TextHeading(number, rank, title))
        elif not after.strip():
            self._maybe(number, title)

    def _maybe(self, number: int, title: str) -> None:
        counted = _NUMBERED.match(title)
        if counted and not counted[2][0].islower() and (not title.endswith(".") or _in_title_case(counted[2])):
            self.numbered.append(TextHeading(number, 10 + counted[1].count("."), title))
        elif len(title) <= _CAPITALS_LIMIT and title.isupper() and _is_words(title):
            self.capitals.append(TextHeading(number, 8, title))
            self.title = self.title or (title if number <= 10 and not _CONTENTS.match(title) else None)

    def _chosen(self) -> Iterator[tuple[int, TextHeading]]:
        for few in (_without_paragraphs(self.capitals), self.numbered):
            if len(few) > 1 and not self._is_noise(few):
                yield from ((heading.line, heading) for heading in few)
        for sure in (self.underlined, self.named):
            yield from ((heading.line, heading) for heading in sure)

    def _without_contents(self, found: list[TextHeading]) -> list[TextHeading]:
        """The headings without those in printed contents, which end where their first entry comes again as a heading."""
        line, entry = self.entry
        for each in found if len(entry) > 2 else ():
            title = _folded(each.title)
            if line < each.line <= line + _CONTENTS_LIMIT and len(title) > 2 and entry.startswith(title):
                return [other for other in found if not line <= other.line < each.line]
        return found

    def _is_noise(self, found: list[TextHeading]) -> bool:
        different = Counter(heading.title for heading in found)
        return len(different) < 0.7 * len(found) or len(found) * 12 > self.lines


def _without_paragraphs(found: list[TextHeading]) -> list[TextHeading]:
    """The lines in capitals without those of paragraphs in which every second line is blank.

    Such lines follow one another with nothing between them, one at least stops within a sentence, and they are three, or
    the last one ends with a full stop: a title on two lines does not.
    """
    kept: list[TextHeading] = []
    run: list[TextHeading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        run.append(heading)
        if after is None or after.line - heading.line > 2:
            running = any(_GOES_ON.match(each.title) for each in run[:-1])
            kept.extend([] if running and (len(run) > 2 or run[-1].title.endswith(".")) else run)
            run = []
    return kept


def _without_toc_runs(found: list[TextHeading]) -> list[TextHeading]:
    """The headings without a run of at least three, hardly a line apart, all of which come again later: a list of them."""
    last = {_folded(heading.title): heading.line for heading in found}
    kept: list[TextHeading] = []
    run: list[TextHeading] = []
    for heading, after in zip(found, [*found[1:], None], strict=False):
        run.append(heading)
        if after is None or after.line - heading.line > 3:
            listed = [each for each in run if last[_folded(each.title)] > run[-1].line]
            kept.extend(
                run if len(run) < 3 or len(listed) < len(run) - 1 else [each for each in run if each not in listed]
            )
            run = []
    return kept


def _folded(line: str) -> str:
    """A title as it is compared: letters and digits alone, without the leader and the page that contents add."""
    return "".join(filter(str.isalnum, _LEADER.sub("", line).casefold()))


def _in_title_case(title: str) -> bool:
    """Whether words begin with capitals, except short ones.

    This distinguishes a title that ends with a period from a sentence.
    """
    words = title.split()
    return len(words) <= 8 and not any(word[:1].islower() and len(word) > 4 for word in words) and ". " not in title


def _is_words(title: str) -> bool:
    """Whether capitals are most of a title: not so in codes, nor in scripts that have no capitals."""
    capitals = sum(character.isupper() for character in title)
    return capitals >= 3 and capitals * 10 >= sum(not character.isspace() for character in title) * 7


def _rank(line: str) -> int:
    """The level of a heading that says what it is; 0 for any other line."""
    if _CHINESE.match(line):
        return 4
    if _ALONE.match(line):
        return 2
    for pattern, rank in _WORDS:
        if pattern.match(line) and _COUNTING.match(line.split(None, 1)[1]):
            return rank
    return 0
