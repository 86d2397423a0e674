"""reStructuredText: sections by underlined (and overlined) titles, levels in the order in which their styles appear.

Figures, tables and listings that have a caption lie inside of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from citekit.adapters.drivers.text_file import open_text
from citekit.adapters.mapping.local.outline import Outline, Outliner
from citekit.adapters.mapping.local.rst_captions import RstCaptions
from citekit.adapters.mapping.local.sections import TextHeading, by_line, sections
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*\Z")
_ROLE = re.compile(r":[\w:.-]{1,60}:`([^`<]{1,300}?)(?:\s*<[^`>]*>)?`")
_MARKS = re.compile(r"\*\*|``?|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)|`_{1,2}")
_DIRECTIVE = re.compile(r"\s*\.\. .*|\s*:[\w -]+:.*")


class RstOutliner:
    """`fallback` maps files that are long, or hold no title."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections nested by their titles. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        captions = RstCaptions(_bare)
        titles = [] if text.is_long else list(read_titles(captions.watching(text.lines(progress))))
        if not titles:
            return self._fallback.outline(source, progress)
        return Outline(
            title=titles[0].title,
            bounds=text.bounds,
            drafts=sections(text, by_line([*titles, *captions.found]), _plain),
            facts=text.facts,
        )


def read_titles(lines: Iterable[str]) -> Iterator[TextHeading]:
    """The titles of a document, as docutils finds them: text over a line of one repeated punctuation character.

    The line is at least as long as the text. With the same line above, too, the text may be indented.
    """
    styles: list[str] = []
    before, above, text = "", "", ""
    for number, line in enumerate(lines, 1):
        style = _style(before, above, text, line)
        if style:
            if style not in styles:
                styles.append(style)
            over = len(style) == 2
            yield TextHeading(number - 1 - over, styles.index(style) + 1, text.strip(), 2 + over)
            before, above, text = "", "", ""
        else:
            before, above, text = above, text, line


def _style(before: str, above: str, text: str, under: str) -> str:
    mark = _ADORNMENT.match(under)
    if not mark or not text.strip() or _ADORNMENT.match(text) or width(text.rstrip()) > len(under.rstrip()):
        return ""
    over = _ADORNMENT.match(above)
    if over and over[1] == mark[1] and above.rstrip() == under.rstrip() and not before.strip():
        return mark[1] * 2
    if above.strip() or text[0].isspace() or len(under.rstrip()) < 2:
        return ""
    return mark[1]


def width(text: str) -> int:
    """Columns that a text takes in a fixed-width font: wide East Asian characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _plain(line: str) -> str:
    if _DIRECTIVE.fullmatch(line) or _ADORNMENT.match(line):
        return ""
    return _bare(line)


def _bare(text: str) -> str:
    return _MARKS.sub("", _ROLE.sub(r"\1", text)).strip()
