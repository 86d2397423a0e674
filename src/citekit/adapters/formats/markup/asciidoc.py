"""Outlines AsciiDoc by one-line and two-line section titles, and by the titles of figures, tables, and listings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import define, evolve, field

from citekit.adapters.formats.markup.line_outliner import DocumentHeadings, MarkupOutliner
from citekit.adapters.formats.markup.rst import width
from citekit.adapters.formats.shared.outline import Outliner
from citekit.adapters.formats.shared.sections import FLOAT, TextHeading

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*\Z")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|/{4,}|\+{4,}|={4,}|\*{4,}|_{4,}|--|```[\w+-]*|~{3,}|[|,:!]={3,})[ \t]*\Z")
_UNDERLINE = re.compile(r"([=~^+-])\1+[ \t]*\Z")
_UNDERLINES = "=-~^+"
_BLOCK_TITLE = re.compile(r"\.(?![.\s])(.{1,300})\Z")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:[ \t]+(.*))?\Z")
_STYLE = re.compile(r"\[(?:style=)?[\"']?([\w-]*)[^\]]*\][ \t]*\Z")
_IMAGE = re.compile(r"(?:image|video|audio)::\S*\[")
_REFERENCE = re.compile(r"\{([\w][\w-]*)\}")
_ANCHOR = re.compile(r"\[\[[^\]]{1,100}\]\]|(?<!\S)\[#[^\]]{1,100}\]|\(\(\([^()]{1,200}\)\)\)")
_LINK = re.compile(r"(?:link:|xref:|mailto:|https?://)[^\s\[\]]{1,500}\[([^\]]{0,300})\]")
_CROSS = re.compile(r"<<[^,>]{1,200}(?:,([^>]{1,200}))?>>")
_MARKS = re.compile(r"(?<!\w)(\*\*?|__?|``?|##?|\+\+?)(?=\S)([^\n]{1,300}?)(?<=\S)\1(?!\w)")
_HIDDEN = re.compile(
    r"(?://|:[\w!][\w-]*!?:|\[[^\]]*\][ \t]*\Z|(?:ifn?def|ifeval|endif|include|image|toc)::|\|={3,}|\.\w)"
)


def asciidoc(fallback: Outliner) -> MarkupOutliner:
    """Return an outliner of AsciiDoc files. For `fallback`, see `MarkupOutliner`."""
    return MarkupOutliner(read_titles, plain, fallback)


def read_titles(lines: Iterable[str]) -> DocumentHeadings:
    """Return the section titles that are not inside a block, by the rules of Asciidoctor, and the captions.

    Discrete headings are skipped. If there are no section titles, no captions are returned.
    """
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.feed(number, line.rstrip())
    return reader.finish()


@define
class _Reader:
    found: DocumentHeadings = field(factory=DocumentHeadings)
    attributes: dict[str, str] = field(factory=dict)
    block: str = ""
    before: str = ""
    above: str = ""
    style: str = ""
    caption: tuple[int, str] = (0, "")
    opened: tuple[int, str] = (0, "")
    kind: str = ""
    offset: int = 0

    def feed(self, number: int, line: str) -> None:
        if self.block:
            if line == self.block:
                self._close(number)
            return
        if not line:
            self.before, self.above = self.above, line
            self.style = self.style if self.before.startswith("[") else ""
            return
        if line[0].isalnum() and not _IMAGE.match(line):
            self.style, self.caption = "", (0, "")
        elif self._two_lines(number, line) or self._marked(number, line):
            self.before, self.above = "", ""
            return
        else:
            self._other(number, line)
        self.before, self.above = self.above, line

    def _two_lines(self, number: int, line: str) -> bool:
        """Add the previous line as a title if `line` is its underline, about as long as the title, and return whether
        it is.
        """
        rule, title = _UNDERLINE.match(line), self.above
        if not rule or not title or (self.before.strip(" ") and not self.before.startswith(("[", "//", ":"))):
            return False
        if abs(width(title) - len(line)) > 1 or title.startswith((".", "[", ":", "|", "*", "-")):
            return False
        if len(line) < 3 or not any(map(str.isalnum, title)):
            return False
        self._add(number - 1, _UNDERLINES.index(rule[1]) + 1, title, 2)
        return True

    def _marked(self, number: int, line: str) -> bool:
        title = _TITLE.match(line)
        if not title or (
            self.above and not self.above.startswith(("[", "//", ":", "=", "#", "ifdef", "endif", "ifndef"))
        ):
            return False
        self._add(number, len(title[1]), title[2], 1)
        return True

    def _add(self, line: int, level: int, title: str, height: int) -> None:
        text = plain(self._with_attributes(title))
        if self.style not in ("discrete", "float") and text:
            kind = (
                self.style if self.style in ("appendix", "preface", "glossary", "bibliography", "index") else "section"
            )
            self.found.headings.append(TextHeading(line, max(1, level + self.offset), text, height, kind))
        self.style, self.caption = "", (0, "")

    def _with_attributes(self, title: str) -> str:
        return _REFERENCE.sub(lambda name: self.attributes.get(name[1].lower(), name[0]), title)

    def _other(self, number: int, line: str) -> None:
        delimiter, style, name = _DELIMITER.match(line), _STYLE.match(line), _ATTRIBUTE.match(line)
        caption = _BLOCK_TITLE.match(line)
        if delimiter:
            self.block = "```" if line.startswith("```") else line
            table = "===" in line and line[0] in "|,:!"
            self.kind = "table" if table else "listing" if line.startswith(("----", "```", "....")) else ""
            self.opened, self.caption = self.caption if self.kind else (0, ""), (0, "")
        elif style:
            self.style = style[1] or self.style
        elif name:
            self._set(name[1].lower(), name[2] or "")
        elif caption:
            self.caption = (number, plain(caption[1]))
        else:
            if _IMAGE.match(line) and self.caption[0]:
                self._float("figure", self.caption, number)
            self.caption = (0, "")
            self.style = ""

    def _set(self, name: str, value: str) -> None:
        self.attributes[name] = value
        if name == "leveloffset":
            try:
                self.offset = int(value or 0) + (self.offset if value[:1] in "+-" and value else 0)
            except ValueError:
                self.offset = 0
        self.offset = min(5, max(-5, self.offset))

    def _close(self, number: int) -> None:
        if self.opened[0]:
            self._float(self.kind, self.opened, number)
        self.block, self.opened, self.before, self.above = "", (0, ""), "", ""

    def _float(self, kind: str, caption: tuple[int, str], last: int) -> None:
        self.found.headings.append(TextHeading(caption[0], FLOAT, caption[1], 1, kind, last))

    def finish(self) -> DocumentHeadings:
        named = self.attributes.get("doctitle") or self.attributes.get("title")
        first = next((each for each in self.found.headings if each.last is None), None)
        if first and first.level == 1 and "{" in first.title:
            resolved = evolve(first, title=self._with_attributes(first.title))
            self.found.headings[self.found.headings.index(first)] = first = resolved
        self.found.title = named or (first.title if first and first.level == 1 else None)
        if all(each.last is not None for each in self.found.headings):
            self.found.headings.clear()
        return self.found


def plain(line: str) -> str:
    """Return a line without its markup.

    Return "" for a line outside of the text, such as a comment, an attribute, a block title, or a block macro.
    """
    if _HIDDEN.match(line):
        return ""
    text = _CROSS.sub(lambda cross: cross[1] or "", _LINK.sub(r"\1", _ANCHOR.sub("", line)))
    for _ in range(2):
        text = _MARKS.sub(r"\2", text)
    return " ".join(text.split())
