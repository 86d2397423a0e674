"""Reads comics, which are ZIP archives of images (CBZ), with size limits."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, frozen

from citekit.adapters.libraries.zip_entries import METHODS, is_folder, pieces, translated
from citekit.adapters.system.files import open_for_reading
from citekit.domain.errors import SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import _Element

PICTURE_LIMIT = 64 * 1024 * 1024
"""The maximum size in bytes of a picture that is unpacked."""

INFO_LIMIT = 8 * 1024 * 1024
"""The maximum size in bytes of a `ComicInfo.xml` that is read."""

ENTRY_LIMIT = 50_000
"""The maximum number of entries (files and folders) in one archive."""

_PICTURES = (".jpg", ".jpeg", ".jpe", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".jp2")
_NUMBER = re.compile(r"(\d{1,18})")


@frozen(kw_only=True)
class ComicInfo:
    """The metadata in `ComicInfo.xml` (Anansi Project, version 2.1).

    `pages` contains the XML attributes of each page by its 1-based number.
    """

    title: str | None = None
    series: str | None = None
    number: str | None = None
    authors: Sequence[str] = ()
    language: str | None = None
    pages: Mapping[int, Mapping[str, str]] = {}


@define
class ComicArchive:
    """An open comic. `names` are the paths of its images in reading order."""

    path: Path
    zip: zipfile.ZipFile
    names: tuple[str, ...]

    def read(self, page: int) -> bytes:
        """Return the unchanged image file of the page with the 1-based number `page`.

        Raise `SourceUnsupported` if it is damaged, encrypted, too large, or compressed with an unsupported method, and
        `SourceUnreadable` if the comic cannot be read.
        """
        return self._read(self.names[page - 1], PICTURE_LIMIT)

    def info(self) -> ComicInfo:
        """Return the metadata in `ComicInfo.xml`, or empty metadata if that file is missing or cannot be used.

        Raise `SourceUnreadable` if the comic cannot be read.
        """
        from citekit.adapters.libraries.lxml import parse_xml

        found = [name for name in self.zip.namelist() if name.rpartition("/")[2].casefold() == "comicinfo.xml"]
        if not found:
            return ComicInfo()
        try:
            return _parse_info(
                parse_xml(self._read(min(found, key=lambda name: name.count("/")), INFO_LIMIT), "ComicInfo.xml")
            )
        except SourceUnsupported:
            return ComicInfo()

    def _read(self, name: str, limit: int) -> bytes:
        item = self.zip.getinfo(name)
        if item.flag_bits & 1:
            raise SourceUnsupported(f"{self.path.name} is encrypted; use a copy without a password.")
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{self.path.name} contains {name!r}, which uses an unsupported compression method. Create the archive "
                "again with Deflate or without compression."
            )
        with _translated(self.path):
            data = b"".join(pieces(self.zip, item, limit))
        if len(data) > limit:
            raise SourceUnsupported(
                f"{self.path.name} contains {name!r}, which decompresses to more than {limit >> 20} MB. Replace it with a "
                "smaller picture."
            )
        return data


@contextmanager
def open_comic(path: Path) -> Iterator[ComicArchive]:
    """Yield the comic at `path`, which is closed at the end of the context.

    Raise `SourceUnsupported` if it is not an archive, has too many entries, or contains no images, or
    `SourceUnreadable` if it cannot be read.
    """
    with _translated(path):
        stream = open_for_reading(path)
    with stream:
        with _translated(path):
            archive = zipfile.ZipFile(stream)
        if len(archive.filelist) > ENTRY_LIMIT:
            raise SourceUnsupported(
                f"{path.name} has {len(archive.filelist)} entries; the limit is {ENTRY_LIMIT}. Split it into smaller comics."
            )
        names = {item.filename for item in archive.filelist if _is_picture(item)}
        if not names:
            raise SourceUnsupported(f"{path.name} contains no pictures, so it cannot be read as a comic.")
        yield ComicArchive(path, archive, tuple(sorted(names, key=reading_order)))


def reading_order(name: str) -> list[list[tuple[int, int, str]]]:
    """Return the sort key that puts image paths into reading order.

    Paths are compared folder by folder, without regard to case, and numbers by value. Symbols that precede digits in
    ASCII, such as `!` and `-`, come before numbers (`!cover` before `01`), and a name before a longer name with the
    same beginning (`cover.jpg` before `cover2.jpg`).
    """
    *folders, file = name.split("/")
    parts = [*folders, file.rpartition(".")[0] or file]
    return [[_sort_key(piece) for piece in _NUMBER.split(part.casefold()) if piece] for part in parts] + [
        [(0, 0, name)]
    ]


def _sort_key(piece: str) -> tuple[int, int, str]:
    if piece.isdecimal() and piece.isascii():
        return 1, int(piece), ""
    return (0 if piece < "0" else 2), 0, piece


def _is_picture(item: zipfile.ZipInfo) -> bool:
    """Return whether an entry is an image by its name, and not a folder, link, hidden file, or macOS metadata."""
    parts = item.filename.split("/")
    if is_folder(item) or stat.S_ISLNK(item.external_attr >> 16) or "__MACOSX" in parts or parts[-1].startswith("."):
        return False
    return parts[-1].lower().endswith(_PICTURES)


def _translated(path: Path) -> AbstractContextManager[None]:
    return translated(f"{path.name} cannot be read as a comic")


def _parse_info(root: _Element) -> ComicInfo:
    from citekit.adapters.libraries.lxml import inner_text, local_attributes, local_name

    fields = {local_name(each): inner_text(each) for each in root if local_name(each) != "pages"}
    pages: dict[int, dict[str, str]] = {}
    for each in root.iter():
        if local_name(each) == "page":
            attributes = local_attributes(each)
            if attributes.get("image", "").isdecimal() and len(attributes["image"]) < 7:
                pages[int(attributes["image"]) + 1] = attributes
    writers = [name.strip() for name in fields.get("writer", "").split(",")]
    return ComicInfo(
        title=fields.get("title") or None,
        series=fields.get("series") or None,
        number=fields.get("number") or None,
        authors=[name for name in writers if name],
        language=fields.get("languageiso") or None,
        pages=pages,
    )
