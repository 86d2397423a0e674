"""Caches facts about a whole PDF (its outline and page objects) in the index, under the digest of the file's bytes.

Results do not depend on the cache: missing facts are read from the file.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.formats.pdf.document.page_objects import (
    BOOKMARK_LIMIT,
    DEPTH_LIMIT,
    OutlineError,
    PageTreeError,
    Target,
    outline_targets,
    page_leaves,
)
from citekit.adapters.libraries.mupdf.engine import PAGE_LIMIT, Document, exclusive, translated
from citekit.adapters.system.file_state import FileState
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, SourceUnsupported

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.domain.source import Source

FORM = 1
"""The version of cache rows. Change it whenever their format, or the way in which their contents are read, changes."""

WORTH = 64
"""The minimum number of bookmarks, or of pages beyond the cached ones, for which a row is faster to read than the file.
"""

ROW_LIMIT = 2 * 2**20
"""The maximum number of characters of a row."""

_NUMBER_LIMIT = 2**23
"""The maximum number of objects of a PDF (ISO 32000-1, annex C.2)."""


@define
class PdfMemory:
    """The cached facts about the PDF `source`; with None for `index`, nothing is cached. Create one each time a file is
    read.
    """

    source: Source
    _index: Index | None = None
    _learned: list[tuple[str, Sequence[int]]] = field(factory=list)
    _state: FileState | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._state = self._now()

    def targets(self) -> list[Target] | None:
        """Return the cached items of the PDF's outline, or None if they are missing or damaged."""
        plain = self._read("outline", 3 * BOOKMARK_LIMIT)
        if plain is None or len(plain) % 3:
            return None
        return list(map(Target, *_columns(plain))) if _is_outline(plain) else None

    def pages(self) -> list[int]:
        """Return the cached object numbers of the first pages of the PDF; empty if they are missing or damaged."""
        plain = self._read("pages", PAGE_LIMIT)
        return list(plain) if plain is not None and _are_pages(plain) else []

    def learn_targets(self, targets: Sequence[Target]) -> None:
        """Note all items of an outline, for `save` to cache, unless they are invalid or fewer than `WORTH`."""
        plain = list(itertools.chain.from_iterable(targets))
        if len(targets) >= WORTH and _is_outline(plain):
            self._learned.append(("outline", plain))

    def learn_pages(self, numbers: Sequence[int], known: int = 0) -> None:
        """Note the object numbers of the first pages, for `save` to cache, unless they are invalid, more than
        `PAGE_LIMIT`, or fewer than `WORTH` in addition to the `known` ones that are cached.
        """
        if len(numbers) >= known + WORTH and len(numbers) <= PAGE_LIMIT and _are_pages(numbers):
            self._learned.append(("pages", list(numbers)))

    def save(self) -> None:
        """Write the noted facts to the index if the file at the source's path has not changed, and forget them."""
        learned, self._learned = self._learned, []
        if self._index is None or not learned or not self._is_source():
            return
        rows = [(self._key(part), _row(self._key(part), numbers)) for part, numbers in learned]
        self._index.put_all([(key, row) for key, row in rows if len(row["data"]) <= ROW_LIMIT])

    def _is_source(self) -> bool:
        try:
            with self.source.path.open("rb") as stream:
                same = Digest.of_stream(stream) == self.source.digest
        except OSError:
            return False
        return same and self._state is not None and self._now() == self._state

    def _now(self) -> FileState | None:
        try:
            return FileState.of(self.source.path.stat())
        except OSError:
            return None

    def _read(self, part: str, most: int) -> Sequence[int] | None:
        row = None if self._index is None else self._index.get(self._key(part))
        return None if row is None else _numbers(self._key(part), row, most)

    def _key(self, part: str) -> str:
        with exclusive() as pymupdf:
            return f"pdf:{FORM}:{pymupdf.VersionBind}:{part}:{self.source.digest}"


def remember(document: Document, memory: PdfMemory) -> None:
    """Read the outline and the page objects of `document`, and cache them unless reading fails or needs a repair.

    Call this function inside `exclusive()`, as the last operation on the document, because MuPDF may repair it.
    """
    try:
        with translated(memory.source.path, SourceUnsupported):
            memory.learn_targets(list(outline_targets(document)))
            memory.learn_pages(list(itertools.islice(page_leaves(document), PAGE_LIMIT + 1)))
    except (OutlineError, PageTreeError, CiteKitError):
        return
    if not document.is_repaired:
        memory.save()


def _row(key: str, numbers: Sequence[int]) -> dict[str, Any]:
    data = struct.pack(f"<{len(numbers)}I", *numbers)
    return {"data": base64.b64encode(data).decode("ascii"), "sha256": _sum(key, data)}


def _numbers(key: str, row: dict[str, Any], most: int) -> Sequence[int] | None:
    """Return the numbers in the cache row `row`; None if there are more than `most`, or if the row is damaged."""
    text = row.get("data")
    if set(row) != {"data", "sha256"} or not isinstance(text, str) or len(text) > ROW_LIMIT:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) % 4 or len(data) // 4 > most or row["sha256"] != _sum(key, data):
        return None
    return struct.unpack(f"<{len(data) // 4}I", data)


def _sum(key: str, data: bytes) -> str:
    return hashlib.sha256(key.encode() + b"\0" + data).hexdigest()


def _columns(plain: Sequence[int]) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the levels, items, and pages of an outline that is stored as one flat sequence."""
    return plain[0::3], plain[1::3], plain[2::3]


def _is_outline(plain: Sequence[int]) -> bool:
    levels, items, pages = _columns(plain)
    if not len(items) == len(set(items)) <= BOOKMARK_LIMIT:
        return False
    return not items or (
        min(items) > 0
        and max(items) < _NUMBER_LIMIT
        and min(levels) >= 1
        and max(levels) <= DEPTH_LIMIT
        and min(pages) >= 0
        and max(pages) < _NUMBER_LIMIT
    )


def _are_pages(numbers: Sequence[int]) -> bool:
    return not numbers or (min(numbers) > 0 and max(numbers) < _NUMBER_LIMIT)
