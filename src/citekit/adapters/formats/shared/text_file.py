"""Opens a text file for mapping: detects its encoding and indexes its lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from attrs import define, field, frozen

from citekit.domain.errors import SourceUnreadable
from citekit.domain.extent import Extent
from citekit.domain.line_index import LineIndex, index_lines
from citekit.domain.progress import Progress, silent

LINE_LIMIT = 4000
"""The default for the maximum number of bytes that are read from a line."""

LINES_LIMIT = 1_000_000
"""The maximum number of lines of a text whose lines are examined one by one."""

_BREAK = re.compile(rb"[\r\n]+")
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The byte-order marks with their encodings, in the order in which they must be tried."""

ISO_2022_JP = "iso2022_jp"

_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_STEP = 20_000
_WESTERN_LETTERS = frozenset("àáâãäåæçèéêëíîïñòóôõöøùúûüßœÀÁÂÃÄÅÆÇÈÉÊËÍÎÏÑÒÓÔÕÖØÙÚÛÜŒ".encode("cp1252"))
_WESTERN = _WESTERN_LETTERS | frozenset("€‚„…‘’“”•–—™\xa0¡£§©«®°²³´·¹º»½¿".encode("cp1252"))
_DECLARED = re.compile(rb"""<(?:\?xml[^>]{0,200}?encoding|meta[^>]{0,200}?charset)\s*=\s*["']?([\w.:-]{1,40})""", re.I)


