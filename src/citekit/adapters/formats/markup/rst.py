"""Outlines reStructuredText by underlined (and overlined) titles and by captions.

The order in which the styles of underlines first occur determines their levels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from attrs import define, field

from citekit.adapters.formats.shared.outline import Outline, Outliner
from citekit.adapters.formats.shared.sections import FLOAT, TextHeading, by_line, sections
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_TABLES = frozenset(("table", "list-table", "csv-table", "flat-table"))
_DIAGRAMS = frozenset(("graphviz", "digraph", "graph", "inheritance-diagram", "mermaid", "uml", "plantuml", "plot"))
_CODE = frozenset(("code", "code-block", "sourcecode", "literalinclude"))
_KINDS = {"figure": "figure", **dict.fromkeys(_TABLES, "table"), **dict.fromkeys(_DIAGRAMS, "figure")} | dict.fromkeys(
    _CODE, "listing"
)
_LITERAL = _CODE | _DIAGRAMS | {"parsed-literal", "highlight", "raw", "math", "prompt"}
"""Directives whose content is not markup."""

_EXPLICIT = re.compile(r"( *)\.\.(?: +(?:\|[^|]+\| +)?([A-Za-z][\w.:+-]*?):: *(.*)|(?= |\Z).*)\Z")
_TARGET = re.compile(r" *\.\. +(?:_.*|\[[^\]]+\] .*|\|[^|]+\|.*)\Z")
_OPTION = re.compile(r" *:([\w-]+):(?: +(.*))?\Z")
_LINES = 60
"""The maximum number of lines of a directive that are searched for a caption."""


@define
class RstCaptions:
    """Collects the captions in the lines of a document. `plain` removes the markup from a line."""

    plain: Callable[[str], str]
    found: list[TextHeading] = field(factory=list)
    kind: str = ""
    directive: str = ""
    first_line: int = 0
    last: int = 0
    indent: int = 0
    content: list[str] = field(factory=list)
    literal: int | None = None

    def watching(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged, and collect their captions. `found` is complete after the last line."""
        for number, line in enumerate(lines, 1):
            bare = line.strip()
            self._feed(number, line, bare, len(line) - len(line.lstrip()) if bare else None)
            yield line
        self._close()

    def _feed(self, number: int, line: str, bare: str, indent: int | None) -> None:
        if self.kind and (indent is None or indent > self.indent):
            if len(self.content) < _LINES:
                self.content.append(bare)
            self.last = self.last if indent is None else number
        elif indent is not None:
            self._close()
            if self.literal is None or indent <= self.literal:
                self.literal = None
                self._look(number, line, indent)

    def _look(self, number: int, line: str, indent: int) -> None:
        mark = _EXPLICIT.match(line)
        if mark is None:
            self.literal = indent if line.rstrip().endswith("::") else None
            return
        name = (mark[2] or "").lower()
        if name in _KINDS:
            self.kind, self.directive, self.content = _KINDS[name], name, [mark[3]]
            self.first_line, self.last, self.indent = number, number, indent
        elif name in _LITERAL or (not name and not _TARGET.match(line)):
            self.literal = indent

    def _close(self) -> None:
        title = self.plain(_caption(self.directive, self.content)) if self.kind else ""
        if title:
            self.found.append(TextHeading(self.first_line, FLOAT, title, 1, self.kind, self.last))
        self.kind = ""


def _caption(directive: str, lines: Sequence[str]) -> str:
    """Return the caption of a directive, or "": its option `caption`, the title of a table, or the first paragraph in a
    figure.
    """
    first = next((index for index, line in enumerate(lines) if index and _OPTION.match(line)), len(lines))
    blank = next((index for index, line in enumerate(lines) if index and not line), len(lines))
    caption = _caption_option(lines[first:blank])
    if caption or directive in _LITERAL:
        return caption
    if directive in _TABLES:
        return " ".join(lines[: min(first, blank)]).strip()
    below = list(takewhile(bool, lines[blank + 1 :]))
    return "" if below[:1] == [".."] else " ".join(below)


def _caption_option(options: Sequence[str]) -> str:
    """Return the value of the option `caption`, which may span several lines, or ""."""
    caption: list[str] = []
    inside = False
    for line in options:
        option = _OPTION.match(line)
        inside = option[1] == "caption" if option else inside
        if inside:
            caption.append((option[2] or "") if option else line)
    return " ".join(caption).strip()


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*\Z")
_ROLE = re.compile(r":[\w:.-]{1,60}:`([^`<]{1,300}?)(?:\s*<[^`>]*>)?`")
_MARKS = re.compile(r"\*\*|``?|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)|`_{1,2}")
_DIRECTIVE = re.compile(r"\s*\.\. .*|\s*:[\w -]+:.*")


class RstOutliner:
    """Outlines reStructuredText files. `fallback` outlines files that are very long or have no titles."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The sections are nested by their titles."""
        text = open_text(source.path, progress)
        captions = RstCaptions(_bare)
        titles = [] if text.is_long else list(read_titles(captions.watching(text.lines(progress))))
        if not titles:
            return self._fallback.outline(source, progress)
        return Outline(
            title=titles[0].title,
            extent=text.extent,
            items=sections(text, by_line([*titles, *captions.found]), _plain),
            facts=text.facts,
        )


def read_titles(lines: Iterable[str]) -> Iterator[TextHeading]:
    """Yield the section titles of a document, by the rules of docutils.

    A title is above a line that repeats one punctuation character and is at least as long as the title. If the same
    line is also above the title, the title may be indented.
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
    """Return the number of columns of a text in a fixed-width font, in which wide East Asian characters take up two."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _plain(line: str) -> str:
    if _DIRECTIVE.fullmatch(line) or _ADORNMENT.match(line):
        return ""
    return _bare(line)


def _bare(text: str) -> str:
    return _MARKS.sub("", _ROLE.sub(r"\1", text)).strip()
