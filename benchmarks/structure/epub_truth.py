"""What an EPUB itself says, read by zipfile and lxml alone: no line of CiteKit's own reading is used here."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from attrs import field, frozen
from lxml import etree

HIDDEN = {"head", "script", "style", "template", "title", "rp", "desc", "metadata"}


@frozen
class Chapter:
    """A spine item: its characters without white space, and how many of them stand before each id."""

    path: str
    text: str
    places: dict[str, int] = field(repr=False)


@frozen
class Entry:
    """An entry of the contents: the title, the path of the file it points to, the fragment, and the titles above it."""

    title: str
    path: str
    fragment: str
    above: tuple[str, ...]


@frozen
class Truth:
    """The chapters in the order of the spine (a file that is named again is empty), and the contents."""

    chapters: list[Chapter]
    entries: list[Entry]


def read_truth(path: Path) -> Truth:
    """The book at `path`."""
    with zipfile.ZipFile(path) as archive:
        container: Any = etree.fromstring(archive.read("META-INF/container.xml"))
        package_path = container.xpath("//*[local-name()='rootfile']/@full-path")[0]
        package: Any = etree.fromstring(archive.read(package_path))
        items = {item.get("id"): item for item in package.iter("{*}item")}
        spine = [_joined(package_path, items[ref.get("idref")].get("href")) for ref in package.iter("{*}itemref")]
        seen: set[str] = set()
        chapters = []
        for name in spine:
            read = name not in seen and name in archive.namelist()
            chapters.append(_chapter(name, archive.read(name)) if read else Chapter(name, "", {}))
            seen.add(name)
        return Truth(chapters, list(_contents(archive, package_path, items)))


def bare(text: str) -> str:
    """A text without white space, whatever kind."""
    return "".join(text.split())


def _joined(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href.partition("#")[0])))


def _parsed(data: bytes) -> Any:
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return etree.fromstring(
            data, etree.HTMLParser(encoding="utf-8", recover=True, remove_comments=True, remove_pis=True)
        )


def _chapter(name: str, data: bytes) -> Chapter:
    pieces: list[str] = []
    places: dict[str, int] = {}
    length = hidden = 0
    for event, each in etree.iterwalk(_parsed(data), events=("start", "end")):
        tag = str(each.tag).rpartition("}")[2].lower()
        if event == "start":
            hidden += tag in HIDDEN
            for key in ("id", "name"):
                if each.get(key):
                    places.setdefault(each.get(key), length)
            said = each.text
        else:
            hidden -= tag in HIDDEN
            said = each.tail
        if said and not hidden:
            pieces.append(bare(said))
            length += len(pieces[-1])
    return Chapter(name, "".join(pieces), places)


def _contents(archive: zipfile.ZipFile, base: str, items: dict[str, Any]) -> Iterator[Entry]:
    nav = next((item for item in items.values() if "nav" in (item.get("properties") or "").split()), None)
    if nav is not None:
        yield from _nav(archive, _joined(base, nav.get("href")))
        return
    ncx = next((item for item in items.values() if item.get("media-type") == "application/x-dtbncx+xml"), None)
    if ncx is not None:
        name = _joined(base, ncx.get("href"))
        root = _parsed(archive.read(name))
        for point in root.iter("{*}navPoint"):
            chain = list(point.iterancestors("{*}navPoint"))
            source = next(point.iterchildren("{*}content")).get("src")
            above = tuple(_label(each) for each in reversed(chain))
            yield Entry(_label(point), _joined(name, source), unquote(source.partition("#")[2]), above)


def _label(point: Any) -> str:
    return " ".join("".join(next(point.iterchildren("{*}navLabel")).itertext()).split())


def _nav(archive: zipfile.ZipFile, name: str) -> Iterator[Entry]:
    root = _parsed(archive.read(name))
    navs = list(root.iter("{*}nav", "nav"))
    toc = next(each for each in navs if any(value == "toc" for value in each.attrib.values()))
    for link in toc.iter("{*}a", "a"):
        items = [each for each in link.iterancestors() if str(each.tag).rpartition("}")[2] == "li"][1:]
        above = tuple(" ".join("".join(item[0].itertext()).split()) for item in reversed(items))
        href = link.get("href")
        yield Entry(
            " ".join("".join(link.itertext()).split()), _joined(name, href), unquote(href.partition("#")[2]), above
        )
