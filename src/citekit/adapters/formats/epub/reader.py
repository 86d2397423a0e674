"""Reads EPUB 2 and 3 with zipfile and lxml.

The file lists and package documents of recently used books are cached.
"""

from __future__ import annotations

import base64
import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from attrs import define, field

from citekit.adapters.formats.epub.archive import Directory, EpubArchive, opened_file
from citekit.adapters.formats.epub.chapter_marks import landmarks, marked_pages, marks, page_breaks
from citekit.adapters.formats.epub.package import Item, Package, package_facts, read_package
from citekit.adapters.formats.epub.toc import PAGES_LIMIT, read_contents, read_landmarks, read_page_list
from citekit.adapters.formats.epub.toc_positions import headings
from citekit.adapters.formats.xhtml.chapter_html import Page
from citekit.adapters.formats.xhtml.chapter_pages import ChapterPages, check_steps
from citekit.adapters.formats.xhtml.chapter_text import flow
from citekit.adapters.formats.xhtml.css_truth import every
from citekit.adapters.formats.xhtml.flow import Flow
from citekit.adapters.formats.xhtml.style_sheets import (
    SIZE_LIMIT,
    Reference,
    StyleSheets,
    base_of,
    declares_more,
    instructions,
    references,
    sheet_text,
)
from citekit.adapters.libraries.lxml import decoded_markup, parse_html, parse_page
from citekit.adapters.system.file_state import COARSE, FileState
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.reader import Book, BookChapter, PageBreak
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from lxml.etree import _Element


BOOKS = 4
"""Maximum number of books in the cache. The least recently used book is evicted first."""

ITEMS_LIMIT = 5000
"""Maximum number of items of a cached book. The directory takes about a kilobyte per item."""

RACY = COARSE
"""Seconds within which a file can change without a new modification time (FAT has a two-second resolution)."""


@define
class EpubBooks:
    """A thread-safe cache of the file lists and package documents of books, by file state."""

    _known: OrderedDict[FileState, tuple[Directory, Package]] = field(factory=OrderedDict)
    _lock: Lock = field(factory=Lock)

    @contextmanager
    def opened(self, path: Path) -> Iterator[tuple[EpubArchive, Package]]:
        """Open the book at `path`, and close it at the end of the context.

        Raise `SourceUnsupported` if the file is not an EPUB, is encrypted, is too large, or has no chapters, and
        `SourceUnreadable` if it cannot be read.
        """
        with opened_file(path) as stream:
            state = FileState.of(os.fstat(stream.fileno()))
            directory, package = self._recall(state)
            archive = EpubArchive(path, stream, directory)
            if package is None:
                package = read_package(archive, path.name)
                self._remember(state, archive.directory, package)
            yield archive, package

    def _recall(self, state: FileState) -> tuple[Directory, Package] | tuple[None, None]:
        with self._lock:
            if state in self._known:
                self._known.move_to_end(state)
            return self._known.get(state, (None, None))

    def _remember(self, state: FileState, directory: Directory, package: Package) -> None:
        """Cache the file list and package document of a book, unless it has too many items or changed too recently."""
        now = time.time()
        if len(directory.names) <= ITEMS_LIMIT and state.is_settled(now, RACY, now):
            with self._lock:
                self._known[state] = directory, package
                while len(self._known) > BOOKS:
                    self._known.popitem(last=False)


PICTURE_LIMIT = 8 * 1024 * 1024
"""The maximum size in bytes of an image that is embedded in a document. Of larger images, only the alternative text is
included.
"""

PICTURES_LIMIT = 32 * 1024 * 1024
"""Maximum number of bytes of all images in a document, including repetitions.

Of images beyond this limit, only the alternative text is included.
"""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


