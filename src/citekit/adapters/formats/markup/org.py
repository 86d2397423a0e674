"""Outlines Org files by their headlines, without keywords, priorities, cookies, and tags, and by captions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.formats.markup.line_outliner import DocumentHeadings, MarkupOutliner
from citekit.adapters.formats.shared.outline import Outliner
from citekit.adapters.formats.shared.sections import FLOAT, TextHeading

_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)\Z")
_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_(\S+)", re.IGNORECASE)
_KEYWORD = re.compile(r"[ \t]*#\+(title|todo|seq_todo|typ_todo):[ \t]*(.*)", re.IGNORECASE)
_TAGS = re.compile(r"[ \t]+:(?:[\w@#%]+:)+[ \t]*\Z")
_PRIORITY = re.compile(r"\[#[A-Za-z0-9]{1,2}\][ \t]*")
_COOKIE = re.compile(r"[ \t]*\[(?:\d*/\d*|\d*%)\]")
_LINK = re.compile(r"\[\[([^\]\[]{1,500})\](?:\[([^\]\[]{1,300})\])?\]")
_EMPHASIS = re.compile(r"(?<![\w*/=~+_])([*/=~+_])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w*/=~+_])")
_STAMP = re.compile(r"[<\[]\d{4}-\d{2}-\d{2}[^>\]\n]{0,40}[>\]](?:--[<\[]\d{4}-\d{2}-\d{2}[^>\]\n]{0,40}[>\]])?")
_CAPTION = re.compile(r"[ \t]*#\+caption(?:\[.{0,300}\])?:[ \t]*(.*)", re.IGNORECASE)
_AFFILIATED = re.compile(r"[ \t]*#\+(?:name|label|header|headers|plot|results|attr_\w+)(?:\[.*\])?:", re.IGNORECASE)
_HIDDEN = re.compile(r"[ \t]*(?:#\+|:[\w-]+:|#(?:[ \t]|\Z)|(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):)")


def org(fallback: Outliner) -> MarkupOutliner:
    """Return an outliner of Org files. For `fallback`, see `MarkupOutliner`."""
    return MarkupOutliner(read_headlines, plain, fallback)


def read_headlines(lines: Iterable[str]) -> DocumentHeadings:
    """Return the headlines that are not inside a (closed) block, and the captions.

    If there are no headlines, no captions are returned.
    """
    found, states, held, block = DocumentHeadings(), {"TODO", "DONE"}, list[TextHeading](), ""
    captions = _Captions()
    for number, line in enumerate(lines, 1):
        captions.feed(number, line)
        headline = _HEADLINE.match(line)
        if headline:
            title = _title(headline[2], states)
            (held if block else found.headings).append(TextHeading(number, len(headline[1]), title))
        elif "#+" in line:
            mark, keyword = _BLOCK.match(line), _KEYWORD.match(line)
            if mark and not block and mark[1].lower() == "begin":
                block, held = mark[2].lower(), []
            elif mark and mark[1].lower() == "end" and mark[2].lower() == block:
                block, held = "", []
            elif keyword and keyword[1].lower() == "title":
                found.title = " ".join(filter(None, (found.title, plain(keyword[2]))))
            elif keyword:
                states |= {re.sub(r"\(.*", "", word) for word in keyword[2].split() if word != "|"}
    found.headings += held
    found.headings += captions.finish() if found.headings else []
    return found


@define
class _Captions:
    """Collects figures, tables, and blocks with a `#+CAPTION:` directly above them, including the keyword lines."""

    found: list[TextHeading] = field(factory=list)
    first_line: int = 0
    captions_above: list[str] = field(factory=list)
    kind: str = ""
    last: int = 0
    block: str = ""

    def feed(self, number: int, line: str) -> None:
        if self.block:
            self._inside(number, line)
        elif self.kind == "table" and line.lstrip().startswith(("|", "#+TBLFM:", "#+tblfm:")):
            self.last = number
        else:
            self.finish()
            self._look(number, line)

    def _inside(self, number: int, line: str) -> None:
        mark = _BLOCK.match(line) if "#+" in line else None
        if mark and mark[1].lower() == "end" and mark[2].lower() == self.block:
            self.block, self.last = "", number

    def _look(self, number: int, line: str) -> None:
        caption = _CAPTION.match(line)
        block = _BLOCK.match(line)
        if caption or _AFFILIATED.match(line):
            self.first_line = self.first_line or number
            self.captions_above += [caption[1]] if caption else []
            return
        if block and block[1].lower() == "begin":
            self.block = block[2].lower()
            self.kind = "listing" if self.block in ("src", "example") else "figure" if self.captions_above else ""
        elif line.lstrip().startswith("|"):
            self.kind = "table"
        elif _LINK.fullmatch(line.strip()):
            self.kind = "figure"
        self.last = number
        if not self.kind or not self.captions_above:
            self.first_line, self.captions_above, self.kind = 0, [], ""

    def finish(self) -> list[TextHeading]:
        """Return all figures, tables, and blocks found, except a block that is not closed."""
        title = plain(" ".join(self.captions_above)) if self.kind and not self.block else ""
        if title:
            self.found.append(TextHeading(self.first_line, FLOAT, title, 1, self.kind, self.last))
        if self.kind:
            self.first_line, self.captions_above, self.kind = 0, [], ""
        return self.found


def _title(text: str, states: set[str]) -> str:
    first, _, rest = text.partition(" ")
    text = rest.lstrip() if first in states and rest.strip() else text
    text = _PRIORITY.sub("", text, count=1)
    text = text.removeprefix("COMMENT ")
    visible = plain(_COOKIE.sub("", _TAGS.sub("", text)))
    return visible or text.strip()


def plain(line: str) -> str:
    """Return a line without its markup, or "" if it is not text, such as a keyword, a drawer, or a comment."""
    if _HIDDEN.match(line) and not _HEADLINE.match(line):
        return ""
    text = _LINK.sub(lambda link: link[2] or link[1], line)
    return " ".join(_STAMP.sub("", _EMPHASIS.sub(r"\2", text)).split())
