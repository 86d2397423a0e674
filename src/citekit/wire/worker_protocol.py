"""Converts requests to workers, and their results, to and from plain data."""

from __future__ import annotations

import json
import math
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import Options
from citekit.domain.formats import Format, format_named
from citekit.domain.modality import Modality
from citekit.domain.source import Source
from citekit.wire.fast_path import read_options
from citekit.wire.receipts import options_to_plain

if TYPE_CHECKING:
    from citekit.domain.library.books import BookFacts
    from citekit.domain.library.extracted_text import ExtractedText
    from citekit.domain.page_view import PageSize, PageWord, SheetRow
    from citekit.domain.ports.media_probe import MediaFacts
    from citekit.domain.ports.reader import Book
    from citekit.domain.screen_text import ScreenText
    from citekit.domain.speech import Speech, SpeechWindow

MOST_SAMPLES = 60 * 16_000
"""The maximum number of samples of a window of speech."""

PICTURES = frozenset({"image/png", "image/jpeg"})
"""Media types of rendered pictures."""

_T = TypeVar("_T")


def invalid(what: str) -> FaultyAnswer:
    """Return the error for an answer of a worker that is not valid. `what` names the malformed part, such as `the
    picture`.
    """
    advice = "Try again; if this happens again, the file may be damaged."
    return FaultyAnswer("The answer of the worker process is not valid", [f"{what} is malformed. {advice}"])


def plain_source(source: Source) -> dict[str, Any]:
    """Return a source as plain data."""
    return {
        "path": str(source.path),
        "digest": source.digest.hex,
        "size": source.size,
        "format": [source.format.name, source.format.modality.value, source.format.media_type],
    }


def source_from(data: Mapping[str, Any]) -> Source:
    """Convert plain data to a source. The data must be valid."""
    name, modality, media_type = data["format"]
    known = format_named(name)
    format = known if known is not None and known.media_type == media_type else None
    return Source(
        Path(data["path"]),
        Digest(data["digest"]),
        data["size"],
        format or Format(name, Modality(modality), media_type),
    )


def plain_options(options: Options) -> dict[str, Any]:
    """Return extraction options as plain data."""
    return options_to_plain(options)


def options_from(data: Mapping[str, Any]) -> Options:
    """Convert plain data to options. The data must be valid."""
    return read_options(data)


def plain_extracted_text(extracted_text: ExtractedText) -> dict[str, Any]:
    """Return an extracted text as plain data, with its units as three lists."""
    units = extracted_text.units
    return {
        "kind": extracted_text.kind.value,
        "text": extracted_text.text,
        "units": [units.numbers.tolist(), units.starts.tolist(), units.ends.tolist()],
        "sheets": [[each.name, each.before, each.rows, each.columns] for each in extracted_text.sheets],
        "unread": list(extracted_text.unread),
        "recognized": list(extracted_text.recognized),
    }


def extracted_text_from(data: Mapping[str, Any]) -> ExtractedText:
    """Convert plain data to an extracted text. Raise `FaultyAnswer` if it is not valid."""
    from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units

    try:
        numbers, starts, ends = (array("q", each) for each in data["units"])
        kind, text = UnitKind(data["kind"]), data["text"]
        sheets = [SheetRows(str(name), *map(int, rest)) for name, *rest in data["sheets"]]
        unread, recognized = array("q", data["unread"]), array("q", data["recognized"])
    except (TypeError, ValueError, KeyError, OverflowError) as wrong:
        raise invalid("the text") from wrong
    if not isinstance(text, str):
        raise invalid("the text")
    if not _is_in_order(numbers, starts, ends, len(text)):
        raise invalid("the text")
    if kind is UnitKind.ROW and numbers and not any(each.before < numbers[0] for each in sheets):
        raise invalid("the text")
    return ExtractedText(kind, text, Units(numbers, starts, ends), sheets, unread, recognized)


