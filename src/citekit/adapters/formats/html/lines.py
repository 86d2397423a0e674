"""Reads the visible text of HTML, and determines the source line of each piece of text.

The parser that builds the tree counts at most 65,535 lines. A marker with the line number, in Unicode noncharacters, is
therefore inserted before each piece of text, and removed from the parsed text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from operator import itemgetter
from typing import TYPE_CHECKING
from unicodedata import normalize

from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.source_lines import head_lines, read_lines
from citekit.adapters.formats.xhtml.chapter_text import flow
from citekit.adapters.formats.xhtml.style_sheets import StyleSheets, declares_more, instructions, references
from citekit.adapters.formats.xhtml.visible_text import unseen
from citekit.adapters.libraries.lxml import (
    TAGS_LIMIT,
    inner_text,
    local_attributes,
    local_name,
    parse_html,
    parse_page_text,
)
from citekit.adapters.libraries.selectolax import SPACE, markup_end
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element

SIZE_LIMIT = 32 * 1024 * 1024
"""The maximum number of characters of a document that is parsed. The text of a longer one is read without a parser."""

LINES_OF_A_HEADING = 12
"""The maximum number of source lines of a heading whose letters are compared with those that readers see."""

_FIRST = "\ufdd0"
_DIGITS = {ord("0") + digit: 0xFDE0 + digit for digit in range(10)}
_NUMBERS = {mark: digit for digit, mark in _DIGITS.items()}
_MARK = re.compile("\ufdd0[\ufde0-\ufde9]+")
_FORBIDDEN = re.compile("[\ufdd0-\ufdef]")
_MARKUP = re.compile("<[A-Za-z/!?]")
_SHOWN_RAW = frozenset(("textarea", "xmp", "plaintext"))
_RAW = re.compile(
    rf"(?:script|style|template|title|noscript|noembed|noframes|iframe|{'|'.join(sorted(_SHOWN_RAW))})(?=[{SPACE}/>])",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"[^\s][^\n]*")
_OTHERS = re.compile(r"[\W_]+")
_HEAD = 400


class HtmlLinesTextReader:
    """Reads the text of HTML and XHTML files. Nothing outside the file is loaded.

    If `as_seen` is set, superscripts, subscripts, and hidden text are marked.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._as_seen = as_seen

    def supports(self, format: Format) -> bool:
        """See `TextReader.supports`. The only format is HTML, which includes XHTML."""
        return format.name == "html"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the text of the document. Each unit of the text is on one source line. See `TextReader.read`."""
        content = without_noncharacters("\n".join(read_lines(source.path, progress)))
        progress(0, 1, "reading the document")
        return _extracted_text(_text(content, source.path.name, as_seen=self._as_seen))

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`. Only the first `_HEAD` lines of the document are read."""
        lines = head_lines(source.path, _HEAD)
        root = parse_html("\n".join(lines), source.path.name)
        titles = [inner_text(each) for each in root.iter() if local_name(each) == "title"]
        metas = [local_attributes(each) for each in root.iter() if local_name(each) == "meta"]
        authors = [
            " ".join(each.get("content", "").split()) for each in metas if each.get("name", "").lower() == "author"
        ]
        language = local_attributes(root).get("lang") if local_name(root) == "html" else None
        return BookFacts(
            title=next(filter(None, titles), None),
            authors=[author for author in authors if author],
            language=language_code(language),
        )


