"""Reads the table of contents, the page list, and the landmarks of a book.

The table of contents and the page list are in the EPUB 3 navigation document, or else in the EPUB 2 NCX file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attrs import field, frozen

from citekit.adapters.formats.epub.archive import EpubArchive
from citekit.adapters.formats.epub.package import Package
from citekit.adapters.libraries.lxml import inner_text, local_attributes, local_name, parse_page, parse_xml
from citekit.domain.errors import SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import _Element

ENTRY_LIMIT = 20_000
"""Maximum number of TOC entries."""


LANDMARK_LIMIT = 1000
"""Maximum number of landmarks in a book."""

PAGES_LIMIT = 20_000
"""The maximum number of entries of the page list that are read."""

LABEL_LIMIT = 40
"""Maximum number of characters of a page label."""

LABEL_DEPTH = 3
"""Maximum depth of labels within labels in damaged books. The text of an inner label is read again for each outer one.
"""

LEVEL_LIMIT = 12
"""Maximum depth of a table of contents. Deeper entries become siblings on the last level."""


@frozen
class Entry:
    """A table of contents entry.

    `path` is the path that it links to, which may not exist, or None if it has no link. `fragment` is the ID of an
    element in the item at this path, or "". `level` is counted from 1.
    """

    level: int
    title: str
    path: str | None
    fragment: str


def read_contents(archive: EpubArchive, package: Package) -> list[Entry]:
    """Return the table of contents entries in order, or an empty list if no table of contents is usable."""
    for item, read in ((package.nav, _nav), (package.ncx, _ncx)):
        if item is None or item.path is None:
            continue
        try:
            found = list(islice(read(archive, item.path), ENTRY_LIMIT))
        except SourceUnsupported:
            continue
        if any(entry.path for entry in found):
            return found
    return []


def read_landmarks(archive: EpubArchive, package: Package) -> list[tuple[str, str, str]]:
    """Return the type as written, the path, and the fragment of each landmark in the EPUB 3 navigation document and the
    EPUB 2 guide.
    """
    found = list(package.guide)
    if package.nav is not None and package.nav.path is not None:
        with suppress(SourceUnsupported):
            found = [*_nav_landmarks(archive, package.nav.path), *found]
    return found[:LANDMARK_LIMIT]


def read_page_list(archive: EpubArchive, package: Package) -> list[tuple[str, str, str]]:
    """Return the label, path, and fragment of each printed page, from the EPUB 3 page list, or else from the EPUB 2 NCX
    file.
    """
    for item, read in ((package.nav, _nav_pages), (package.ncx, _ncx_pages)):
        if item is None or item.path is None:
            continue
        with suppress(SourceUnsupported):
            found = list(islice(read(archive, item.path), PAGES_LIMIT))
            if found:
                return found
    return []


def _nav_pages(archive: EpubArchive, base: str) -> Iterator[tuple[str, str, str]]:
    for nav in _navs_of_type(archive, base, "page-list"):
        links = _outermost(nav, lambda each: local_name(each) == "a")
        yield from _pages(archive, base, ((inner_text(each), local_attributes(each).get("href")) for each in links))


def _navs_of_type(archive: EpubArchive, base: str, kind: str) -> Iterator[_Element]:
    """Yield the `nav` elements of the type `kind` that are not inside another such element."""
    return _outermost(
        parse_page(archive.read(base), base),
        lambda each: local_name(each) == "nav" and kind in local_attributes(each).get("type", "").split(),
    )


def _outermost(root: _Element, is_wanted: Callable[[_Element], bool]) -> Iterator[_Element]:
    """Yield the wanted elements that are in no other wanted element, so that no text is read twice."""
    from lxml import etree

    walker = etree.iterwalk(root, events=("start",))
    for _, each in walker:
        if is_wanted(each):
            walker.skip_subtree()
            yield each


def _ncx_pages(archive: EpubArchive, base: str) -> Iterator[tuple[str, str, str]]:
    for target in _outermost(parse_xml(archive.read(base), base), lambda each: local_name(each) == "pagetarget"):
        parts = {local_name(child): child for child in target}
        label = inner_text(parts["navlabel"]) if "navlabel" in parts else local_attributes(target).get("value", "")
        source = local_attributes(parts["content"]).get("src") if "content" in parts else None
        yield from _pages(archive, base, [(label, source)])


def _pages(archive: EpubArchive, base: str, said: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str, str]]:
    for label, href in said:
        path = archive.find(href, base) if href else None
        if label and path is not None:
            yield label[:LABEL_LIMIT], path, unquote((href or "").partition("#")[2])


def _nav_landmarks(archive: EpubArchive, base: str) -> Iterator[tuple[str, str, str]]:
    for nav in _navs_of_type(archive, base, "landmarks"):
        for link in nav.iter():
            said = local_attributes(link)
            path = archive.find(said.get("href", ""), base) if local_name(link) == "a" else None
            if path is not None:
                yield said.get("type", ""), path, unquote(said["href"].partition("#")[2])


def _nav(archive: EpubArchive, path: str) -> Iterator[Entry]:
    root = parse_page(archive.read(path), path)
    navs = [each for each in root.iter() if local_name(each) == "nav"]
    chosen = next((nav for nav in navs if "toc" in local_attributes(nav).get("type", "").split()), None)
    nav = chosen if chosen is not None else next(iter(navs), None)
    if nav is None:
        return
    level = depth = 0
    for event, each in _events(nav):
        name = local_name(each)
        if name == "ol":
            level += 1 if event == "start" else -1
        elif name in ("a", "span") and _of_item(each):
            depth += 1 if event == "start" else -1
            if event == "start" and depth <= LABEL_DEPTH:
                yield _entry(archive, path, max(level, 1), each, local_attributes(each).get("href", ""))


def _of_item(element: _Element) -> bool:
    parent = element.getparent()
    return parent is not None and local_name(parent) in ("li", "p", "div")


def _ncx(archive: EpubArchive, path: str) -> Iterator[Entry]:
    root = parse_xml(archive.read(path), path)
    level = labels = 0
    for event, each in _events(root):
        name = local_name(each)
        if name == "navlabel":
            labels += 1 if event == "start" else -1
        if name != "navpoint":
            continue
        level += 1 if event == "start" else -1
        if event == "start" and labels < LABEL_DEPTH:
            label = next((child for child in each if local_name(child) == "navlabel"), None)
            content = next((child for child in each if local_name(child) == "content"), None)
            source = "" if content is None else local_attributes(content).get("src", "")
            yield _entry(archive, path, level, label, source)


def _events(root: _Element) -> Iterator[tuple[str, _Element]]:
    from lxml import etree

    yield from etree.iterwalk(root, events=("start", "end"))


def _entry(archive: EpubArchive, base: str, level: int, label: _Element | None, href: str) -> Entry:
    title = "" if label is None else inner_text(label)
    if label is not None and not title:
        pictures = (local_attributes(each).get("alt", "") for each in label.iter() if local_name(each) == "img")
        title = " ".join("".join(pictures).split())
    file, _, fragment = href.partition("#")
    path = (archive.find(href, base) or unquote(file)) if file else base if fragment else None
    return Entry(min(level, LEVEL_LIMIT), title, path, unquote(fragment))


@frozen
class ChapterFiles:
    """Finds chapters by the paths of their files. `numbers` maps the paths to chapter numbers."""

    numbers: Mapping[str, int]
    _by_name: Mapping[str, Sequence[int]] = field(init=False, repr=False)

    @_by_name.default
    def _numbers_by_name(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for path, number in self.numbers.items():
            found.setdefault(path.rpartition("/")[2], []).append(number)
        return found

    def number(self, path: str, near: str) -> int | None:
        """Return the number of the chapter whose file is `path`, or None if there is no such chapter.

        Some paths are relative to a wrong folder. A chapter with the same file name then matches if it is in the folder
        of `near`, the chapter file of the preceding entry, or if it is the only one.
        """
        if path in self.numbers:
            return self.numbers[path]
        name = path.rpartition("/")[2]
        beside = f"{near.rpartition('/')[0]}/{name}".lstrip("/")
        if beside in self.numbers:
            return self.numbers[beside]
        same = self._by_name.get(name, ())
        return same[0] if len(same) == 1 else None
