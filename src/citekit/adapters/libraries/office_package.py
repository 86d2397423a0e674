"""Reads the ZIP package of an Office file (ECMA-376 part 2, Open Packaging Conventions) with bounded sizes.

Markup with a DOCTYPE is rejected, because it could declare entities.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from attrs import evolve, frozen

from citekit.adapters.libraries.zip_entries import METHODS, is_folder, pieces, translated
from citekit.adapters.system.files import open_for_reading
from citekit.domain.errors import SourceUnreadable, SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import _Element

PART_LIMIT = 64 * 1024 * 1024
"""The maximum size in bytes of a part that is read as a whole."""

STREAM_LIMIT = 512 * 1024 * 1024
"""The maximum size in bytes of a part that is streamed."""

TOTAL_LIMIT = 128 * 1024 * 1024
"""The maximum total size in bytes of all parts of a file that are read as a whole."""

PARTS_LIMIT = 20_000
RELATIONS_LIMIT = 100_000
"""Maximum number of parts in a file and of relationships in one part."""

_HEAD = 4096


@frozen
class Relation:
    """A relationship of a part to another part or to an external resource (ECMA-376 part 2).

    `kind` is the last segment of `type`. `target` is the name of a part, or a URL if `outside` is set.
    """

    id: str
    kind: str
    type: str
    target: str
    outside: bool


class OfficePackage:
    """An open Office file, whose parts are read by name (without the leading slash).

    Methods raise `SourceUnsupported` if the file is not a package, is damaged or too large, or has a DOCTYPE, and
    `SourceUnreadable` if it cannot be read.
    """

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self._left = TOTAL_LIMIT
        with self._translated("it is not a valid ZIP archive"):
            self._zip = zipfile.ZipFile(stream)
        self._items = {item.filename.lstrip("/"): item for item in self._zip.infolist() if not is_folder(item)}
        if len(self._items) > PARTS_LIMIT:
            raise SourceUnsupported(
                f"{path.name} has {len(self._items):,} parts; the limit is {PARTS_LIMIT:,}. Split it into smaller documents."
            )
        self._folded = {name.casefold(): name for name in reversed(self._items)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts in archive order."""
        return tuple(self._items)

    def find(self, name: str) -> str | None:
        """Return the stored name of the part `name`; None if there is no such part.

        Names are compared case-insensitively (ECMA-376 part 2, 6.2.2.3).
        """
        return name if name in self._items else self._folded.get(name.casefold())

    def size(self, name: str) -> int:
        """Return the uncompressed size of a part in bytes, as declared in the archive."""
        return self._items[name].file_size

    def read(self, name: str) -> bytes:
        """Return the bytes of a part. Raise `SourceUnsupported` if the part is too large or is markup with a DOCTYPE."""
        limit = min(PART_LIMIT, self._left)
        if self._items[name].file_size > limit:
            raise self._too_large(name, limit)
        data = b"".join(self._pieces(name, limit))
        self._left -= len(data)
        self.check_head(name, data[:_HEAD])
        return data

    def stream(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        """Yield the bytes of a part in chunks of at most 64 KiB.

        Raise `SourceUnsupported` if it is larger than `limit` bytes.
        """
        if self._items[name].file_size > limit:
            raise self._too_large(name, limit)
        return self._pieces(name, limit)

    def root(self, name: str) -> _Element:
        """Parse the XML part `name` and return its root element."""
        from citekit.adapters.libraries.lxml import parse_xml

        return parse_xml(self.read(name), f"{self.path.name} ({name})")

    def relations(self, name: str = "") -> list[Relation]:
        """Return the relationships of the part `name`, or of the package, except those to parts that do not exist."""
        folder, _, last = name.rpartition("/")
        part = self.find(posixpath.join(folder, "_rels", f"{last}.rels"))
        if part is None:
            return []
        found = [_relation(each.attrib, folder) for each in self.root(part) if each.get("Id") and each.get("Target")]
        if len(found) > RELATIONS_LIMIT:
            raise SourceUnsupported(
                f"{self.path.name} cannot be read: {part} contains more than {RELATIONS_LIMIT:,} relationships (links to "
                "other parts and addresses). Split the file into smaller documents."
            )
        inside = ((each, each.target if each.outside else self.find(each.target)) for each in found)
        return [evolve(relation, target=target) for relation, target in inside if target is not None]

    def main(self, root: str) -> tuple[str, _Element]:
        """Return the name and the root element of the main part.

        Raise `SourceUnsupported` if it is missing or its root element is not called `root`.
        """
        for relation in self.relations():
            if relation.kind == "officeDocument" and not relation.outside:
                element = self.root(relation.target)
                if local(element) == root:
                    return relation.target, element
                raise SourceUnsupported(
                    f"{self.path.name} contains a {local(element)[:40]!r}, not a {root!r}; correct its file name extension."
                )
        raise SourceUnsupported(f"{self.path.name} is not an Office file or is damaged: it has no main part ({root}).")

    def check_head(self, name: str, head: bytes) -> None:
        """Raise `SourceUnsupported` if `head`, the start of the part `name`, contains a DOCTYPE (ECMA-376 part 2, 6.2.5).

        Embedded HTML parts are exempt.
        """
        if b"<!DOCTYPE" in head.replace(b"\0", b"").upper() and not name.lower().endswith((".htm", ".html", ".mht")):
            raise SourceUnsupported(
                f"{self.path.name} ({name}) contains a DOCTYPE, which Office files must not have (ECMA-376 part 2, 6.2.5). "
                "Save it again with an Office program."
            )

    def _pieces(self, name: str, limit: int) -> Iterator[bytes]:
        item = self._items[name]
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{self.path.name} ({name}) uses an unsupported compression method ({item.compress_type}); save the file "
                "again."
            )
        done = 0
        with self._translated(f"its part {name} cannot be decompressed"):
            for piece in pieces(self._zip, item, limit):
                done += len(piece)
                if done > limit:
                    raise self._too_large(name, limit)
                yield piece

    def _too_large(self, name: str, limit: int) -> SourceUnsupported:
        """Return the error for a part that exceeds `limit`, which is less than `PART_LIMIT` if `TOTAL_LIMIT` is used up."""
        if limit < PART_LIMIT and self._items[name].file_size <= PART_LIMIT:
            return SourceUnsupported(
                f"{self.path.name} is too large: its parts decompress to more than {TOTAL_LIMIT >> 20} MB, the limit for an "
                "Office file. Split it into smaller documents."
            )
        return SourceUnsupported(
            f"{self.path.name} is too large: its part {name} decompresses to more than {max(limit, PART_LIMIT) >> 20} MB, "
            "the limit for a part."
        )

    def _translated(self, what: str) -> AbstractContextManager[None]:
        return translated(f"{self.path.name} cannot be read as an Office file: {what}")


