"""Parses HTML by the HTML standard, as browsers do, with the lexbor parser of selectolax.

The tree is returned as elements of lxml. Comments, document types, and the content of `template` elements are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from citekit.domain.errors import SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import _Element
    from selectolax.lexbor import LexborHTMLParser, LexborNode

DEPTH_LIMIT = 2048
"""Maximum depth of an element."""

ELEMENTS_LIMIT = 1_000_000
"""Maximum number of elements. In each paragraph, the standard repeats formatting elements that are not closed."""

ATTRIBUTES_LIMIT = 5000
"""Maximum number of attributes of a tag, which the parser compares with each other."""

SPACE = "\t\n\f\r "
"""The white space of HTML."""

_REST = (
    rf"""[^{SPACE}/>]*+(?:[{SPACE}/]++|(?:=[^{SPACE}/>=]*+|[^{SPACE}/>=]++)"""
    rf"""(?:[{SPACE}]*+=[{SPACE}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{SPACE}>]*+)|(?![{SPACE}]*+=)))*+>"""
)
_TAG = re.compile(f"</?[A-Za-z]{_REST}")
_MARKUP = re.compile(f"<(/?)([A-Za-z][^{SPACE}/>]*+)")
_OPEN_LIMIT = 20_000
"""Maximum number of open tags, including those that the standard closes implicitly."""

_IMPLIED = frozenset(
    (
        *("p", "li", "td", "th", "tr", "dt", "dd", "tbody", "thead", "tfoot", "option", "optgroup", "colgroup"),
        *("rp", "rt", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source"),
        *("track", "wbr"),
    )
)
"""Elements that are not counted, because they have or need no end tag."""

_COMMENT_END = re.compile("--!?>")
_ATTRIBUTE = re.compile(f"[{SPACE}/\"'][^{SPACE}/>]")
_LONG = 4 * ATTRIBUTES_LIMIT
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OTHER = re.compile(r"[^A-Za-z0-9_.\u0294-]|^[^A-Za-z_\u0294]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")


def markup_end(content: str, start: int) -> int:
    """Return the offset after the tag, comment, or declaration at `start`; the end of the document if it is not closed."""
    if content.startswith("<!--", start):
        if content.startswith((">", "->"), start + 4):
            return content.index(">", start) + 1
        closing = _COMMENT_END.search(content, start + 4)
        return closing.end() if closing else len(content)
    if content[start + 1 : start + 3].lstrip("/")[:1].isalpha():
        tag = _TAG.match(content, start)
        return tag.end() if tag else len(content)
    end = content.find(">", start)
    return end + 1 if end >= 0 else len(content)


def parse_standard_html(text: str, name: str, plain: str | None = None) -> _Element:
    """Return the root of the HTML document `name`, which is an element `html`.

    Noncharacters in attributes, which mark lines, are removed. `plain` is the document without noncharacters. Raise
    `SourceUnsupported` if the document is nested too deeply, has too many elements or attributes, cannot be parsed, or
    is parsed differently from `plain`.
    """
    _check_tags(text if plain is None else plain, name)
    parser = _parser(text, name)
    if plain is not None and _NONCHARACTERS.sub("", parser.html or "") != (_parser(plain, name).html or ""):
        raise SourceUnsupported(f"{name} has markup in which lines cannot be counted.")
    if parser.root is None:
        raise SourceUnsupported(f"{name} cannot be parsed as HTML.")
    return _tree(parser.root, name)


def markup_name(name: str) -> str:
    """Return the name of an element or attribute in which each character that XML does not allow is replaced.

    The replacement is the code of the character in hexadecimal, between two U+0294.
    """
    return name if _SIMPLE.fullmatch(name) else _encoded(name)


@lru_cache(1024)
def _encoded(name: str) -> str:
    return _OTHER.sub(lambda found: f"\u0294{ord(found[0]):x}\u0294", name)


def _check_tags(text: str, name: str) -> None:
    """Raise `SourceUnsupported` if parsing would take time that grows with the square of the size."""
    opened = Counter[str]()
    depth = position = 0
    while (start := _MARKUP.search(text, position)) is not None:
        position = markup_end(text, start.start())
        closes, tag = start[1], start[2].lower()
        if not closes and position - start.start() > _LONG:
            attributes = len(_ATTRIBUTE.findall(text, start.start(), position))
            if attributes > ATTRIBUTES_LIMIT:
                raise SourceUnsupported(f"{name} has a tag with more than {ATTRIBUTES_LIMIT:,} attributes.")
        if tag in _IMPLIED:
            continue
        change = 1 if not closes else -1 if opened[tag] else 0
        opened[tag] += change
        depth += change
        if depth > _OPEN_LIMIT:
            raise SourceUnsupported(
                f"{name} cannot be read to the end: it is nested deeper than {DEPTH_LIMIT:,} levels or has more "
                f"than {_OPEN_LIMIT:,} unclosed tags."
            )


def _parser(text: str, name: str) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    try:
        return LexborHTMLParser(text.encode("utf-8", "replace"), scripting=True)
    except (SelectolaxError, MemoryError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise SourceUnsupported(f"{name} cannot be parsed as HTML ({reason}).") from error


def _tree(top: LexborNode, name: str) -> _Element:
    from lxml import etree

    root = etree.Element(markup_name(top.tag or "html"), _attributes(top))
    above: list[tuple[_Element, LexborNode | None]] = [(root, None)]
    last: _Element | None = None
    words: list[str] = []
    count = 0

    def write() -> None:
        if words:
            said = _CONTROLS.sub("\ufffd", "".join(words).replace("\f", " "))
            words.clear()
            if last is None:
                above[-1][0].text = said
            else:
                last.tail = said

    node = top.child
    while node is not None:
        inner = None
        if node.is_text_node:
            words.append(node.text_content or "")
        elif node.is_element_node:
            count += 1
            if count > ELEMENTS_LIMIT or len(above) > DEPTH_LIMIT:
                raise SourceUnsupported(
                    f"{name} cannot be read to the end: it is nested deeper than {DEPTH_LIMIT:,} levels or has more "
                    f"than {ELEMENTS_LIMIT:,} elements."
                )
            write()
            last = etree.SubElement(above[-1][0], markup_name(node.tag or "unknown"), _attributes(node))
            inner = node.child
        if inner is not None and last is not None:
            above.append((last, node))
            last, node = None, inner
            continue
        after = node.next
        while after is None and len(above) > 1:
            write()
            last, closed = above.pop()
            after = closed.next if closed is not None else None
        node = after
    write()
    return root


def _attributes(node: LexborNode) -> dict[str, str]:
    given = node.attributes
    if not given:
        return {}
    found: dict[str, str] = {}
    for key, value in given.items():
        text = value or ""
        if not (text.isascii() and text.isprintable()):
            text = _CONTROLS.sub("\ufffd", _NONCHARACTERS.sub("", text).replace("\f", " "))
        if not _SIMPLE.fullmatch(key):
            key = _NONCHARACTERS.sub("", key)
            _, colon, local = key.rpartition(":")
            if colon and _SIMPLE.fullmatch(local):
                found.setdefault(f"{{prefixed}}{local}", text)
            key = _encoded(key)
        found.setdefault(key, text)
    return found
