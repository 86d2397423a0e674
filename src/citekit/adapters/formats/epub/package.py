"""Reads the package document of an EPUB (OPF 2.0.1, EPUB 3.3): metadata, manifest, and spine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attrs import evolve, field, frozen

from citekit.adapters.formats.epub.archive import EpubArchive
from citekit.adapters.formats.shared.book_metadata import identified, language_code
from citekit.adapters.libraries.lxml import inner_text, local_attributes, local_name, parse_xml
from citekit.domain.errors import SourceUnsupported
from citekit.domain.library.books import BookFacts

if TYPE_CHECKING:
    from lxml.etree import _Element

SPINE_LIMIT = 20_000
"""Maximum number of spine items in a book."""

FONT_OBFUSCATION = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
"""Encryption algorithms that only obfuscate fonts (EPUB 3.3, section 4.4). All others count as encryption of the text.
"""

_PAGES = (".xhtml", ".html", ".htm", ".xml")
_PAGE_TYPES = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"))


@frozen
class Item:
    """An item in the manifest of an EPUB.

    `path` is its path in the archive. It is None if the item is missing, or repeats an earlier item of the spine.
    """

    id: str
    path: str | None
    href: str
    media_type: str
    properties: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Package:
    """The content of an EPUB's package document.

    `spine` contains the chapters in reading order, including auxiliary ones. `nav` and `ncx` are the documents with the
    table of contents, or None.
    """

    title: str | None
    authors: Sequence[str]
    language: str | None
    identifier: str | None
    identifiers: Mapping[str, str] = field(factory=dict)
    spine: Sequence[Item]
    nav: Item | None
    ncx: Item | None
    media_types: dict[str, str]
    guide: Sequence[tuple[str, str, str]] = ()
    """(type, path, fragment) of each reference in the EPUB 2 guide."""
    remarks: Sequence[str] = ()
    """Sentences about problems in the book."""


def read_package(archive: EpubArchive, name: str) -> Package:
    """Return the content of the package document. `name` is the file name of the book, for error messages.

    A book without a package document is read from its pages. Raise `SourceUnsupported` if the book is encrypted or has
    no pages, or if a document that is read is damaged or too large, and `SourceUnreadable` if the file cannot be read.
    """
    _refuse_encrypted(archive, name)
    path = _package_path(archive)
    if path is None:
        return _without_package(archive, name)
    root = parse_xml(archive.read(path), path)
    items = {item.id: item for item in _manifest(root, archive, path)}
    named = [items.get(id, Item(id, None, id, "")) for id in _spine(root)][:SPINE_LIMIT]
    spine = _once(named) or [item for item in items.values() if item.media_type in _PAGE_TYPES and item.path]
    if not spine:
        raise SourceUnsupported(f"{name} is an EPUB without text: its package document lists no chapters.")
    return Package(
        title=_first(root, "title"),
        authors=_texts(root, "creator"),
        language=_first(root, "language"),
        identifier=_identifier(root),
        identifiers=dict(_identifiers(root)),
        spine=spine,
        nav=next((item for item in items.values() if "nav" in item.properties and item.path), None),
        ncx=_ncx(root, items),
        media_types={item.path: item.media_type for item in items.values() if item.path},
        guide=tuple(_guide(root, archive, path)),
        remarks=_remarks(named),
    )


def package_facts(package: Package) -> BookFacts:
    """Return the book metadata of the package document."""
    return BookFacts(
        title=package.title,
        authors=package.authors,
        language=language_code(package.language),
        identifiers=package.identifiers,
    )


def _refuse_encrypted(archive: EpubArchive, name: str) -> None:
    scheme = _protection(archive)
    if scheme:
        raise SourceUnsupported(
            f"{name} is encrypted ({scheme}), so its text cannot be read; use a copy without protection."
        )


def _protection(archive: EpubArchive) -> str:
    """Return the name of the DRM scheme that protects the text, or "".

    Obfuscated fonts, and rights files without an encrypted key, do not count.
    """
    path = archive.find("META-INF/encryption.xml")
    methods = [] if path is None else list(parse_xml(archive.read(path), path).iter())
    used = {local_attributes(each).get("algorithm") for each in methods if local_name(each) == "encryptionmethod"}
    if not used - FONT_OBFUSCATION and archive.find("META-INF/sinf.xml") is None:
        return "DRM: Adobe ADEPT" if _adept(archive) else ""
    if archive.find("META-INF/sinf.xml") is not None:
        return "DRM: Apple FairPlay"
    if archive.find("META-INF/license.lcpl") is not None:
        return "DRM: Readium LCP"
    return "DRM: Adobe ADEPT" if _adept(archive) else "DRM"


def _adept(archive: EpubArchive) -> bool:
    """Return whether an Adobe ADEPT license contains the encrypted key of the book."""
    path = archive.find("META-INF/rights.xml")
    if path is None:
        return False
    elements = parse_xml(archive.read(path), path).iter()
    return any(local_name(each) == "encryptedkey" for each in elements)


def _package_path(archive: EpubArchive) -> str | None:
    container = archive.find("META-INF/container.xml")
    if container is not None:
        try:
            root = parse_xml(archive.read(container), container)
        except SourceUnsupported:
            return _any_package(archive)
        for each in root.iter():
            if local_name(each) == "rootfile":
                found = archive.find(local_attributes(each).get("full-path", ""))
                if found is not None:
                    return found
    return _any_package(archive)


def _any_package(archive: EpubArchive) -> str | None:
    return min((name for name in archive.names if name.lower().endswith(".opf")), default=None)


def _without_package(archive: EpubArchive, name: str) -> Package:
    pages = sorted(each for each in archive.names if each.lower().endswith(_PAGES[:3]))
    if not pages:
        raise SourceUnsupported(f"{name} is not an EPUB: it contains no package document and no pages.")
    spine = [Item(page, page, page, "application/xhtml+xml") for page in pages][:SPINE_LIMIT]
    return Package(
        title=None, authors=(), language=None, identifier=None, spine=spine, nav=None, ncx=None, media_types={},
        remarks=("The book has no package document, so its pages are in the order of their names.",),
    )  # fmt: skip


def _manifest(root: _Element, archive: EpubArchive, base: str) -> Iterator[Item]:
    for each in root.iter():
        if local_name(each) == "item":
            said = local_attributes(each)
            href = said.get("href", "")
            properties = frozenset(said.get("properties", "").split())
            yield Item(said.get("id", ""), archive.find(href, base), href, said.get("media-type", ""), properties)


def _spine(root: _Element) -> list[str]:
    return [local_attributes(each).get("idref", "") for each in root.iter() if local_name(each) == "itemref"]


def _once(spine: list[Item]) -> list[Item]:
    """Return the spine with repeated items, which EPUB forbids, as empty chapters."""
    seen: set[str] = set()
    kept = []
    for item in spine:
        kept.append(evolve(item, path=None) if item.path in seen else item)
        seen.add(item.path or "")
    return kept


def _remarks(spine: Sequence[Item]) -> tuple[str, ...]:
    """Return a sentence for each kind of problem in the spine: missing files and duplicates."""
    missing = sum(item.path is None for item in spine)
    paths = [item.path for item in spine if item.path]
    repeated = len(paths) - len(set(paths))
    found = []
    if missing:
        are = "is" if missing == 1 else "are"
        found.append(f"{missing} of the {len(spine)} chapter files that the book lists {are} missing from it.")
    if repeated:
        are = "is a duplicate; its" if repeated == 1 else "are duplicates; their"
        found.append(f"{repeated} of the {len(spine)} listed chapter files {are} text is included only once.")
    return tuple(found)


def _guide(root: _Element, archive: EpubArchive, base: str) -> Iterator[tuple[str, str, str]]:
    for each in root.iter():
        if local_name(each) == "reference":
            said = local_attributes(each)
            href = said.get("href", "")
            path = archive.find(href, base)
            if path is not None:
                yield said.get("type", ""), path, unquote(href.partition("#")[2])


def _ncx(root: _Element, items: dict[str, Item]) -> Item | None:
    spine = next((each for each in root.iter() if local_name(each) == "spine"), None)
    named = None if spine is None else items.get(local_attributes(spine).get("toc", ""))
    if named is not None and named.path:
        return named
    return next((item for item in items.values() if item.media_type == "application/x-dtbncx+xml" and item.path), None)


def _texts(root: _Element, name: str) -> list[str]:
    metadata = next((each for each in root.iter() if local_name(each) == "metadata"), None)
    found = [] if metadata is None else [each for each in metadata.iter() if local_name(each) == name]
    texts = [inner_text(each) for each in found]
    return [text for text in texts if text]


def _first(root: _Element, name: str) -> str | None:
    return next(iter(_texts(root, name)), None)


def _identifier(root: _Element) -> str | None:
    wanted = local_attributes(root).get("unique-identifier")
    for each in root.iter():
        if local_name(each) == "identifier" and local_attributes(each).get("id") == wanted:
            return inner_text(each) or None
    return _first(root, "identifier")


def _identifiers(root: _Element) -> Iterator[tuple[str, str]]:
    """Yield the scheme and the value of the first identifier of each scheme."""
    seen = set()
    for each in root.iter():
        if local_name(each) == "identifier":
            scheme, value = identified(inner_text(each), local_attributes(each).get("scheme", ""))
            if value and scheme not in seen:
                seen.add(scheme)
                yield scheme, value
