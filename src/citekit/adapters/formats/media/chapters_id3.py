"""Reads nested chapters from ID3 tags (ID3v2 Chapter Frame Addendum 1.0).

FFmpeg ignores the tables of contents in these tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from attrs import define, evolve, field, frozen

SIZE_LIMIT = 2**26
"""The maximum size in bytes of a tag that is read. Tags can contain pictures."""

FRAME_LIMIT = 20_000
TITLE_LIMIT = 4000
"""The maximum number of bytes of a title that are read."""

CHAPTER_LIMIT = 10_000
DEPTH_LIMIT = 16

_ENCODINGS = {0: "latin-1", 1: "utf-16", 2: "utf-16-be", 3: "utf-8"}
_TOP_LEVEL = 2
_COMPRESSED_OR_ENCRYPTED = 0x0C


@frozen
class Id3Chapter:
    """A chapter, or a section that contains chapters. `start` and `end` are in seconds. The outermost `level` is 0."""

    start: float
    end: float
    title: str
    level: int


@define
class _TableOfContents:
    title: str
    is_top_level: bool
    child_ids: list[str] = field(factory=list)


def read_id3_chapters(path: Path) -> list[Id3Chapter]:
    """Return the chapters and sections that the tables of contents (`CTOC`) list; none if the file cannot be read.

    A section precedes its chapters, and spans them. Other chapters (`CHAP`) are omitted.
    """
    try:
        with path.open("rb") as file:
            head = file.read(10)
            if len(head) < 10 or head[:3] != b"ID3" or head[3] not in (3, 4):
                return []
            size = _synchsafe(head[6:10])
            if size > SIZE_LIMIT:
                return []
            tag = file.read(size)
    except OSError:
        return []
    return _parse_tag(head[3], head[5], tag)


def _parse_tag(version: int, flags: int, tag: bytes) -> list[Id3Chapter]:
    chapters: dict[str, Id3Chapter] = {}
    tables: dict[str, _TableOfContents] = {}
    if flags & 0x80 and version == 3:
        tag = tag.replace(b"\xff\x00", b"\xff")
    if flags & 0x40 and len(tag) >= 4:
        tag = tag[_synchsafe(tag[:4]) if version == 4 else int.from_bytes(tag[:4]) + 4 :]
    for name, body in _frames(version, tag):
        key, _, rest = body.partition(b"\0")
        if name == b"CHAP" and len(rest) >= 16:
            start, end = (int.from_bytes(rest[offset : offset + 4]) / 1000 for offset in (0, 4))
            chapters.setdefault(key.decode("latin-1"), Id3Chapter(start, end, _title(version, rest[16:]), 0))
        elif name == b"CTOC" and len(rest) >= 2:
            tables.setdefault(key.decode("latin-1"), _parse_table(version, rest))
    top = next((each for each in tables.values() if each.is_top_level), None) or _first_unreferenced(tables)
    return list(islice(_walk(top, chapters, tables, 0, set()), CHAPTER_LIMIT)) if top else []


def _first_unreferenced(tables: Mapping[str, _TableOfContents]) -> _TableOfContents | None:
    """Return the first table of contents that no other table lists, or None."""
    referenced = {key for each in tables.values() for key in each.child_ids}
    return next((each for key, each in tables.items() if key not in referenced), None)


def _walk(
    table: _TableOfContents,
    chapters: Mapping[str, Id3Chapter],
    tables: Mapping[str, _TableOfContents],
    level: int,
    seen: set[str],
) -> Iterator[Id3Chapter]:
    """Yield the chapters and sections in a table of contents, each once, even in a cycle. `seen` has the IDs of those
    yielded.
    """
    for key in table.child_ids:
        if key in seen or level >= DEPTH_LIMIT:
            continue
        seen.add(key)
        chapter = chapters.get(key)
        part = tables.get(key)
        children = list(_walk(part, chapters, tables, level + 1, seen)) if part else []
        timed = [each for each in (*children, *([chapter] if chapter else [])) if each.start < each.end]
        if timed:
            start, end = min(each.start for each in timed), max(each.end for each in timed)
            title = (part.title if part else "") or (chapter.title if chapter else "")
            yield Id3Chapter(start, end, title, level)
            yield from children
        elif chapter:
            yield evolve(chapter, level=level)


def _parse_table(version: int, rest: bytes) -> _TableOfContents:
    parts = rest[2:].split(b"\0", rest[1])
    child_ids = [key.decode("latin-1") for key in parts[: rest[1]]]
    return _TableOfContents(
        _title(version, parts[-1] if len(parts) > rest[1] else b""), bool(rest[0] & _TOP_LEVEL), child_ids
    )


def _title(version: int, frames: bytes) -> str:
    """Return the title in the title frame (`TIT2`) among `frames`, or ""."""
    body = next((body for name, body in islice(_frames(version, frames), 100) if name == b"TIT2"), b"")
    if not body:
        return ""
    return body[1 : 1 + TITLE_LIMIT].decode(_ENCODINGS.get(body[0], "latin-1"), "replace").partition("\0")[0]


def _frames(version: int, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the name and content of each ID3 frame up to a truncated one. Compressed and encrypted frames are skipped."""
    offset = 0
    for _ in range(FRAME_LIMIT):
        if offset + 10 > len(data) or not data[offset : offset + 4].isalnum():
            return
        name, flags = data[offset : offset + 4], data[offset + 9]
        raw = data[offset + 4 : offset + 8]
        size = _synchsafe(raw) if version == 4 else int.from_bytes(raw)
        body = data[offset + 10 : offset + 10 + size]
        if len(body) < size:
            return
        offset += 10 + size
        if version == 4 and not flags & _COMPRESSED_OR_ENCRYPTED:
            yield name, _frame_content(body, flags)
        elif version == 3 and not flags & 0xC0:
            yield name, body


def _frame_content(body: bytes, flags: int) -> bytes:
    """Return the content of an ID3v2.4 frame without its group byte, length field, and unsynchronization."""
    body = body[(1 if flags & 0x40 else 0) + (4 if flags & 1 else 0) :]
    return body.replace(b"\xff\x00", b"\xff") if flags & 2 else body


def _synchsafe(raw: bytes) -> int:
    return sum((byte & 0x7F) << shift for byte, shift in zip(raw, (21, 14, 7, 0), strict=True))