def _is_in_order(numbers: array[int], starts: array[int], ends: array[int], length: int) -> bool:
    """Return whether the lists describe units of a text with `length` characters, in order and without overlap."""
    if not len(numbers) == len(starts) == len(ends):
        return False
    number, end = 1, 0
    for each, first, last in zip(numbers, starts, ends, strict=True):
        if each < number or not end <= first <= last <= length:
            return False
        number, end = each, last
    return True


def text_from(data: object) -> str:
    """Return `data` if it is a string; otherwise, raise `FaultyAnswer`."""
    if not isinstance(data, str):
        raise invalid("the text")
    return data


def texts_from(data: object) -> tuple[str, ...]:
    """Return a list of strings. Raise `FaultyAnswer` for other data."""
    if not isinstance(data, list):
        raise invalid("the list of texts")
    return tuple(text_from(each) for each in data)


def drawn_pages_from(data: object) -> dict[int, str]:
    """Return texts by page number from a list of [number, text]. Raise `FaultyAnswer` for other data."""
    match data:
        case [*pairs]:
            texts = {}
            for pair in pairs:
                match pair:
                    case [int(number), str(text)]:
                        texts[number] = text
                    case _:
                        raise invalid("the list of texts")
            return texts
    raise invalid("the list of texts")


def plain_picture(data: bytes, media_type: str) -> dict[str, Any]:
    """Return a picture as plain data, with its bytes in Base64."""
    return {"media_type": media_type, "data": b64encode(data).decode("ascii")}


def picture_from(data: object) -> tuple[bytes, str]:
    """Return the bytes and the media type of a picture. Raise `FaultyAnswer` for other data and media types not in
    `PICTURES`.
    """
    match data:
        case {"media_type": str(media_type), "data": str(text)} if media_type in PICTURES:
            try:
                return b64decode(text, validate=True), media_type
            except ValueError as wrong:
                raise invalid("the picture") from wrong
    raise invalid("the picture")


def page_sizes_from(data: object) -> list[PageSize]:
    """Return page sizes from a list of [width, height]. Raise `FaultyAnswer` for other data and sizes not above 0."""
    from citekit.domain.page_view import PageSize

    try:
        sizes = [PageSize(*map(_finite, each)) for each in _listed(data)]
    except (TypeError, ValueError) as wrong:
        raise invalid("the list of page sizes") from wrong
    if not all(each.width > 0 and each.height > 0 for each in sizes):
        raise invalid("the list of page sizes")
    return sizes


def page_words_from(data: object) -> list[PageWord]:
    """Return words from a list of [text, corners, line]. Raise `FaultyAnswer` for other data."""
    from citekit.domain.page_view import PageWord

    try:
        words = []
        for text, corners, line in _listed(data):
            left, top, right, bottom = map(_finite, corners)
            words.append(PageWord(text_from(text), (left, top, right, bottom), int(line)))
    except (TypeError, ValueError) as wrong:
        raise invalid("the list of words") from wrong
    return words


def amplitudes_from(data: object) -> list[int]:
    """Return amplitudes from a list of integers from 0 to 255. Raise `FaultyAnswer` for other data."""
    if not isinstance(data, list) or not all(type(each) is int and 0 <= each <= 255 for each in data):
        raise invalid("the waveform")
    return data


def sheet_rows_from(data: object) -> list[SheetRow]:
    """Return rows from a list of [number, [[column, text], ...]]. Raise `FaultyAnswer` for other data."""
    from citekit.domain.page_view import SheetRow

    try:
        return [
            SheetRow(int(number), tuple((int(column), text_from(text)) for column, text in cells))
            for number, cells in _listed(data)
        ]
    except (TypeError, ValueError) as wrong:
        raise invalid("the list of rows") from wrong


def _listed(data: object) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError("must be a list")
    return data


