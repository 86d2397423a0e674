"""Reads nested chapters from Matroska files (RFC 9559, 5.1.7).

FFmpeg reports only the outermost chapters, of all editions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from attrs import evolve, frozen

ELEMENT_LIMIT = 100_000
"""The maximum number of elements of a segment that are skipped, enough for 5 days of clusters of 5 seconds."""

SIZE_LIMIT = 2**23
"""The maximum size in bytes of a chapters element that is read."""

ATOM_LIMIT = 10_000
DEPTH_LIMIT = 16

_SEGMENT, _CHAPTERS, _EDITION, _ATOM = 0x18538067, 0x1043A770, 0x45B9, 0xB6
_IS_DEFAULT, _IS_HIDDEN, _HIDDEN = 0x45DB, 0x45BD, 0x98
_START, _END, _DISPLAY, _STRING = 0x91, 0x92, 0x80, 0x85
_NANOSECONDS = 1_000_000_000


@frozen
class MatroskaChapter:
    """A chapter. `start` and `end` are in seconds of the file's own time. The outermost `level` is 0.

    If the end is unknown, `end` is the start of the next chapter that is not inside this one, or infinity.
    """

    start: float
    end: float
    title: str
    level: int


def read_matroska_chapters(path: Path) -> list[MatroskaChapter]:
    """Return the chapters of the edition that players use, each before the chapters inside it.

    The edition is the first that is marked as default, or else the first. Hidden chapters are skipped, and so are
    hidden editions unless all are hidden. If the file cannot be read, the list is empty.
    """
    try:
        with path.open("rb") as file:
            data = _read_chapters_element(file)
    except OSError:
        return []
    editions = [body for number, body in _elements(data) if number == _EDITION]
    visible = [each for each in editions if not _flag(each, _IS_HIDDEN)] or editions
    chosen = next((each for each in visible if _flag(each, _IS_DEFAULT)), visible[0] if visible else b"")
    return _with_ends(list(islice(_walk(chosen, 0), ATOM_LIMIT)))


def _with_ends(chapters: list[MatroskaChapter]) -> list[MatroskaChapter]:
    next_starts = [math.inf] * (DEPTH_LIMIT + 1)
    for index in reversed(range(len(chapters))):
        chapter = chapters[index]
        if not chapter.end:
            chapters[index] = evolve(chapter, end=next_starts[chapter.level])
        next_starts[chapter.level :] = [chapter.start] * (DEPTH_LIMIT + 1 - chapter.level)
    return chapters


def _read_chapters_element(file: BinaryIO) -> bytes:
    """Return the content of the `Chapters` element in the first segment, or b""."""
    wanted = _SEGMENT
    for _ in range(ELEMENT_LIMIT):
        number, size = _read_element_id(file), _read_element_size(file)
        if number is None or size is None:
            return b""
        if number == _CHAPTERS:
            return file.read(size) if size <= SIZE_LIMIT else b""
        if number == wanted:
            wanted = _CHAPTERS
        elif size >= 2**56 - 1:
            return b""
        else:
            file.seek(size, 1)
    return b""


def _read_element_id(file: BinaryIO) -> int | None:
    """Read the ID of an element, including its marker bit; None if there is no valid ID."""
    first = file.read(1)
    length = 9 - first[0].bit_length() if first else 9
    return int.from_bytes(first + file.read(length - 1)) if length <= 4 else None


def _read_element_size(file: BinaryIO) -> int | None:
    """Read the size of an element in bytes; 2**56 - 1 if it is declared as unknown, None if it is invalid."""
    first = file.read(1)
    length = 9 - first[0].bit_length() if first else 9
    if length > 8:
        return None
    size: int = int.from_bytes(first + file.read(length - 1)) & ((1 << 7 * length) - 1)
    return 2**56 - 1 if size == (1 << 7 * length) - 1 else size


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the ID and the content of each element in `data`, up to the first truncated one."""
    file = BytesIO(data)
    while file.tell() < len(data):
        number, size = _read_element_id(file), _read_element_size(file)
        if number is None or size is None or size > len(data) - file.tell():
            return
        yield number, file.read(size)


def _walk(data: bytes, level: int) -> Iterator[MatroskaChapter]:
    if level >= DEPTH_LIMIT:
        return
    for number, body in _elements(data):
        if number == _ATOM and not _flag(body, _HIDDEN):
            start, end = (_unsigned(body, edge) / _NANOSECONDS for edge in (_START, _END))
            yield MatroskaChapter(start, end, _title(body), level)
            yield from _walk(body, level + 1)


def _title(chapter: bytes) -> str:
    """Return the first title of a chapter, which can have titles in several languages, or ""."""
    displays = (body for number, body in _elements(chapter) if number == _DISPLAY)
    titles = (text for body in displays for number, text in _elements(body) if number == _STRING)
    return next((text.rstrip(b"\0").decode("utf-8", "replace") for text in titles if text), "")


def _unsigned(data: bytes, wanted: int) -> int:
    return next((int.from_bytes(body[:8]) for number, body in _elements(data) if number == wanted), 0)


def _flag(data: bytes, wanted: int) -> bool:
    return _unsigned(data, wanted) > 0
