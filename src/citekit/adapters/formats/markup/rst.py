"""reStructuredText: sections by underlined (and overlined) titles, with levels in the order in which their styles appear.

Sections contain the figures, tables, and listings that have a caption. These are directives with indented lines below them.
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
"""Directives whose content is no markup."""

_EXPLICIT = re.compile(r"( *)\.\.(?: +(?:\|[^|]+\| +)?([A-Za-z][\w.:+-]*?):: *(.*)|(?= |\Z).*)\Z")
_TARGET = re.compile(r" *\.\. +(?:_.*|\[[^\]]+\] .*|\|[^|]+\|.*)\Z")
_OPTION = re.compile(r" *:([\w-]+):(?: +(.*))?\Z")
_LINES = 60
"""Lines of a directive that a caption is looked for in."""


@define
class RstCaptions:
    """Watches the lines of a document; `plain` takes the markup out of a line."""

    plain: Callable[[str], str]
    found: list[TextHeading] = field(factory=list)
    kind: str = ""
    directive: str = ""
    begun: int = 0
    last: int = 0
    indent: int = 0
    held: list[str] = field(factory=list)
    literal: int | None = None

    def watching(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines as they are; `found` is complete when all have passed."""
        for number, line in enumerate(lines, 1):
            bare = line.strip()
            self._feed(number, line, bare, len(line) - len(line.lstrip()) if bare else None)
            yield line
        self._close()

    def _feed(self, number: int, line: str, bare: str, indent: int | None) -> None:
        if self.kind and (indent is None or indent > self.indent):
            if len(self.held) < _LINES:
                self.held.append(bare)
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
            self.kind, self.directive, self.held = _KINDS[name], name, [mark[3]]
            self.begun, self.last, self.indent = number, number, indent
        elif name in _LITERAL or (not name and not _TARGET.match(line)):
            self.literal = indent

    def _close(self) -> None:
        title = self.plain(_caption(self.directive, self.held)) if self.kind else ""
        if title:
            self.found.append(TextHeading(self.begun, FLOAT, title, 1, self.kind, self.last))
        self.kind = ""


def _caption(directive: str, lines: Sequence[str]) -> str:
    """The title of a table, the first paragraph below a figure, or the option `caption` of any."""
    first = next((place for place, line in enumerate(lines) if place and _OPTION.match(line)), len(lines))
    blank = next((place for place, line in enumerate(lines) if place and not line), len(lines))
    said = _said(lines[first:blank])
    if said or directive in _LITERAL:
        return said
    if directive in _TABLES:
        return " ".join(lines[: min(first, blank)]).strip()
    below = list(takewhile(bool, lines[blank + 1 :]))
    return "" if below[:1] == [".."] else " ".join(below)


def _said(options: Sequence[str]) -> str:
    """What the option `caption` says, which may go on below."""
    said: list[str] = []
    inside = False
    for line in options:
        option = _OPTION.match(line)
        inside = option[1] == "caption" if option else inside
        if inside:
            said.append((option[2] or "") if option else line)
    return " ".join(said).strip()


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
            items=sections(text, by_line([*titles, *captions.found]), _plain),
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
