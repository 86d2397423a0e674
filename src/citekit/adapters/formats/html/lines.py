"""Reads the visible text of HTML, and determines the source line of each piece of text.

Parsers can count at most 65,535 lines. A marker with the line number is therefore inserted before each piece of text,
and removed from the parsed text. Markers consist of Unicode noncharacters, which do not occur in text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from citekit.adapters.formats.html.tags import tag_end
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.source_lines import head_lines, read_lines
from citekit.adapters.formats.xhtml.chapter_text import flow
from citekit.adapters.formats.xhtml.style_sheets import StyleSheets, instructions, references
from citekit.adapters.formats.xhtml.visible_text import unseen
from citekit.adapters.libraries.lxml import TAGS_LIMIT, cleaned, inner_text, local_attributes, local_name, parse_html
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

SIZE_LIMIT = 32 * 1024 * 1024
"""Characters of the longest document that is parsed. From a longer one, only the tags are removed."""

_FIRST = "\ufdd0"
_DIGITS = {ord("0") + digit: 0xFDE0 + digit for digit in range(10)}
_NUMBERS = {mark: digit for digit, mark in _DIGITS.items()}
_MARK = re.compile("\ufdd0[\ufde0-\ufde9]+")
_FORBIDDEN = re.compile("[\ufdd0-\ufdef]")
_RAW = re.compile(r"(?:script|style|template|title)(?=[\s/>])", re.IGNORECASE)
_SHOWN = re.compile(r"[^\s][^\n]*")
_HEAD = 400


class HtmlLinesTextReader:
    """Reads HTML with lxml.

    Entities, document types, and network access are disabled, and scripts and styles are skipped. If `as_seen` is set,
    superscripts, subscripts, and hidden text are marked.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._as_seen = as_seen

    def supports(self, format: Format) -> bool:
        """Return whether the format is HTML, which includes XHTML."""
        return format.name == "html"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the text of the document. Each unit of the text is on one source line. See `TextReader.read`."""
        content = _FORBIDDEN.sub("", "\n".join(read_lines(source.path, progress)))
        progress(0, 1, "reading the document")
        return _extracted_text(_text(content, source.path.name, as_seen=self._as_seen))

    def facts(self, source: Source) -> BookFacts:
        """Return the title and the authors given in the head of the document, and its language."""
        lines = head_lines(source.path, _HEAD)
        root = parse_html(cleaned("\n".join(lines)), source.path.name)
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
    """Remove the Unicode noncharacters that line markers consist of from `content`."""
    return _FORBIDDEN.sub("", content)


def marked_lines(content: str) -> str:
    """Return the HTML document `content` with a line marker before each piece of text."""
    return "".join(_marked(content))


def text_with_marks(content: str) -> str:
    """Return the text of an HTML document with line markers. Tags are removed without using a parser."""
    return _untagged(content)


def line_marks(marked: str) -> list[tuple[int, int]]:
    """Return the character offset of each line marker in `marked`, and the line number that it contains."""
    return [(mark.start(), _line(mark[0])) for mark in _MARK.finditer(marked)]


def without_marks(marked: str) -> str:
    """Return the text `marked` without its line markers."""
    return _MARK.sub("", marked) if _FIRST in marked else marked


def _text(content: str, name: str, *, as_seen: bool) -> str:
    """Return the visible text of the HTML document `content`, with line markers.

    If the document cannot be parsed, its tags are removed without a parser, and all text counts as hidden.
    `name` is the file name for error messages.
    """
    if len(content) > SIZE_LIMIT or content.count("<") > TAGS_LIMIT:
        return _all_text(content, as_seen=as_seen)
    is_xml = content.lstrip()[:5] == "<?xml"
    marked = "".join(_marked(content))
    try:
        root = parse_html(cleaned(marked), name, self_closing=is_xml)
    except SourceUnsupported:
        return _all_text(content, as_seen=as_seen)
    sheets = StyleSheets()
    if as_seen:
        may_be_xml = is_xml or name.lower().endswith((".xhtml", ".xht"))
        sheets.add_all((*instructions(content), *references(root, may_be_xml=may_be_xml)))
    shown = flow(root, as_seen=as_seen, sheets=sheets).text
    return _all_text(content, as_seen=as_seen) if shown.count(_FIRST) * 2 < marked.count(_FIRST) else shown


def _all_text(content: str, *, as_seen: bool) -> str:
    """Return the text of a document that cannot be parsed. Its styles are not known, so no text counts as visible."""
    text = _untagged(content)
    return unseen(text) if as_seen else text


def _untagged(content: str) -> str:
    """Return the text of an HTML document with line markers, without using a parser.

    This is needed for documents that are too large or too deeply nested to parse.
    """
    return unescape("".join(_marked(content, tags=False)))


def shown_lines(content: str) -> list[str]:
    """Return the text on each line of an HTML fragment, without tags, comments, scripts, and styles."""
    shown = [""] * (content.count("\n") + 1)
    read = _extracted_text(_untagged(_FORBIDDEN.sub("", content)))
    for unit in read.units:
        shown[unit.number - 1] += read.text[unit.start : unit.end]
    return shown


def _marked(content: str, *, tags: bool = True) -> Iterator[str]:
    """Yield the document in pieces, with a line marker before each piece of text.

    If `tags` is False, each tag is replaced by a line feed.
    """
    line, position, size = 1, 0, len(content)
    while position < size:
        opening = _next_tag(content, position)
        if opening > position:
            yield _with_marks(content[position:opening], line)
        end = _tag_end(content, opening) if opening < size else size
        yield content[opening:end] if tags else "\n"
        line += content.count("\n", position, end)
        position = end


def _next_tag(content: str, position: int) -> int:
    """Return the offset of the next tag, comment, or declaration, or the length of `content` if there is none.

    A `<` counts only before an ASCII letter, `/`, `!`, or `?`. Otherwise, it is text.
    """
    while True:
        position = content.find("<", position)
        if position < 0:
            return len(content)
        after = content[position + 1 : position + 2]
        if after.isascii() and (after.isalpha() or after in ("/", "!", "?")) and after:
            return position
        position += 1


def _tag_end(content: str, opening: int) -> int:
    """Return the offset after the tag at `opening`.

    For a comment, or an element whose content is not HTML (such as a script), return the offset after the whole
    element.
    """
    if content.startswith("<!--", opening):
        return _after(content, "-->", opening + 4)
    raw = _RAW.match(content, opening + 1)
    end = tag_end(content, opening, opening + 1)
    if raw is None or content[end - 2 : end] == "/>":
        return end
    closing = re.compile(rf"</{raw[0]}(?=[\s/>])", re.IGNORECASE).search(content, end)
    return _after(content, ">", closing.start()) if closing else len(content)


def _after(content: str, mark: str, start: int) -> int:
    found = content.find(mark, start)
    return found + len(mark) if found >= 0 else len(content)


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
    units, pieces = Units(), []
    line, position, length = 1, 0, 0
    for mark in [*_MARK.finditer(marked), None]:
        piece = marked[position : mark.start() if mark else len(marked)]
        kept = piece.strip()
        if kept:
            start = length + piece.index(kept[0])
            _add(units, line, start, start + len(kept))
        pieces.append(piece)
        length += len(piece)
        if mark:
            line, position = max(line, _line(mark[0])), mark.end()
    return ExtractedText(UnitKind.LINE, "".join(pieces) if len(units) else "", units)


def _add(units: Units, line: int, start: int, end: int) -> None:
    """Add a piece of text on a line as a unit. A piece on the same line as the last unit extends that unit."""
    if len(units) and units.numbers[-1] == line:
        units.ends[-1] = end
    else:
        units.add(line, start, end)


def _line(mark: str) -> int:
    return int(mark[1:].translate(_NUMBERS))
