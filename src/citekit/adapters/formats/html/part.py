"""Converts an HTML file, or lines of it, to a self-contained document in which nothing is executed or loaded.

The whole file is parsed, so that lines in the middle of a table or a script are interpreted as in a browser. The output
contains only known elements and attributes.
"""

from __future__ import annotations

import base64
import binascii
import re
from html import escape
from pathlib import Path

from attrs import define

from citekit.adapters.formats.epub.reader import PICTURES_LIMIT, media_type
from citekit.adapters.formats.html.lines import (
    is_too_large,
    line_marks,
    marked_lines,
    parsed_lines,
    text_with_marks,
    without_marks,
    without_noncharacters,
)
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.source_lines import read_lines
from citekit.adapters.formats.xhtml.chapter_html import Page, body_markup, document
from citekit.adapters.formats.xhtml.chapter_pages import bounded
from citekit.adapters.formats.xhtml.chapter_text import flow
from citekit.adapters.formats.xhtml.flow import Flow, Opening
from citekit.adapters.libraries.lxml import local_attributes, local_name
from citekit.domain.errors import FormUnsupported, LocationOutside, SourceUnsupported
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress, silent

_DATA = re.compile(r"\s*data:image/[a-z0-9.+-]{1,40}(?:;[^,;]{0,80})*;base64,", re.IGNORECASE)


def html_part(path: Path, lines: Lines, progress: Progress) -> tuple[str, bool]:
    """Return a safe HTML document with `lines` of the file at `path`, and whether it includes their elements.

    If the file cannot be parsed completely, the document contains only the text of the lines. Raise `LocationOutside`
    if a line does not exist, `FormUnsupported` if the document is too long, and the errors of `read_lines`.
    """
    content = read_lines(path, progress)
    if lines.last > len(content):
        raise LocationOutside.beyond("line", lines.last, "file", len(content))
    text = without_noncharacters("\n".join(content))
    progress(0, 1, "reading the document")
    parsed = _parsed(text, path.name)
    if parsed is None:
        whole = text_with_marks(text)
        start, end = _range(whole, lines)
        body, language = f"<pre>\n{escape(without_marks(whole[start:end]), quote=False)}</pre>", None
    else:
        chapter, language = parsed
        chars = _range(chapter.text, lines)
        page = _page(lines, language)
        pieces = body_markup(chapter, page, chars) if chars[0] < chars[1] else ()
        body = without_marks(bounded(pieces, f"{page.title} produce{'s' if lines.first == lines.last else ''}"))
    return document(_page(lines, language), body), parsed is not None


def html_page(path: Path, progress: Progress = silent) -> str:
    """Return the whole file at `path` as a safe HTML document with a line marker before each piece of text.

    Raise `FormUnsupported` if the file cannot be parsed completely or is too long, and the errors of `read_lines`.
    """
    text = without_noncharacters("\n".join(read_lines(path, progress)))
    parsed = _parsed(text, path.name)
    if parsed is None:
        raise FormUnsupported(
            f"{path.name} could not be parsed completely, so its lines are shown instead of the page."
        )
    chapter, language = parsed
    page = Page(title=path.name, language=language or "und", number=1, picture=_Pictures().uri, same=lambda _: False)
    return document(
        page, bounded(body_markup(chapter, page, None), f"{path.name} produces", "Its lines are shown instead.")
    )


def _parsed(text: str, name: str) -> tuple[Flow, str | None] | None:
    """Return the content of the HTML document `text` with line markers, and its language (None if it is unknown).

    Return None instead of the pair if the document cannot be parsed completely.
    """
    if is_too_large(text):
        return None
    marked = marked_lines(text)
    try:
        root = parsed_lines(marked, name)
    except SourceUnsupported:
        return None
    chapter = flow(root)
    if len(line_marks(chapter.text)) * 2 < len(line_marks(marked)):
        return None
    for step in chapter.steps:
        if isinstance(step, Opening) and step.said:
            step.said = {name: without_marks(value) for name, value in step.said.items()}
    language = local_attributes(root).get("lang") if local_name(root) == "html" else None
    return chapter, language_code(language)


def _range(marked: str, lines: Lines) -> tuple[int, int]:
    """Return the offsets of `lines` in the text `marked`, or (0, 0) if they have no visible text."""
    start, line = -1, 0
    for offset, number in line_marks(marked):
        line = max(line, number)
        if line > lines.last:
            return (start, offset) if start >= 0 else (0, 0)
        if start < 0 and line >= lines.first:
            start = offset
    return (start, len(marked)) if start >= 0 else (0, 0)


def _page(lines: Lines, language: str | None) -> Page:
    title = f"Lines {lines.first}-{lines.last}" if lines.first < lines.last else f"Line {lines.first}"
    return Page(title=title, language=language, number=1, picture=_Pictures().uri, same=lambda _: False)


@define
class _Pictures:
    """Embeds images in the document. `left` is the remaining number of characters of `data:` URIs."""

    left: int = PICTURES_LIMIT

    def uri(self, href: str) -> str | None:
        """Return the image in the `data:` URI `href` with the detected media type.

        Return None if `href` is something else, or if the image is not supported or too large.
        """
        found = _DATA.match(href)
        if found is None or len(href) > self.left:
            return None
        try:
            data = base64.b64decode(href[found.end() :])
        except (binascii.Error, ValueError):
            return None
        kind = media_type(data, "")
        if kind is None:
            return None
        self.left -= len(href)
        return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
