"""Reads FictionBook 2 with lxml. Each top-level section of a body is a chapter, and nested sections are its headings.

MuPDF is not used, because it reads such a file as a single chapter without a table of contents.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.formats.epub.markup_books import MarkupBook, MarkupReader, Part
from citekit.adapters.formats.epub.toc import LEVEL_LIMIT, Entry
from citekit.adapters.formats.shared.book_metadata import identified, language_code
from citekit.adapters.formats.shared.whole_file import read_whole
from citekit.adapters.libraries.lxml import inner_text, local_attributes, local_name, names, parse_xml
from citekit.domain.errors import SourceUnsupported
from citekit.domain.library.books import BookFacts

if TYPE_CHECKING:
    from lxml.etree import _Element

SIZE_LIMIT = 64 * 1024 * 1024
"""The maximum size in bytes of a file that is read, including images."""

_HTML = {
    "annotation": "blockquote",
    "cite": "blockquote",
    "code": "code",
    "date": "p",
    "emphasis": "em",
    "empty-line": "hr",
    "epigraph": "blockquote",
    "image": "img",
    "poem": "blockquote",
    "section": "section",
    "stanza": "div",
    "strikethrough": "s",
    "text-author": "p",
    "v": "p",
}
"""The HTML elements for FictionBook elements. Titles become headings, and unknown elements `span`."""

_SAME = names("a p strong sub sup table tr td th")


def fb2_reader(*, as_seen: bool = False) -> MarkupReader:
    """Return a reader of FictionBook files. For `as_seen`, see `MarkupReader`."""
    return MarkupReader(load, read_facts, as_seen)


def read_facts(path: Path) -> BookFacts:
    """Return the metadata in the description of the book at `path`.

    Raise the errors of `load`, except for a book without chapters.
    """
    return _facts(_parsed(path))


def load(path: Path) -> MarkupBook:
    """Return the book at `path`.

    Raise `SourceUnsupported` if it is not a FictionBook file, is larger than `SIZE_LIMIT`, or has no chapters, and
    `SourceUnreadable` if it cannot be read.
    """
    root = _parsed(path)
    parts, contents = _chapters(root)
    if not parts:
        raise SourceUnsupported(f"{path.name} is a FictionBook file that contains no text.")
    pictures = {local_attributes(each).get("id", ""): each for each in root.iter() if local_name(each) == "binary"}

    def picture(href: str) -> tuple[bytes, str] | None:
        found = pictures.get(href.removeprefix("#"))
        if found is None:
            return None
        try:
            data = base64.b64decode(found.text or "")
        except (binascii.Error, ValueError):
            return None
        return data, local_attributes(found).get("content-type", "")

    notes = [("footnotes", part.name, "") for part in parts if part.name.startswith("notes-")][:1]
    return MarkupBook(facts=_facts(root), parts=parts, contents=contents, landmarks=notes, picture=picture)


def _parsed(path: Path) -> _Element:
    data = read_whole(path, SIZE_LIMIT)
    root = parse_xml(data, path.name)
    if local_name(root) != "fictionbook":
        raise SourceUnsupported(f"{path.name} is not a FictionBook file: its root element is {local_name(root)!r}.")
    return root


def _facts(root: _Element) -> BookFacts:
    described = list(_below(root, "description"))
    infos = [info for each in described for info in _below(each, "title-info")]
    titles = [inner_text(each) for info in infos for each in _below(info, "book-title")]
    languages = [inner_text(each) for info in infos for each in _below(info, "lang")]
    authors = [_name(each) for info in infos for each in _below(info, "author")]
    return BookFacts(
        title=next(filter(None, titles), None),
        authors=[name for name in authors if name],
        language=language_code(next(iter(languages), None)),
        identifiers=dict(_identifiers(described)),
    )


def _identifiers(described: Iterable[_Element]) -> Iterator[tuple[str, str]]:
    for each in described:
        for published in _below(each, "publish-info"):
            for isbn in _below(published, "isbn"):
                yield identified(inner_text(isbn), "isbn")
        for info in _below(each, "document-info"):
            for own in _below(info, "id"):
                yield identified(inner_text(own))


def _name(author: _Element) -> str:
    wanted = ("first-name", "middle-name", "last-name")
    words = [inner_text(each) for name in wanted for each in _below(author, name)]
    return " ".join(filter(None, words)) or next((inner_text(each) for each in _below(author, "nickname")), "")


def _below(element: _Element, name: str) -> Iterator[_Element]:
    return (child for child in element if local_name(child) == name)


def _chapters(root: _Element) -> tuple[list[Part], list[Entry]]:
    """Return the chapters of all bodies, and the table of contents, in which a named body such as `notes` is an entry."""
    parts: list[Part] = []
    contents: list[Entry] = []
    marks = count(1)
    for body in list(_below(root, "body")):
        own = local_attributes(body).get("name")
        name, first = own or "body", len(parts)
        titled = next(_below(body, "title"), None)
        for piece in _pieces(body):
            path = f"{name}-{len(parts) + 1}"
            if own and titled is None and len(parts) == first:
                contents.append(Entry(1, own.capitalize(), path, ""))
            below = bool(own) and (titled is None or len(parts) > first)
            contents += [Entry(level + below, title, path, mark) for level, title, mark in _entries(piece, marks)]
            _as_html(piece)
            parts.append(Part(path, lambda piece=piece: piece))  # type: ignore[misc]
    return parts, contents


def _pieces(body: _Element) -> Iterator[_Element]:
    """Yield the sections of a body, and the content around them, as chapters."""
    loose: list[_Element] = []
    for child in [*body]:
        if local_name(child) == "section":
            yield from _gathered(loose)
            loose = []
            yield child
        elif local_name(child):
            loose.append(child)
    yield from _gathered(loose)


def _gathered(loose: list[_Element]) -> Iterator[_Element]:
    if loose:
        from lxml import etree

        group = etree.Element("group")
        group.extend(loose)
        yield group


def _entries(piece: _Element, marks: Iterator[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the level, the title, and the ID of each section with a title. `marks` numbers the IDs that are added."""
    from lxml import etree

    level = 0
    for event, each in etree.iterwalk(piece, events=("start", "end")):
        name = local_name(each)
        if name not in ("section", "group"):
            continue
        level += 1 if event == "start" else -1
        title = next(_below(each, "title"), None)
        if event == "start" and title is not None and inner_text(title):
            mark = local_attributes(each).get("id") or f"citekit-{next(marks)}"
            each.set("id", mark)
            yield min(level, LEVEL_LIMIT), _title(title), mark


def _title(title: _Element) -> str:
    lines = [inner_text(each) for each in title if local_name(each) == "p"]
    return " ".join(filter(None, lines)) or inner_text(title)


def _as_html(piece: _Element) -> None:
    """Rename the elements of a chapter to HTML elements, in place."""
    for each in list(piece.iter()):
        name = local_name(each)
        if name == "title":
            each.tag = "h2"
            for line in _below(each, "p"):
                line.tag = "div"
        elif name in ("subtitle", "group"):
            each.tag = "h3" if name == "subtitle" else "div"
        elif name and not (name == "div" and local_name(each.getparent()) == "h2"):  # type: ignore[arg-type]
            each.tag = name if name in _SAME else _HTML.get(name, "span")
