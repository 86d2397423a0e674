"""Extracts lines of a text file byte for byte, or as UTF-8."""

from __future__ import annotations

import codecs
import os
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from citekit.adapters.formats.shared.text_file import BYTE_ORDER_MARKS, encoding_of, has_japanese_escapes, open_text
from citekit.adapters.system.file_state import COARSE, FileState
from citekit.adapters.system.files import open_for_reading, unreadable, writing
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import ACTIVE_CONTENT, FRAMED, Format
from citekit.domain.line_index import LineMarks, Read
from citekit.domain.locations import Lines, Location
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

INDEX_LIMIT = 16 << 20
"""The number of bytes of cached line positions above which the least recently used are evicted."""

RACY = COARSE
"""Seconds within which a file can change without a new modification time (FAT rounds to two seconds)."""

_CHUNK = 1 << 20
_FORMS = (Form.NATIVE, Form.TEXT, Form.SOURCE)
_NO_MARK = "The lines are encoded in {encoding}, as in the source, but without the byte-order mark of the source."
_ESCAPED = "The source contains escape sequences of {encoding}, so it was decoded with this encoding."
_GUESSED = "The source is not valid UTF-8; its encoding was detected as {encoding}."
_REPLACED = (
    "The text contains the replacement character (U+FFFD). It replaces bytes that are not valid in {encoding}, or is already "
    "in the source."
)


class TextExtractor:
    """An extractor of line ranges from text files. It is thread-safe.

    The native and source forms contain exactly the bytes of the lines. The text form contains the same lines in UTF-8
    without a byte-order mark.
    """

    identity = ExtractorIdentity("text", "2")

    def __init__(self) -> None:
        self._known: OrderedDict[Digest, tuple[FileState, LineMarks]] = OrderedDict()
        self._lock = Lock()

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return NATIVE and SOURCE (unchanged bytes) and TEXT (UTF-8) for lines of text, and no forms for other
        locations.

        Other extractors provide the native form of HTML and XML, which browsers execute, and of formats in which lines
        alone are not a valid file.
        """
        if format.modality is not Modality.TEXT or not isinstance(location, Lines):
            return ()
        return _FORMS[1:] if format.name in ACTIVE_CONTENT | FRAMED else _FORMS

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. Also raise `SourceUnreadable` if the file cannot be opened."""
        if not isinstance(location, Lines) or options.form not in _FORMS:
            raise FormUnsupported(
                f"Lines of text are available in the forms native, source, and text, but not {options.form.value}."
            )
        try:
            stream = open_for_reading(source.path)
        except OSError as error:
            raise unreadable(error, source.path) from error
        with stream:
            start, end = self._marks(source, stream).byte_range(location, _reading(source, stream, progress))
            mark, encoding = _mark(stream)
            if options.form is not Form.TEXT:
                return _native(location, _pieces(stream, start, end), target, start and mark and encoding)
            start = max(start, mark)
            encoding, notes = (encoding, ()) if mark else _encoding(source, stream, start, end)
            return _decoded(location, _pieces(stream, start, end), target, encoding or "utf-8", notes)

    def _marks(self, source: Source, stream: BinaryIO) -> LineMarks:
        """Return the line positions of this version of the file, cached unless the file may still change unnoticed."""
        state = FileState.of(os.fstat(stream.fileno()))
        now = time.time()
        with self._lock:
            known = self._known.get(source.digest)
            if known is not None and known[0] == state:
                self._known.move_to_end(source.digest)
                return known[1]
            marks = LineMarks()
            if state.is_settled(now, RACY, now):
                self._known[source.digest] = state, marks
                while len(self._known) > 1 and sum(each.weight for _, each in self._known.values()) > INDEX_LIMIT:
                    self._known.popitem(last=False)
        return marks


def _reading(source: Source, stream: BinaryIO, progress: Progress) -> Read:
    """Return a function that reads blocks of `stream` and reports progress while lines are counted."""
    reported = -1

    def read(offset: int, size: int, *, counting: bool) -> bytes:
        nonlocal reported
        if counting and offset // _CHUNK > reported:
            reported = offset // _CHUNK
            progress(offset, source.size, "counting lines")
        stream.seek(offset)
        return _read(stream, size)

    return read


def _read(stream: BinaryIO, size: int) -> bytes:
    try:
        return stream.read(size)
    except OSError as error:
        raise ExtractionFailed(f"The source file cannot be read: {error.strerror or error}.") from error


def _pieces(stream: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    stream.seek(start)
    while start < end:
        piece = _read(stream, min(_CHUNK, end - start))
        if not piece:
            raise ExtractionFailed(
                "The source file became shorter while it was being read. Try again when it no longer changes."
            )
        start += len(piece)
        yield piece


def _mark(stream: BinaryIO) -> tuple[int, str]:
    """Return the length in bytes and the encoding of the file's byte-order mark; (0, "") if there is none."""
    stream.seek(0)
    head = _read(stream, 4)
    return next(((len(mark), encoding) for mark, encoding in BYTE_ORDER_MARKS if head.startswith(mark)), (0, ""))


def _native(location: Lines, pieces: Iterator[bytes], target: Path, unmarked: int | str) -> Extraction:
    with writing(target), target.open("xb") as out:
        out.writelines(pieces)
    notes = (_NO_MARK.format(encoding=str(unmarked).upper()),) if unmarked and unmarked != "utf-8" else ()
    return Extraction(suffix="", media_type="", extent=location, notes=notes)  # same type as the source


def _decoded(
    location: Lines, pieces: Iterator[bytes], target: Path, encoding: str, notes: tuple[str, ...]
) -> Extraction:
    replaced = False
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    with writing(target), target.open("xb") as out:
        for piece in pieces:
            text = decoder.decode(piece)
            replaced = replaced or "\ufffd" in text
            out.write(text.encode("utf-8", "replace"))
        rest = decoder.decode(b"", final=True)
        out.write(rest.encode("utf-8", "replace"))
    if replaced or "\ufffd" in rest:
        notes = (*notes, _REPLACED.format(encoding=encoding.upper()))
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)


def _encoding(source: Source, stream: BinaryIO, start: int, end: int) -> tuple[str, tuple[str, ...]]:
    """Return the encoding of a text without a byte-order mark, and notes about it.

    The encoding is UTF-8 if the extracted bytes are valid UTF-8 without escape sequences, else the one that the map
    reports.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    has_escapes, tail = False, b""
    try:
        for piece in _pieces(stream, start, end):
            decoder.decode(piece)
            has_escapes, tail = has_escapes or has_japanese_escapes(tail + piece), piece[-2:]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        guess = encoding_of(source.path)
        # a declaration can name UTF-8 for a text with a few invalid bytes, about which `_REPLACED` says enough
        return guess, () if guess == "utf-8" else (_GUESSED.format(encoding=guess.upper()),)
    encoding = open_text(source.path).encoding if has_escapes else "utf-8"
    return encoding, () if encoding == "utf-8" else (_ESCAPED.format(encoding=encoding.upper()),)