def without_noncharacters(content: str) -> str:
    """Replace each noncharacter in `content` that is reserved for line markers with U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", content)


def marked_lines(content: str) -> str:
    """Return the HTML document `content` with a line marker before each piece of text."""
    return "".join(_marked(content))


def text_with_marks(content: str) -> str:
    """Return the text of an HTML document with line markers, without using a parser."""
    return _untagged(content)


def line_marks(marked: str) -> list[tuple[int, int]]:
    """Return the character offset and the line number of each line marker in `marked`."""
    return [(mark.start(), _line(mark[0])) for mark in _MARK.finditer(marked)]


def without_marks(marked: str) -> str:
    """Return the text `marked` without its line markers."""
    return _MARK.sub("", marked) if _FIRST in marked else marked


def _text(content: str, name: str, *, as_seen: bool) -> str:
    """Return the visible text of the HTML document `content`, with line markers.

    If it cannot be parsed, or if its tree lacks more than half of the pieces of text, return all text.
    """
    if is_too_large(content):
        return _all_text(content, as_seen=as_seen)
    marked = "".join(_marked(content))
    try:
        root = parsed_lines(marked, name, content if as_seen else None)
    except SourceUnsupported:
        return _all_text(content, as_seen=as_seen)
    sheets = StyleSheets()
    if as_seen:
        sheets.is_undecided = is_xml_file(name) and declares_more(content)
        sheets.add_all(
            (
                *instructions(content),
                *references(root, may_be_xml=is_xml_file(name) or content.lstrip().startswith("<?xml")),
            )
        )
    shown = flow(root, as_seen=as_seen, sheets=sheets).text
    return _all_text(content, as_seen=as_seen) if shown.count(_FIRST) * 2 < marked.count(_FIRST) else shown


def is_too_large(content: str) -> bool:
    """Return whether an HTML document has too many characters or tags to be parsed."""
    return len(content) > SIZE_LIMIT or content.count("<") > TAGS_LIMIT


def parsed_lines(marked: str, name: str, plain: str | None = None) -> _Element:
    """Return the root of the document `marked`, which contains line markers, parsed as XML or HTML.

    The file name decides which, as in browsers, but XML that is not well-formed is parsed as HTML. Raise
    `SourceUnsupported` if the document is too large or nested too deeply, or if HTML is parsed differently from
    `plain`, the document without markers.
    """
    return parse_page_text(marked, name) if is_xml_file(name) else parse_html(marked, name, plain=plain)


def is_xml_file(name: str) -> bool:
    """Return whether browsers read the file `name` as XML."""
    return name.lower().endswith((".xhtml", ".xht"))


def _all_text(content: str, *, as_seen: bool) -> str:
    """Return the text of a document that cannot be parsed.

    With `as_seen`, it is marked as hidden, because its styles are not known.
    """
    text = _untagged(content)
    return unseen(text) if as_seen else text


def _untagged(content: str) -> str:
    return unescape("".join(_marked(content, tags=False)))


def seen_letters(content: str, name: str) -> Mapping[int, str] | None:
    """Return the letters and digits that readers see on each line of the document, as `letters` returns them.

    The keys are line numbers from 1. Return None if the document is too large to determine this.
    """
    if is_too_large(content):
        return None
    seen: defaultdict[int, str] = defaultdict(str)
    read = _extracted_text(_text(without_noncharacters(content), name, as_seen=True))
    for unit in read.units:
        seen[unit.number] += letters(visible_text(read.text[unit.start : unit.end]))
    return seen


def letters(text: str) -> str:
    """Return the letters and digits of `text`, normalized (NFKC) and case-folded."""
    return _OTHERS.sub("", normalize("NFKC", text).casefold())


def letters_from(seen: Mapping[int, str], line: int) -> str:
    """Return what readers see on a line and on the next ones. `seen` has the letters of each line."""
    return "".join(seen.get(each, "") for each in range(line, line + LINES_OF_A_HEADING))


def shown_lines(content: str) -> list[str]:
    """Return the text on each line of an HTML fragment, without tags, comments, scripts, and styles."""
    shown = [""] * (content.count("\n") + 1)
    read = _extracted_text(_untagged(without_noncharacters(content)))
    for unit in read.units:
        shown[unit.number - 1] += read.text[unit.start : unit.end]
    return shown


def _marked(content: str, *, tags: bool = True) -> Iterator[str]:
    """Yield the document in pieces, with a line marker before each piece of text. Without `tags`, each tag becomes a
    line feed.
    """
    line, position, size = 1, 0, len(content)
    while position < size:
        found = _MARKUP.search(content, position)
        opening = found.start() if found else size
        if opening > position:
            yield _with_marks(content[position:opening], line)
        end, after = _tag_end(content, opening) if found else (size, size)
        yield content[opening:end] if tags else "\n"
        if after > end:
            yield _with_marks(content[end:after], line + content.count("\n", opening, end))
        line += content.count("\n", position, after)
        position = after


def _tag_end(content: str, opening: int) -> tuple[int, int]:
    """Return the offset after the tag at `opening`, and the offset after the raw text that follows it, if any.

    For an element that is not displayed (such as a script), both are the offset after the element.
    """
    end = markup_end(content, opening)
    raw = _RAW.match(content, opening + 1)
    if raw is None or content[end - 2 : end] == "/>":
        return end, end
    closing = _closing(raw[0].lower()).search(content, end)
    if raw[0].lower() in _SHOWN_RAW:
        return end, closing.start() if closing else len(content)
    after = markup_end(content, closing.start()) if closing else len(content)
    return after, after


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[{SPACE}/>])", re.IGNORECASE)


def _with_marks(text: str, line: int) -> str:
    pieces, before = [], 0
    for shown in _SHOWN.finditer(text):
        line += text.count("\n", before, shown.start())
        pieces += [text[before : shown.start()], _mark(line)]
        before = shown.start()
    return "".join(pieces) + text[before:]


def _mark(line: int) -> str:
    return _FIRST + str(line).translate(_DIGITS)


def _extracted_text(marked: str) -> ExtractedText:
    """Return the text `marked` without its line markers, in the order of the lines.

    HTML parsers move content that does not belong in a table to a position before the table.
    """
    units, pieces = Units(), []
    length = 0
    for line, piece in sorted(_pieces(marked), key=itemgetter(0)):
        kept = piece.strip()
        if kept:
            start = length + piece.index(kept[0])
            _add(units, line, start, start + len(kept))
        pieces.append(piece)
        length += len(piece)
    return ExtractedText(UnitKind.LINE, "".join(pieces) if len(units) else "", units)


def _pieces(marked: str) -> Iterator[tuple[int, str]]:
    line, position = 1, 0
    for mark in _MARK.finditer(marked):
        yield line, marked[position : mark.start()]
        line, position = _line(mark[0]), mark.end()
    yield line, marked[position:]


def _add(units: Units, line: int, start: int, end: int) -> None:
    """Add a piece of text on a line as a unit, or to the last unit if that is on the same line."""
    if len(units) and units.numbers[-1] == line:
        units.ends[-1] = end
    else:
        units.add(line, start, end)


def _line(mark: str) -> int:
    return int(mark[1:].translate(_NUMBERS))
