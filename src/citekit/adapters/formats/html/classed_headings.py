"""Finds the headings of HTML pages without heading elements by the classes that programs give them (`chapterHeader`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, evolve, field

from citekit.adapters.formats.html.lines import letters, letters_from
from citekit.adapters.formats.html.tags import Tag, tokens
from citekit.adapters.formats.shared.sections import TextHeading, by_line

TITLE_LIMIT = 200
"""Maximum number of characters of a heading."""

LEAST_HEADINGS = 2
"""The minimum number of headings of a page. If fewer are found, they are ignored."""

BODY_PIECES = 40
"""Maximum number of pieces of text below a heading that are kept for its summary."""

_CLASS = re.compile(
    r"(?P<kind>book|volume|part|act|chapter|scene|section|poem|verse|story|article|subsection)[-_]?"
    r"(?:head(?:er|ing)?|title|name)|head(?:ing|er)?[-_]?(?P<level>[1-6])",
    re.IGNORECASE,
)
_LEVELS = {"book": 1, "volume": 1, "part": 2, "act": 2, "section": 4, "subsection": 5}
"""Levels of the kinds of headings; those of all others are those of chapters."""

_CHAPTER = 3
_ELEMENTS = frozenset(("span", "p", "div", "b", "strong", "font", "td"))
_BLOCKS = frozenset(("p", "div", "table", "ul", "ol", "li", "blockquote", "section", "article"))


@define
class _Reader:
    """The headings found so far, and the pieces of text below each by its line (0 before the first heading).

    `name` is the element of the heading that is open, `depth` the number of elements of that name in it, and `level` 0
    if no heading is open.
    """

    headings: list[TextHeading] = field(factory=list)
    texts: dict[int, list[str]] = field(factory=lambda: {0: []})
    name: str = ""
    depth: int = 0
    level: int = 0
    line: int = 0
    words: list[str] = field(factory=list)

    def tag(self, tag: Tag) -> None:
        """Process a tag, which can open a heading or close it."""
        if self.level and tag.name == self.name:
            self.depth += -1 if tag.closes else 1
            if not self.depth:
                self._close()
        elif self.level and tag.name in _BLOCKS:
            self._close()
        if not self.level and not tag.closes and tag.name in _ELEMENTS and (level := _level_of(tag)):
            self.name, self.depth, self.level, self.line = tag.name, 1, level, tag.line

    def text(self, words: str) -> None:
        """Add text to the open heading, or else to the body of the last one."""
        if self.level:
            self.words.append(words)
        elif (
            not words.isspace()
            and len(body := self.texts[self.headings[-1].line if self.headings else 0]) < BODY_PIECES
        ):
            body += [" ".join(words.split()), ""]

    def _close(self) -> None:
        title = " ".join("".join(self.words).split())
        if any(map(str.isalnum, title)) and len(title) <= TITLE_LIMIT:
            self.headings.append(TextHeading(self.line, self.level, title))
            self.texts.setdefault(self.line, [])
        self.level, self.words = 0, []


def classed_headings(
    content: str, seen: Mapping[int, str] | None
) -> tuple[Sequence[TextHeading], Mapping[int, Sequence[str]]]:
    """Return the headings of the HTML page `content` whose classes name them, and the texts below each by its line.

    Texts before the first heading are at 0. Both results are empty if there are fewer than `LEAST_HEADINGS` headings.
    `seen` has the letters that readers see on each line (None: unknown); other headings are left out.
    """
    reader = _Reader()
    for token in tokens(content):
        if isinstance(token, Tag):
            reader.tag(token)
        else:
            reader.text(token.words)
    found = by_line(
        [each for each in reader.headings if seen is None or letters(each.title)[:40] in letters_from(seen, each.line)]
    )
    if len({each.title for each in found}) < LEAST_HEADINGS:
        return (), {}
    levels = sorted({each.level for each in found})
    return [evolve(each, level=levels.index(each.level) + 1) for each in found], reader.texts


def _level_of(tag: Tag) -> int:
    """Return the level that the classes of an element give it as a heading, or 0."""
    if "class" not in tag.written.lower():
        return 0
    return next(_levels(tag.attributes.get("class", "").split()), 0)


def _levels(classes: Sequence[str]) -> Iterator[int]:
    for found in filter(None, map(_CLASS.fullmatch, classes)):
        yield int(found["level"]) if found["level"] else _LEVELS.get(found["kind"].lower(), _CHAPTER)