@frozen
class TextFile:
    """A text file with an index of its lines. `encoding` names a Python codec; `mark` is the length of the byte-order
    mark.
    """

    path: Path
    encoding: str
    mark: int
    index: LineIndex

    @property
    def line_count(self) -> int:
        """The number of lines in the file."""
        return self.index.count

    @property
    def is_long(self) -> bool:
        """Whether the file has more than `LINES_LIMIT` lines."""
        return self.index.count > LINES_LIMIT

    @property
    def extent(self) -> Extent:
        """The extent of the text: its number of lines."""
        return Extent(lines=self.index.count)

    @property
    def facts(self) -> dict[str, Any]:
        """The metadata that the map of this text gets: line count and encoding."""
        return {"line_count": self.index.count, "encoding": self.encoding}

    def lines(self, progress: Progress = silent, limit: int = LINE_LIMIT) -> Iterator[str]:
        """Yield the lines in order without their line endings, each truncated to at most `limit` bytes.

        Raise `SourceUnreadable` if the file cannot be read.
        """
        try:
            with self.path.open("rb") as stream:
                yield from self._read(stream, (1, self.index.count), progress, limit)
        except OSError as error:
            raise SourceUnreadable(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def passages(self, spans: Iterable[tuple[int, int]]) -> Iterator[list[str]]:
        """Yield the lines of each (first, last) pair in `spans` as a list, as `lines` returns them.

        Raise `SourceUnreadable` if the file cannot be read.
        """
        try:
            with self.path.open("rb") as stream:
                for span in spans:
                    yield list(self._read(stream, span, silent, LINE_LIMIT))
        except OSError as error:
            raise SourceUnreadable(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def _read(self, stream: BinaryIO, span: tuple[int, int], progress: Progress, limit: int) -> Iterator[str]:
        starts, count = self.index.starts, self.index.count
        first, last = span[0] - 1, min(span[1], count)
        limit -= limit % 4
        if first < last:
            stream.seek(max(starts[first], self.mark))
        for number in range(first, last):
            if number % _STEP == 0:
                progress(number, count, "reading lines")
            start = self.mark if number == 0 else starts[number]
            end = starts[number + 1] if number + 1 < count else self.index.size
            data = stream.read(min(end - start, limit))
            if end - start > limit:
                stream.seek(end)
            yield data.decode(self.encoding, "replace").rstrip("\r\n")

    def whole(self, limit: int) -> str | None:
        """Return all lines joined by line feeds.

        Return None if the file has more than `limit` bytes or `LINES_LIMIT` lines. Raise `SourceUnreadable` if it
        cannot be read.
        """
        if self.index.size > limit or self.is_long:
            return None
        return "\n".join(self.lines(limit=max(limit, 4)))


def open_text(path: Path, progress: Progress = silent) -> TextFile:
    """Open the text file at `path` and detect its encoding.

    The encoding is that of the byte-order mark, or else ISO-2022-JP if the file is ASCII with its escape sequences, or
    else UTF-8 if the whole file is valid UTF-8, or else the one that an XML or HTML declaration names, or a guess.
    Raise `SourceUnreadable` if the file cannot be read, or `SourceUnsupported` if it has too many lines for
    `index_lines`.
    """
    reader = _EncodingScan(progress)
    try:
        with path.open("rb") as stream:
            head = stream.read(1024)
            stream.seek(0)
            mark, encoding = next(((m, e) for m, e in BYTE_ORDER_MARKS if head.startswith(m)), (b"", ""))
            reader.decoder = None if encoding else codecs.getincrementaldecoder("utf-8")("strict")
            index = index_lines(reader.chunks(iter(lambda: stream.read(_CHUNK), b"")))
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    return TextFile(path, encoding or reader.encoding(head), len(mark), index)


def encoding_of(path: Path) -> str:
    """Return the encoding that `open_text` detects for a text that is not UTF-8 and has no byte-order mark.

    Raise `SourceUnreadable` if the file cannot be read.
    """
    reader = _EncodingScan(silent, failed=True)
    try:
        with path.open("rb") as stream:
            head = stream.read(1024)
            stream.seek(0)
            while len(reader.sample) < _SAMPLE and (chunk := stream.read(_CHUNK)):
                reader.look_at(chunk)
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    return reader.encoding(head)


@define
class _EncodingScan:
    """Validates chunks of a file as UTF-8, and samples non-ASCII lines to detect other encodings."""

    progress: Progress
    decoder: codecs.IncrementalDecoder | None = None
    failed: bool = False
    seen: int = 0
    sample: bytearray = field(factory=bytearray)
    tail: bytes = b""
    has_escapes: bool = False
    is_ascii: bool = True
    is_first: bool = True

    def chunks(self, source: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in source:
            self.seen += len(chunk)
            self.progress(self.seen, None, "counting lines")
            if self.decoder is not None:
                self._check(chunk)
                self._look_for_escapes(chunk)
            yield chunk
        if self.decoder is not None and not self.failed:
            self._check(b"", final=True)

    def _check(self, chunk: bytes, *, final: bool = False) -> None:
        if not self.failed and self.decoder is not None:
            try:
                self.decoder.decode(chunk, final)
            except UnicodeDecodeError:
                self.failed = True
        self.look_at(chunk)

    def _look_for_escapes(self, chunk: bytes) -> None:
        self.is_ascii = self.is_ascii and chunk.isascii()
        self.has_escapes = self.has_escapes or has_japanese_escapes(self.tail + chunk)
        self.tail = chunk[-2:]

    def look_at(self, chunk: bytes) -> None:
        """Add the non-ASCII lines of `chunk` to the sample, unless it is full.

        Lines at the borders of a chunk may be incomplete, so they are left out: a part of a character would rule out
        its encoding.
        """
        is_first, self.is_first = self.is_first, False
        if len(self.sample) >= _SAMPLE or chunk.isascii():
            return
        lines = _BREAK.split(chunk)
        whole = lines[0 if is_first else 1 : -1 if len(chunk) >= _CHUNK else None]
        for line in whole or lines:
            if len(self.sample) >= _SAMPLE:
                break
            if not line.isascii():
                self.sample += line[:_SAMPLE] + b"\n"

    def encoding(self, head: bytes) -> str:
        if not self.failed:
            return ISO_2022_JP if self.has_escapes and self.is_ascii else "utf-8"
        return _declared(head, bytes(self.sample)) or _guessed(bytes(self.sample))


def has_japanese_escapes(data: bytes) -> bool:
    """Return whether ISO-2022-JP switches to a Japanese character set in `data` (RFC 1468)."""
    return b"\x1b$B" in data or b"\x1b$@" in data


def _declared(head: bytes, sample: bytes) -> str | None:
    declared = _DECLARED.search(head)
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name if declared else ""
        if not name or not _lines_are_bytes(name):
            return None
        shown = sample.decode(name, "replace")
    except (LookupError, UnicodeError):
        return None
    return name if shown.count("\ufffd") * 50 <= len(shown) else None


def _guessed(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    if _looks_western(sample):
        return "cp1252"
    best = from_bytes(sample).best()
    guess = best.encoding if best is not None else "latin-1"
    return guess if _lines_are_bytes(guess) else "latin-1"


def _looks_western(sample: bytes) -> bool:
    """Return whether the bytes are plausible windows-1252: a few accented Western letters among unaccented ones.

    Statistical detection mistakes short Western texts for Central European ones.
    """
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    others = [byte for byte in sample if byte >= 128]
    accented = sum(byte in _WESTERN_LETTERS for byte in others)
    return bool(others) and all(byte in _WESTERN for byte in others) and accented * 3 <= letters


def _lines_are_bytes(encoding: str) -> bool:
    """Return whether `encoding` represents a line feed as the single byte 0x0A, as line counting assumes."""
    try:
        return "a\n".encode(encoding) == b"a\n"
    except (LookupError, UnicodeError):
        return False
