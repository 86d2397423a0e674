"""The written forms of requests to workers, and of their results."""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import Format, called
from citekit.domain.modality import Modality
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.domain.library.books import BookFacts
    from citekit.domain.library.extracted_text import ExtractedText
    from citekit.domain.ports.media_probe import MediaFacts
    from citekit.domain.ports.reader import Book

CAUSE_LIMIT = 300
"""The most characters of the reason why something is faulty."""

PICTURES = frozenset({"image/png", "image/jpeg"})
"""What pictures are drawn as."""

_T = TypeVar("_T")


def plain_source(source: Source) -> dict[str, Any]:
    """A source as plain data."""
    return {
        "path": str(source.path),
        "digest": source.digest.hex,
        "size": source.size,
        "format": [source.format.name, source.format.modality.value, source.format.media_type],
    }


def source_from(data: Mapping[str, Any]) -> Source:
    """The source that `data` means."""
    name, modality, media_type = data["format"]
    known = called(name)
    format = known if known is not None and known.media_type == media_type else None
    return Source(
        Path(data["path"]),
        Digest(data["digest"]),
        data["size"],
        format or Format(name, Modality(modality), media_type),
    )


def plain_options(options: Options) -> dict[str, Any]:
    """Options as plain data."""
    return {"form": options.form.value, "accurate": options.accurate}


def options_from(data: Mapping[str, Any]) -> Options:
    """The options that `data` means."""
    return Options(Form(data["form"]), data["accurate"])


def plain_extracted_text(extracted_text: ExtractedText) -> dict[str, Any]:
    """A extracted_text as plain data, the units as three lists of numbers."""
    units = extracted_text.units
    return {
        "kind": extracted_text.kind.value,
        "text": extracted_text.text,
        "units": [units.numbers.tolist(), units.starts.tolist(), units.ends.tolist()],
        "sheets": [[each.name, each.before, each.rows, each.columns] for each in extracted_text.sheets],
        "unread": list(extracted_text.unread),
    }


def extracted_text_from(data: Mapping[str, Any]) -> ExtractedText:
    """The extracted_text that `data` means. Raises `FaultyAnswer`."""
    from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units

    try:
        numbers, starts, ends = (array("q", each) for each in data["units"])
        kind, text = UnitKind(data["kind"]), data["text"]
        sheets = [SheetRows(str(name), *map(int, rest)) for name, *rest in data["sheets"]]
        unread = array("q", data["unread"])
    except (TypeError, ValueError, KeyError, OverflowError) as wrong:
        raise FaultyAnswer("extracted text", [f"$: {wrong}"[:CAUSE_LIMIT]]) from wrong
    if not isinstance(text, str):
        raise FaultyAnswer("extracted text", ["text: is not a text"])
    if not _is_in_order(numbers, starts, ends, len(text)):
        raise FaultyAnswer("extracted text", ["units: do not lie in the text, one behind the other"])
    if kind is UnitKind.ROW and numbers and not any(each.before < numbers[0] for each in sheets):
        raise FaultyAnswer("extracted text", ["sheets: do not hold the units"])
    return ExtractedText(kind, text, Units(numbers, starts, ends), sheets, unread)


def _is_in_order(numbers: array[int], starts: array[int], ends: array[int], length: int) -> bool:
    """Whether these are units of a text of that length: see `ExtractedText`."""
    if not len(numbers) == len(starts) == len(ends):
        return False
    number, end = 1, 0
    for each, first, last in zip(numbers, starts, ends, strict=True):
        if each < number or not end <= first <= last <= length:
            return False
        number, end = each, last
    return True


def text_from(data: object) -> str:
    """The text that `data` is. Raises `FaultyAnswer`."""
    if not isinstance(data, str):
        raise FaultyAnswer("text", ["$: is not a text"])
    return data


def texts_from(data: object) -> tuple[str, ...]:
    """The texts that `data` are. Raises `FaultyAnswer`."""
    if not isinstance(data, list):
        raise FaultyAnswer("texts", ["$: is not a list"])
    return tuple(text_from(each) for each in data)


def plain_picture(data: bytes, media_type: str) -> dict[str, Any]:
    """A picture as plain data."""
    return {"media_type": media_type, "data": b64encode(data).decode("ascii")}


def picture_from(data: object) -> tuple[bytes, str]:
    """The bytes of a picture, and its media type, one of `PICTURES`. Raises `FaultyAnswer`."""
    match data:
        case {"media_type": str(media_type), "data": str(text)} if media_type in PICTURES:
            try:
                return b64decode(text, validate=True), media_type
            except ValueError as wrong:
                raise FaultyAnswer("picture", [f"data: {wrong}"[:CAUSE_LIMIT]]) from wrong
    raise FaultyAnswer("picture", ["$: is not a picture"])


def truth_from(data: object) -> bool:
    """The answer to whether something is so. Raises `FaultyAnswer`."""
    if not isinstance(data, bool):
        raise FaultyAnswer("answer", ["$: is neither true nor false"])
    return data


def pages_from(data: object) -> list[tuple[str, str]]:
    """The pages of a document: label and text of each. Raises `FaultyAnswer`."""
    if not isinstance(data, list) or not all(isinstance(each, list) and len(each) == 2 for each in data):
        raise FaultyAnswer("pages", ["$: is not a list of pairs"])
    return [(text_from(label), text_from(text)) for label, text in data]


def rows_from(data: object) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns, values as JSON has them. Raises `FaultyAnswer`."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise FaultyAnswer("rows", ["$: is not a list of rows"])
    return data


def plain_found(found: Book | MediaFacts | BookFacts) -> Any:
    """A book, or the facts of a recording or book, as plain data."""
    from citekit.wire.converter import CONVERTER

    return CONVERTER.unstructure(found)


def book_from(data: object) -> Book:
    """The book that `data` means. Raises `FaultyAnswer`."""
    from citekit.domain.ports.reader import Book

    return _found(data, Book)


def media_facts_from(data: object) -> MediaFacts:
    """The facts that `data` mean. Raises `FaultyAnswer`."""
    from citekit.domain.ports.media_probe import MediaFacts

    return _found(data, MediaFacts)


def book_facts_from(data: object) -> BookFacts:
    """The facts that `data` mean. Raises `FaultyAnswer`."""
    from citekit.domain.library.books import BookFacts

    return _found(data, BookFacts)


def _found(data: object, kind: type[_T]) -> _T:
    from citekit.wire.converter import structure

    found: _T = structure(data, kind, kind.__name__)
    return found


def as_message(data: Mapping[str, Any]) -> bytes:
    """A message between processes: JSON in ASCII, so that any text of a file gets through."""
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def message_from(data: bytes) -> dict[str, Any]:
    """The message in those bytes. Raises `FaultyAnswer`."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as wrong:
        raise FaultyAnswer("message", [f"$: not JSON: {wrong}"]) from wrong
    if not isinstance(found, dict):
        raise FaultyAnswer("message", ["$: a message is a JSON object"])
    return found
