"""Finds the headings of Markdown without a parser, line by line and in linear time, and removes inline markup.

It is for files that are too long for a parser, and for HTML pages that contain their slides as Markdown. Lines that look
like headings do not count inside code fences, HTML blocks, lists, and block quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

from attrs import define, field

from citekit.adapters.formats.shared.sections import TextHeading

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])(?=[ \t]|\Z)[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_RAW = re.compile(r" {0,3}<(script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_TAG = re.compile(
    r" {0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset|figcaption|figure|"
    r"footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|optgroup|option|p|section|summary|"
    r"table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|\Z)",
    re.IGNORECASE,
)
_MARKUP_STARTS = frozenset("#=-`~<>*+_ \t0123456789")

_PICTURE = re.compile(r"!\[([^\]\n]{0,300})\]\([^()\n]{0,500}\)")
_LINK = re.compile(
    r"\[([^\]\[\n]{1,300})\](?:\([^()\n]{0,500}(?:\([^()\n]{0,200}\)[^()\n]{0,300})?\)|\[[^\]\n]{0,100}\])"
)
_INLINE_TAG = re.compile(r"(?<!\\)<(?:/?[A-Za-z][^<>\n]{0,300}|!--[^>\n]{0,300}--)>")
_MARKS = re.compile(r"\*\*|__|``?|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|\\(?=[!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"(?<![\w\\])_(?=[^\s_])([^_\n]{1,300})(?<=\S)_(?!\w)")
_CODE = re.compile(r"(?<![`\\])(`{1,3})(?!`)(.{1,500}?)(?<!`)\1(?!`)")
_PROTECTED = dict(zip(map(ord, "<>*_[]()~\\!&`"), range(0xE000, 0xE00D), strict=True))
_RESTORED = {code: sign for sign, code in _PROTECTED.items()}
"""Maps private-use characters back to the markup characters that they replace inside code."""


@define
class MarkdownScan:
    """Finds headings in lines that are read in order."""

    found: list[TextHeading] = field(factory=list)
    fence: str = ""
    until: str = ""
    items: int = 0
    blank: bool = True
    paragraph: list[str] = field(factory=list)
    first_line: int = 0

    def read(self, lines: Iterable[str], first: int = 1) -> list[TextHeading]:
        """Return the headings in `lines`. `first` is the number of the first line."""
        for number, line in enumerate(lines, first):
            if self.fence or self.until:
                self._inside(line)
            elif not line or line.isspace():
                self.paragraph, self.blank = [], True
            else:
                self._look(number, line)
                self.blank = False
        return self.found

    def _inside(self, line: str) -> None:
        """Process a line inside a code fence or an HTML block, which it may end."""
        if self.fence:
            mark = line.strip()
            if mark.startswith(self.fence) and not mark.strip(self.fence[0]):
                self.fence = ""
        elif (self.until == "\n" and not line.strip()) or (self.until != "\n" and self.until in line.lower()):
            self.until = ""
        self.blank = True

    def _look(self, number: int, line: str) -> None:
        if line[0] not in _MARKUP_STARTS and not self.items:
            self._text(number, line)
            return
        indent = len(line) - len(line.lstrip(" "))
        if self.items and self.blank and indent < self.items and line[0] != "\t":
            self.items = 0
        inside = bool(self.items) and (indent >= self.items or line[0] == "\t")
        fence = _FENCE.match(line) if indent < 4 or self.items else None
        if fence:
            self.fence, self.paragraph = fence[1], []
        elif not inside and not self._block(number, line):
            self._text(number, line)

    def _block(self, number: int, line: str) -> bool:
        """Process a line outside paragraphs, such as a heading, and return whether it is such a line."""
        heading, item, rule = _HEADING.match(line), _ITEM.match(line), _UNDERLINE.match(line)
        if heading:
            self._add(number, len(heading[1]), heading[2] or "", 1)
        elif rule and self.paragraph:
            self._add(
                self.first_line, 1 if rule[1][0] == "=" else 2, "\n".join(self.paragraph), number - self.first_line + 1
            )
        elif _RULE.match(line):
            self.items = 0
        elif item:
            self.items = item.end() if item.end() - item.end(2) <= 4 and item.end() < len(line) else item.end(2) + 1
        elif not line.lstrip().startswith(">") and not self._html(line):
            return False
        self.paragraph = []
        return True

    def _html(self, line: str) -> bool:
        if not line.lstrip().startswith("<"):
            return False
        raw = _RAW.match(line)
        if raw:
            self.until = "" if f"</{raw[1].lower()}>" in line.lower() else f"</{raw[1].lower()}>"
        elif line.lstrip().startswith("<!--"):
            self.until = "" if "-->" in line else "-->"
        elif _TAG.match(line):
            self.until = "\n"
        else:
            return False
        return True

    def _text(self, number: int, line: str) -> None:
        if self.items and not self.blank:
            return
        if not self.paragraph and (line.startswith(("    ", "\t")) or line.lstrip()[:1] == ">"):
            return
        self.items = 0
        if not self.paragraph:
            self.first_line = number
        self.paragraph.append(line.strip())

    def _add(self, line: int, level: int, title: str, height: int) -> None:
        words = "\n".join(each for each in title.split("\n") if any(map(str.isalnum, each)))
        if words:
            self.found.append(TextHeading(line, level, " ".join(without_markup(words).split()), height))
        self.paragraph, self.items = [], 0


def without_markup(text: str) -> str:
    """Return a text, such as a heading, without its inline markup. A number at its beginning is kept."""
    if text.replace(" ", "").isalnum():
        return text.strip()
    coded = "`" in text
    if coded:
        text = _CODE.sub(lambda code: code[2].translate(_PROTECTED), text)
    text = _INLINE_TAG.sub("", _LINK.sub(r"\1", _PICTURE.sub(r"\1", text)))
    text = _MARKS.sub("", _EMPHASIS.sub(r"\1", text) if "_" in text else text).strip()
    text = unescape(text) if "&" in text else text
    return text.translate(_RESTORED) if coded else text
