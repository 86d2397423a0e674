"""Splits HTML into tags and text with line numbers, in one pass and in linear time, even if the HTML is invalid.

A parser that builds a tree takes many times the memory of the document, counts lines only up to 65,535, and moves
elements that are nested incorrectly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from attrs import frozen

from citekit.adapters.libraries.lxml import names

_TAG = re.compile(r"<(?:!--|(/?)((?:[a-z]{1,20}:)?[a-z][a-z0-9-]{0,40})(?=[\s/>])|[!?/])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""([a-z][\w:.-]{0,60})\s*=\s*(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))""", re.IGNORECASE
)
_RAW = names("script style template textarea noscript svg math iframe xmp noembed noframes")
"""Elements whose content is skipped. Tags in it do not belong to the structure of the page."""

_SWALLOWING = names("script style textarea xmp iframe noembed noframes")
"""The raw elements that, as in a browser, extend to the end of the document if they are not closed."""

_TAG_LIMIT = 64 * 1024
"""Maximum number of characters of a tag with quoted attributes. A longer tag ends at its first `>`."""


@frozen
class Tag:
    """A start or end tag. `name` is in lowercase, without a namespace prefix. `line` is the 1-based line of its `<`.

    `written` is the source text of the attributes.
    """

    name: str
    line: int
    closes: bool = False
    written: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes by lowercase name. If an attribute is repeated, its first value is used."""
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(self.written):
            found.setdefault(name.lower(), unescape(double or single or bare))
        return found


@frozen
class Text:
    """A piece of text in which entities are replaced by characters, and the 1-based line on which it starts."""

    line: int
    words: str


def tokens(content: str) -> Iterator[Tag | Text]:
    """Yield the tags and the text between them in order.

    Comments, declarations, and the content of scripts and similar elements are skipped.
    """
    line, position, size = 1, 0, len(content)
    unclosed: set[str] = set()
    while position < size:
        found = _TAG.search(content, position)
        start = found.start() if found else size
        if start > position:
            piece = content[position:start]
            yield Text(line, unescape(piece) if "&" in piece else piece)
            line += piece.count("\n")
        if found is None:
            return
        name = (found[2] or "").rpartition(":")[2].lower()
        end = _end(content, start, found)
        if name:
            written = content[found.end() : end]
            yield Tag(name, line, bool(found[1]), written)
            if name in _RAW and name not in unclosed and not found[1] and not written.endswith("/>"):
                closing = _CLOSINGS[name].search(content, end)
                if closing is None:
                    unclosed.add(name)
                end = closing.start() if closing else size if name in _SWALLOWING else end
        line += content.count("\n", start, end)
        position = end


def _end(content: str, start: int, found: re.Match[str]) -> int:
    """Return the offset after a tag or a comment, or the end of the document if it is not closed."""
    if found[0] == "<!--":
        return _after(content, "-->", found.end())
    return tag_end(content, start, found.end())


def tag_end(content: str, start: int, position: int) -> int:
    """Return the offset after the first `>` outside quotes of a tag at `start` whose attributes begin at `position`.

    A tag that is too long or has no such `>` ends at its first `>`, or else at the end of the document.
    """
    first = _after(content, ">", position)
    quoted = content.find('"', position, first), content.find("'", position, first)
    if max(quoted) < 0:
        return first
    piece = _TAG_END.match(content, position, min(len(content), start + _TAG_LIMIT))
    return piece.end() if piece else first


_TAG_END = re.compile(r"""(?:[^>"'=]|=\s*(?:"[^"]*"|'[^']*')?|["'])*+>""")


def _after(content: str, mark: str, start: int) -> int:
    found = content.find(mark, start)
    return found + len(mark) if found >= 0 else len(content)


_CLOSINGS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
