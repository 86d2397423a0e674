"""Finds the headings of a Word document that have no heading style among those that have one.

Authors format some headings by hand, or with styles of their own that do not say which level of heading they are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from attrs import frozen

from citekit.adapters.formats.docx.false_headings import is_text
from citekit.adapters.formats.docx.opening import TOC, is_blank
from citekit.adapters.formats.docx.styles import BODY
from citekit.domain.vocabulary import APPENDIX, EXHIBIT, any_of

LENGTH_LIMIT = 100
"""Maximum number of characters of a heading without a heading style."""

LEAST_TWINS = 3
"""The minimum number of headings of one level that show how the headings of that level look."""

LEAST_LABELS = 3
"""The minimum number of numbered lines, in styles in which all lines are numbered, that show that these are styles of
headings.
"""

LEAST_PARTS = 2
"""The minimum number of parts of a document, which have larger headings than the highest heading style."""

DEEPEST = 8
"""The lowest level of a heading."""

_APPENDIX = any_of(APPENDIX, EXHIBIT)
_LABEL = re.compile(rf"(?:{_APPENDIX})\s+(?:[A-Z]|\d{{1,2}})\b|(?:[A-Z]|\d{{1,2}})((?:\.\d{{1,2}})+)\.?\s", re.I)
"""Matches the number of a heading: `Appendix A`, or several numbers, such as `A.1`, of which group 1 are the lower ones.
"""

_EXHIBIT = re.compile(rf"\W*(?:{_APPENDIX})\W*", re.I)


@frozen
class Shown:
    """A paragraph with text, its position `at` in the document, and its look; the size is in half points.

    `level` is its outline level, or `BODY`. `style` is the ID of its style, or "" if that is the default style.
    `is_plain` is true if it cannot be a heading: it is in a table, it has a style for captions, titles, or tables of
    contents, or it is one of the `false_headings`. `on_page` is how many paragraphs with text are before it on its
    page, as far as the document says where pages begin, or None before the first of these places.
    """

    at: int
    text: str
    level: int
    style: str
    size: int
    bold: bool
    centered: bool
    is_plain: bool
    on_page: int | None

    @property
    def look(self) -> tuple[int, bool, bool]:
        """What headings of one level have in common."""
        return self.size, self.bold, self.centered

    @property
    def may_be_heading(self) -> bool:
        """Whether this is a short text, which does not end like a sentence, and has no level yet."""
        return (
            self.level == BODY
            and not self.is_plain
            and 2 < len(self.text) <= LENGTH_LIMIT
            and self.text[-1] not in ".,;:"
            and any(map(str.isalpha, self.text))
            and not (is_text(self.text) or is_blank(self.text) or TOC.fullmatch(self.text))
        )


def unstyled_headings(shown: Sequence[Shown], body_size: int) -> Mapping[int, int]:
    """Return the levels of paragraphs that are headings without a level, by position in the document.

    `body_size` is the most common font size in half points. Parts, which are above all other headings, have the level
    -1. The result is empty if no paragraph of the document has a level.
    """
    first = next((index for index, each in enumerate(shown) if each.level < BODY), None)
    if first is None:
        return {}
    after = shown[first:]
    found = dict(_numbered(after))
    found.update(_twins(after, body_size))
    found.update(_page_heads(after))
    found.update(_parts(shown))
    return found


def _twins(shown: Sequence[Shown], body_size: int) -> Iterator[tuple[int, int]]:
    """Yield lines that look like the headings of one level, if few other lines do.

    Repeated lines, such as the heads of warnings, are left out.
    """
    texts = Counter(each.text for each in shown)
    levels: dict[tuple[int, bool, bool], Counter[int]] = defaultdict(Counter)
    for each in shown:
        if not each.is_plain and (each.bold or each.size > body_size):
            levels[each.look][each.level] += 1
    usual = {look: _usual(counts) for look, counts in levels.items()}
    for each in shown:
        level = usual.get(each.look, BODY)
        if level < BODY and each.may_be_heading and texts[each.text] == 1:
            yield each.at, level


def _usual(counts: Counter[int]) -> int:
    """Return the level of most headings of a look, by how many paragraphs with this look have each level, or `BODY`."""
    level, count = max(
        ((level, count) for level, count in counts.items() if level < BODY), key=itemgetter(1), default=(BODY, 0)
    )
    return level if count >= LEAST_TWINS and 2 * counts[BODY] <= count else BODY


def _numbered(shown: Sequence[Shown]) -> Iterator[tuple[int, int]]:
    """Yield the lines of styles in which all lines begin with the number of a heading."""
    by_style = defaultdict(list)
    for each in shown:
        if each.style and each.level == BODY and not each.is_plain:
            by_style[each.style].append(each)
    labels = {
        style: found
        for style, members in by_style.items()
        if all(each.may_be_heading for each in members) and all(found := [_LABEL.match(each.text) for each in members])
    }
    if sum(map(len, labels.values())) >= LEAST_LABELS:
        for style, found in labels.items():
            for each, label in zip(by_style[style], found, strict=True):
                yield each.at, min((label[1] or "").count("."), DEEPEST) if label else 0


def _page_heads(shown: Sequence[Shown]) -> Iterator[tuple[int, int]]:
    """Yield the centered lines at the beginnings of pages that are bold or the numbers of exhibits, and the bold and
    centered lines below them.

    A page may begin with the bare word `EXHIBIT`, whose number is a field without a value.
    """
    top = min(each.level for each in shown)
    above: int | None = None
    for each in shown:
        found, each_above, above = None, above, None
        if each.centered and each.may_be_heading and each.on_page == 0:
            bare = _EXHIBIT.fullmatch(each.text)
            found = top if not bare and (each.bold or _LABEL.match(each.text)) else None
            above = top if found is None and bare else found
            above = above if above is None or bare else above + 1
        elif each.centered and each.may_be_heading and each.on_page == 1 and each.bold:
            found = each_above
        if found is not None:
            yield each.at, min(found, DEEPEST)


def _parts(shown: Sequence[Shown]) -> Iterator[tuple[int, int]]:
    """Yield the position and the level -1 of each possible heading that directly precedes a heading of the highest level
    and is larger than all headings of that level. There are at least `LEAST_PARTS` of them, or none.
    """
    top = min(each.level for each in shown)
    largest = max(each.size for each in shown if each.level == top)
    found = [
        line.at
        for line, heading in pairwise(shown)
        if heading.level == top and line.may_be_heading and line.size > largest
    ]
    if len(found) >= LEAST_PARTS:
        yield from ((at, -1) for at in found)
