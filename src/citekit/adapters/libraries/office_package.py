"""The ZIP package of an Office file (ECMA-376 part 2, Open Packaging Conventions), read with every size bounded.

Nothing is unpacked to disk, and no part that declares a document type reaches a parser, so nothing can be expanded.
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
"""Bytes of the largest part that is read as a whole."""

STREAM_LIMIT = 512 * 1024 * 1024
"""Bytes of the largest part that is read piece by piece."""

TOTAL_LIMIT = 128 * 1024 * 1024
"""Bytes of markup that are read as a whole of one file."""

PARTS_LIMIT = 20_000
RELATIONS_LIMIT = 100_000
"""Parts, and relations of one part, that a file may have."""

_HEAD = 4096


@frozen
class Relation:
    """What a part refers to: `kind` is the last word of its type, `target` a part's name or, `outside`, an address."""

    id: str
    kind: str
    type: str
    target: str
    outside: bool


class OfficePackage:
    """The parts of the Office file `stream` at `path` by their names, without the leading slash.

    Raises `SourceUnsupported` (no package, damaged, too large, with a document type), `SourceUnreadable`.
    """

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self._left = TOTAL_LIMIT
        with self._translated("it is not a ZIP archive that can be opened"):
            self._zip = zipfile.ZipFile(stream)
        self._items = {item.filename.lstrip("/"): item for item in self._zip.infolist() if not is_folder(item)}
        if len(self._items) > PARTS_LIMIT:
            raise SourceUnsupported(f"{path.name} holds {len(self._items)} parts; at most {PARTS_LIMIT} are read.")
        self._folded = {name.casefold(): name for name in reversed(self._items)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, in the order of the archive."""
        return tuple(self._items)

    def find(self, name: str) -> str | None:
        """The part of that name, upper and lower case alike (ECMA-376 part 2, 6.2.2.3); None where there is none."""
        return name if name in self._items else self._folded.get(name.casefold())

    def size(self, name: str) -> int:
        """The size of a part in bytes, as the archive declares it: reading stops there."""
        return self._items[name].file_size

    def read(self, name: str) -> bytes:
        """A part as a whole; markup only without a document type."""
        limit = min(PART_LIMIT, self._left)
        if self._items[name].file_size > limit:
            raise self._too_large(name)
        data = b"".join(self._pieces(name, limit))
        self._left -= len(data)
        self.check_head(name, data[:_HEAD])
        return data

    def stream(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        """A part piece by piece, each of at most 64 kB."""
        if self._items[name].file_size > limit:
            raise self._too_large(name)
        return self._pieces(name, limit)

    def root(self, name: str) -> _Element:
        """The root of a part that is markup."""
        from citekit.adapters.libraries.lxml import parse_xml

        return parse_xml(self.read(name), f"{self.path.name} ({name})")

    def relations(self, name: str = "") -> list[Relation]:
        """What the part `name` refers to, or with no name the package; nothing where it refers to nothing."""
        folder, _, last = name.rpartition("/")
        part = self.find(posixpath.join(folder, "_rels", f"{last}.rels"))
        if part is None:
            return []
        found = [_relation(each.attrib, folder) for each in self.root(part) if each.get("Id") and each.get("Target")]
        if len(found) > RELATIONS_LIMIT:
            raise SourceUnsupported(f"{self.path.name}: {part} holds too many relations.")
        inside = ((each, each.target if each.outside else self.find(each.target)) for each in found)
        return [evolve(relation, target=target) for relation, target in inside if target is not None]

    def main(self, root: str) -> tuple[str, _Element]:
        """The name of the main part and its root element, which is called `root`."""
        for relation in self.relations():
            if relation.kind == "officeDocument" and not relation.outside:
                element = self.root(relation.target)
                if local(element) == root:
                    return relation.target, element
                raise SourceUnsupported(
                    f"{self.path.name} is another kind of file than it seems: a {local(element)[:40]!r}."
                )
        raise SourceUnsupported(f"{self.path.name} is no Office file, or damaged: it has no main part ({root}).")

    def check_head(self, name: str, head: bytes) -> None:
        """Refuse a part whose beginning declares a document type, which no Office file has (ECMA-376 part 2, 7.2)."""
        if b"<!DOCTYPE" in head.replace(b"\0", b"").upper() and not name.lower().endswith((".htm", ".html", ".mht")):
            raise SourceUnsupported(
                f"{self.path.name}: {name} declares a document type, which Office files must not (ECMA-376 part 2, 7.2)."
            )

    def _pieces(self, name: str, limit: int) -> Iterator[bytes]:
        item = self._items[name]
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{self.path.name}: {name} is compressed by an unusual method ({item.compress_type})."
            )
        done = 0
        with self._translated(f"its part {name} cannot be unpacked"):
            for piece in pieces(self._zip, item, limit):
                done += len(piece)
                if done > limit:
                    raise self._too_large(name)
                yield piece

    def _too_large(self, name: str) -> SourceUnsupported:
        return SourceUnsupported(
            f"{self.path.name} unpacks to more than is read: {name} has {self._items[name].file_size} bytes or more."
        )

    def _translated(self, what: str) -> AbstractContextManager[None]:
        return translated(f"{self.path.name} cannot be read as an Office file: {what}")


@contextmanager
def opened_package(path: Path) -> Iterator[OfficePackage]:
    """The Office file at `path`. Raises as `OfficePackage` does."""
    try:
        stream = open_for_reading(path)
    except OSError as error:
        raise SourceUnreadable(f"Cannot read {path}: {error.strerror or error}.") from error
    with stream:
        yield OfficePackage(path, stream)


def local(element: _Element) -> str:
    """The name of an element without its namespace, as it is written; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: _Element, name: str) -> str | None:
    """The attribute of that local name, whatever its namespace (transitional and strict documents differ in it)."""
    value = element.get(name)
    if value is not None:
        return value
    return next((str(value) for key, value in element.items() if str(key).rpartition("}")[2] == name), None)


def below(element: _Element, name: str) -> Iterator[_Element]:
    """The children of that local name."""
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