@contextmanager
def opened_package(path: Path) -> Iterator[OfficePackage]:
    """Open the Office file at `path`, and close it after the block. See `OfficePackage` for errors."""
    try:
        stream = open_for_reading(path)
    except OSError as error:
        raise SourceUnreadable(f"Cannot read {path}: {error.strerror or error}.") from error
    with stream:
        yield OfficePackage(path, stream)


def local(element: _Element) -> str:
    """Return the name of an element without its namespace, in its original case; "" for non-elements."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: _Element, name: str) -> str | None:
    """Return the value of the attribute with the local name `name` in any namespace; None if it is missing.

    Transitional and strict documents use different namespaces.
    """
    value = element.get(name)
    if value is not None:
        return value
    return next((str(value) for key, value in element.items() if str(key).rpartition("}")[2] == name), None)


def reference(element: _Element) -> str:
    """Return the ID of the relationship that `element` refers to in an `id` attribute with a namespace, or ""."""
    return next((str(value) for key, value in element.items() if str(key).endswith("}id")), "")


def below(element: _Element, name: str) -> Iterator[_Element]:
    """Yield the children of `element` with the local name `name`."""
    return (child for child in element if local(child) == name)


def _relation(said: object, folder: str) -> Relation:
    values = {str(key): str(value) for key, value in said.items()}  # type: ignore[attr-defined]
    outside = values.get("TargetMode", "").lower() == "external"
    target = values["Target"]
    if not outside:
        joined = posixpath.join("/", folder, unquote(target.partition("#")[0]))
        target = posixpath.normpath(joined).lstrip("/")
    kind = values.get("Type", "")
    return Relation(values["Id"], kind.rpartition("/")[2], kind, target, outside)