def _finite(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError("must be a finite number")
    return float(value)


def truth_from(data: object) -> bool:
    """Return `data` if it is a Boolean; otherwise, raise `FaultyAnswer`."""
    if not isinstance(data, bool):
        raise invalid("its data")
    return data


def pages_from(data: object) -> list[tuple[str, str]]:
    """Return (label, text) for each page from a list of such pairs. Raise `FaultyAnswer` for other data."""
    if not isinstance(data, list) or not all(isinstance(each, list) and len(each) == 2 for each in data):
        raise invalid("the list of pages")
    return [(text_from(label), text_from(text)) for label, text in data]


def rows_from(data: object) -> list[dict[str, Any]]:
    """Return the rows of a table from a list of objects. Raise `FaultyAnswer` for other data."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise invalid("the list of rows")
    return data


def plain_found(found: Book | MediaFacts | BookFacts | Speech | ScreenText) -> Any:
    """Return the result of a worker as plain data."""
    from citekit.wire.converter import CONVERTER

    return CONVERTER.unstructure(found)


def book_from(data: object) -> Book:
    """Convert plain data to a book. Raise `FaultyAnswer` if it is not valid."""
    from citekit.domain.ports.reader import Book

    return _found(data, Book)


def media_facts_from(data: object) -> MediaFacts:
    """Convert plain data to the metadata of a media file. Raise `FaultyAnswer` if it is not valid."""
    from citekit.domain.ports.media_probe import MediaFacts

    return _found(data, MediaFacts)


def speech_from(data: object) -> Speech:
    """Convert plain data to recognized speech. Raise `FaultyAnswer` if `data` is not valid."""
    from citekit.domain.speech import Speech

    speech = _found(data, Speech)
    times = [time for passage in speech.passages for word in passage.words for time in (word.start, word.end)]
    if not all(passage.words for passage in speech.passages):
        raise invalid("the speech")
    if not all(map(math.isfinite, times)) or any(time < 0 for time in times):
        raise invalid("the speech")
    return speech


def speech_windows_from(data: object) -> list[SpeechWindow]:
    """Return windows of speech from a list of [start in seconds, number of samples].

    Raise `FaultyAnswer` for other data, and for a window without samples or with more than `MOST_SAMPLES`.
    """
    from citekit.domain.speech import SpeechWindow

    try:
        windows = [SpeechWindow(_finite(start), int(_finite(samples))) for start, samples in _listed(data)]
    except (TypeError, ValueError) as wrong:
        raise invalid("the list of times") from wrong
    if not all(each.start >= 0 and 0 < each.samples <= MOST_SAMPLES for each in windows):
        raise invalid("the list of times")
    return windows


def screen_text_from(data: object) -> ScreenText:
    """Convert plain data to the text that a video shows. Raise `FaultyAnswer` if it is not valid."""
    from citekit.domain.screen_text import ScreenText

    found = _found(data, ScreenText)
    spans = [(line.start, line.end) for slide in found.slides for line in slide.lines]
    spans += [(slide.start, slide.end) for slide in found.slides]
    if not all(slide.lines for slide in found.slides):
        raise invalid("the text on the screen")
    if not all(math.isfinite(end) and 0 <= start < end for start, end in spans):
        raise invalid("the text on the screen")
    return found


def book_facts_from(data: object) -> BookFacts:
    """Convert plain data to the metadata of a book. Raise `FaultyAnswer` if it is not valid."""
    from citekit.domain.library.books import BookFacts

    return _found(data, BookFacts)


def _found(data: object, kind: type[_T]) -> _T:
    from citekit.wire.converter import structure

    try:
        found: _T = structure(data, kind, kind.__name__)
    except FaultyAnswer as wrong:
        raise invalid("its data") from wrong
    return found


def as_message(data: Mapping[str, Any]) -> bytes:
    """Encode a message between processes as JSON in ASCII, which represents any text."""
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def message_from(data: bytes) -> dict[str, Any]:
    """Decode a message between processes. Raise `FaultyAnswer` if it is not a JSON object."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as wrong:
        raise FaultyAnswer("A message between processes is not valid", [f"it is not JSON: {wrong}"]) from wrong
    if not isinstance(found, dict):
        raise FaultyAnswer("A message between processes is not valid", ["it is not a JSON object"])
    return found