class EpubReader:
    """Reads EPUB books chapter by chapter. Each spine item is a chapter, counted from 1.

    No files stay open between calls. If `as_seen` is set, superscripts, subscripts, and hidden text are marked.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._books = EpubBooks()
        self._as_seen = as_seen

    def facts(self, path: Path) -> BookFacts:
        """Return the metadata in the package document. Raise the errors of `EpubBooks.opened`."""
        with self._books.opened(path) as (_, package):
            return package_facts(package)

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""
        with self._books.opened(path) as (archive, package):
            styles = _BookStyles(archive) if self._as_seen else None
            chapters, anchors, steps, pages = [], [], 0, list[PageBreak]()
            for number, item in enumerate(package.spine, 1):
                text = _flow(archive, item, styles)
                name = item.path or item.href
                chapters.append(BookChapter(number=number, name=name, text=text.text, marks=marks(text)))
                anchors.append(text.anchors)
                pages.extend(islice(marked_pages(text, number), PAGES_LIMIT - len(pages)))
                steps += len(text.steps)
                check_steps(steps, path.name)
            entries, named = read_contents(archive, package), read_landmarks(archive, package)
            printed = read_page_list(archive, package)
        return Book(
            title=package.title,
            authors=package.authors,
            language=package.language,
            identifier=package.identifier,
            chapters=chapters,
            contents=headings(entries, chapters, anchors),
            landmarks=tuple(landmarks(named, chapters, anchors)),
            page_breaks=page_breaks(printed, chapters, anchors) or pages,
            remarks=package.remarks,
        )

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> list[str]:
        """See `Reader.texts`."""
        with self._books.opened(path) as (archive, package):
            count = len(package.spine)
            for number in (chapter, last or chapter):
                if not 1 <= number <= count:
                    raise LocationOutside.beyond("chapter", number, "book", count)
            styles = _BookStyles(archive) if self._as_seen else None
            texts, steps = [], 0
            for item in package.spine[chapter - 1 : last or chapter]:
                content = _flow(archive, item, styles)
                texts.append(content.text)
                steps += len(content.steps)
                check_steps(steps, path.name)
            return texts

    def html(
        self,
        path: Path,
        chapter: int,
        chars: tuple[int, int] | None = None,
        *,
        last: int | None = None,
        progress: Progress = silent,
    ) -> str:
        """See `Reader.html`."""
        with self._books.opened(path) as (archive, package):
            return _pages(archive, package).document(chapter, chars, last, progress)


def _pages(archive: EpubArchive, package: Package) -> ChapterPages:
    """Return an object that writes chapters of the open book as HTML, with up to `PICTURES_LIMIT` bytes of images."""
    pictures = _Pictures(archive, package)

    def page(number: int) -> Page:
        """Return the HTML metadata of chapter `number`, which does not depend on the file name of the book."""
        own = package.spine[number - 1].path
        return Page(
            title=f"{package.title}, chapter {number}" if package.title else f"Chapter {number}",
            language=package.language,
            number=number,
            picture=lambda href: pictures.uri(href, own or ""),
            same=lambda href: own is not None and archive.find(href, own) == own,
        )

    return ChapterPages(len(package.spine), lambda number: _flow(archive, package.spine[number - 1]), page)


def _flow(archive: EpubArchive, item: Item, styles: _BookStyles | None = None) -> Flow:
    """Return the content of a spine item.

    A missing item is empty. An image (except SVG), PDF, audio, or video file becomes an image element.
    """
    if item.path is None:
        return flow(parse_html("", item.href))
    if item.media_type.startswith(("image/", "application/pdf", "audio/", "video/")) and "svg" not in item.media_type:
        name = item.path.rpartition("/")[2].replace('"', "%22").replace("&", "&amp;")
        return flow(parse_html(f'<img src="{name}">', item.path))
    data = archive.read(item.path)
    root = parse_page(data, item.path)
    return flow(root) if styles is None else flow(root, as_seen=True, sheets=styles.of(data, root, item.path))


@define
class _BookStyles:
    """Reads the style sheets of the chapters of a book, which can share them."""

    archive: EpubArchive
    known: dict[tuple[str, str, bool, tuple[Reference, ...]], StyleSheets] = field(factory=dict)

    def of(self, data: bytes, root: _Element, path: str) -> StyleSheets:
        """Return the style sheets of the document `data` at `path`, including imported ones. Missing and damaged ones
        are omitted.
        """
        markup = decoded_markup(data)
        found = (*instructions(markup), *references(root))
        given = base_of(root)
        key = path.rpartition("/")[0], given, declares_more(markup), found
        sheets = self.known.get(key)
        if sheets is None:
            sheets = self.known[key] = StyleSheets(self._fetch)
            sheets.is_undecided = key[2]
            base = _path(given, path) if given else path
            if base != path:
                # Elements before `base` refer to style sheets next to the document.
                sheets.add_all((each._replace(holds=every((each.holds, None))) for each in found), path)
            if base is not None:
                sheets.add_all(found, base)
        return sheets

    def _fetch(self, href: str, base: str) -> tuple[str, str] | None:
        path = _path(href, base)
        name = self.archive.find(path) if path is not None else None
        if name is None:
            return None
        if self.archive.size(name) > 2 * SIZE_LIMIT:
            return " " * (SIZE_LIMIT + 1), name
        with suppress(SourceUnsupported):
            return sheet_text(self.archive.read(name)), name
        return None


_ROOT = "http://book.invalid/"


def _path(href: str, base: str) -> str | None:
    """Return the path in the book that `href` refers to, relative to `base` (EPUB 3.3, 4.2.5), or None if it leads out
    of the book.
    """
    with suppress(ValueError):
        found = urlsplit(urljoin(_ROOT + quote(base), href.strip().replace("\\", "/")))
        if f"{found.scheme}://{found.netloc}/" == _ROOT:
            return found.path.lstrip("/")
    return None


@define
class _Pictures:
    archive: EpubArchive
    package: Package
    left: int = field(factory=lambda: PICTURES_LIMIT)
    made: dict[str, str | None] = field(factory=dict)

    def uri(self, href: str, base: str) -> str | None:
        """Return the image that `href` refers to, relative to the item `base`, as a data URI (RFC 2397).

        Return None if the item is missing, cannot be read, is not an image, or is larger than `PICTURE_LIMIT` or than
        the space left for images in the HTML document.
        """
        name = self.archive.find(href, base)
        if name is None or self.archive.size(name) > min(PICTURE_LIMIT, self.left):
            return None
        if name not in self.made:
            self.made[name] = next(self._read(name), None)
        uri = self.made[name]
        self.left -= self.archive.size(name) if uri else 0
        return uri

    def _read(self, name: str) -> Iterator[str]:
        try:
            data = self.archive.read(name)
        except SourceUnsupported:
            return
        kind = media_type(data, self.package.media_types.get(name, ""))
        if kind:
            yield f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def media_type(data: bytes, declared: str) -> str | None:
    """Return the media type of an image from its first bytes, or else `declared`, or None if neither is supported."""
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[8:12] == b"WEBP":
        return "image/webp"
    if declared == "image/svg+xml" or b"<svg" in data[:1024]:
        return "image/svg+xml"
    return declared if declared in ("image/avif", "image/jxl") else None
