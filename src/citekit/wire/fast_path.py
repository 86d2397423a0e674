"""Reads locations, maps, receipts, and extractions in exactly the form that CiteKit stores, without importing cattrs.

The converter reads other data, and reports the reason if it is invalid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import EvidenceKey, Extraction, ExtractorIdentity, Form, Options, Receipt, SectionTitles
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire.finite import check_numbers
from citekit.wire.legacy_forms import DEPTH_LIMIT
from citekit.wire.timestamps import parse_timestamp

MODALITIES = {modality.value: modality for modality in Modality}


class UnusualError(Exception):
    """Raised for data that is not exactly in the form that CiteKit stores. The converter may be able to read it."""


NOT_WELL_FORMED = (UnusualError, CiteKitError, ValueError, TypeError, LookupError, ArithmeticError)
"""The exceptions that reading raises if anything is unusual or wrong."""


def read_location(data: Any) -> Location:
    """Convert plain data in the stored form to a location. Raise one of `NOT_WELL_FORMED` for other data."""
    if type(data) is not dict:
        raise UnusualError
    return _LOCATIONS[data["modality"], len(data)](data)


def _lines(data: dict[str, Any]) -> Lines:
    lines = data["lines"]
    if type(lines) is not list:
        raise UnusualError
    first, last = lines
    return Lines(first, last)  # the constructor checks for whole numbers


def _pages(data: dict[str, Any]) -> Pages:
    return Pages(tuple(_wholes(data["pages"])))


def _region(data: dict[str, Any]) -> Pages:
    return Pages(tuple(_wholes(data["pages"])), _box(data))


def _chapter(data: dict[str, Any]) -> Chapter:
    value = data["chapter"]
    if type(value) is int:
        return Chapter(value)
    first, last = _wholes(value)
    return Chapter(first, last=last)


def _characters(data: dict[str, Any]) -> Chapter:
    start, end = _wholes(data["chars"])
    return Chapter(_wholes([data["chapter"]])[0], (start, end))


def _document(data: dict[str, Any]) -> Location:
    return _pages(data) if "pages" in data else _chapter(data) if "chapter" in data else Cells(text(data["sheet"]))


def _part_of_document(data: dict[str, Any]) -> Location:
    if "sheet" in data:
        return Cells.read(text(data["sheet"]), text(data["cells"]))
    return _region(data) if "pages" in data else _characters(data)


def _open_span(data: dict[str, Any]) -> TimeSpan:
    return TimeSpan(number(data["start"]), None, MODALITIES[data["modality"]])


def _span(data: dict[str, Any]) -> TimeSpan:
    return TimeSpan(number(data["start"]), number(data["end"]), MODALITIES[data["modality"]])


def _box(data: dict[str, Any]) -> Box:
    corners = data["bbox"]
    if type(corners) is not list:
        raise UnusualError
    left, top, right, bottom = map(number, corners)
    return Box(left, top, right, bottom)


def _virtual(data: dict[str, Any]) -> Virtual:
    return Virtual(text(data["virtual_address"]))


_LOCATIONS: dict[tuple[str, int], Callable[[dict[str, Any]], Location]] = {
    ("document", 2): _document,
    ("document", 3): _part_of_document,
    ("text", 2): _lines,
    ("video", 2): _open_span,
    ("video", 3): _span,
    ("audio", 2): _open_span,
    ("audio", 3): _span,
    ("image", 2): _box,
    ("virtual", 2): _virtual,
}
"""Readers by the modality and the number of fields of a stored location."""


def text(value: Any) -> str:
    """Return `value` if it is a string; otherwise, raise `UnusualError`."""
    if type(value) is not str:
        raise UnusualError
    return value


def number(value: Any) -> float:
    """Return `value` if it is a number, even infinity or NaN; otherwise, raise `UnusualError`."""
    if type(value) is not float and type(value) is not int:
        raise UnusualError
    return value


def _wholes(values: Any) -> list[int]:
    if type(values) is not list:
        raise UnusualError
    for value in values:
        if type(value) is not int:
            raise UnusualError
    return values


def read_map(data: Mapping[str, Any]) -> ResourceMap | None:
    """Convert plain data in the stored form to a map. Return None for other data."""
    try:
        metadata = data["metadata"]
        if type(metadata) is not dict:
            return None
        check_numbers(metadata)
        return ResourceMap(
            resource_id=text(data["resource_id"]),
            modality=MODALITIES[data["type"]],
            title=text(data["title"]),
            source_path=text(data["source_path"]),
            nodes=_nodes(data["nodes"], DEPTH_LIMIT),
            created_at=parse_timestamp(text(data["created_at"])),
            metadata={key: value for key, value in metadata.items() if key != "map_version"},
        )
    except NOT_WELL_FORMED:
        return None


def _nodes(data: Any, levels: int) -> tuple[Node, ...]:
    if type(data) is not list:
        raise UnusualError
    return tuple([_node(each, levels) for each in data]) if data else ()


def _node(data: Any, levels: int) -> Node:
    if type(data) is not dict or not levels:
        raise UnusualError
    name, title, kind, summary = data["id"], data["title"], data["type"], data.get("summary")
    if not (type(name) is type(title) is type(kind) is str and (type(summary) is str or "summary" not in data)):
        raise UnusualError
    if summary is None and "context" in data:
        raise UnusualError
    return Node(name, title, kind, read_location(data["location"]), summary, _nodes(data["children"], levels - 1))


_FORMS = {form.value: form for form in Form}


def read_receipt(data: Mapping[str, Any]) -> Receipt | None:
    """Convert plain data in the stored form to a receipt. Return None for other data."""
    try:
        extractor, options = data["extractor"], data["options"]
        return Receipt(
            key=EvidenceKey(Digest(text(data["key"]))),
            source_digest=Digest(text(data["source_digest"])),
            source_path=text(data["source_path"]),
            source_size=_whole(data["source_size"]),
            resource_id=text(data["resource_id"]),
            location=read_location(data["location"]),
            extractor=ExtractorIdentity(text(extractor["name"]), text(extractor["version"])),
            options=read_options(options),
            evidence_digest=Digest(text(data["evidence_digest"])),
            evidence_size=_whole(data["evidence_size"]),
            media_type=text(data["media_type"]),
            extent=read_location(data["extent"]),
            bytes_from=_seconds(data),
            notes=_notes(data),
            created=parse_timestamp(text(data["created"])),
        )
    except NOT_WELL_FORMED:
        return None


def read_options(data: Mapping[str, Any]) -> Options:
    """Convert plain data to extraction options. Raise one of `NOT_WELL_FORMED` for invalid data."""
    section = None
    if "section" in data:
        titles = data["section"]
        following = titles["following"]
        if type(following) is not list:
            raise UnusualError
        section = SectionTitles(text(titles["title"]), map(text, following), _truth(titles["is_shared"]))
    return Options(_FORMS[data["form"]], _truth(data["accurate"]), section)


def read_extraction(data: Any) -> Extraction | None:
    """Convert plain data in the stored form to an extraction. Return None for other data."""
    try:
        return Extraction(
            suffix=text(data["suffix"]),
            media_type=text(data["media_type"]),
            extent=read_location(data["extent"]),
            bytes_from=_seconds(data),
            notes=_notes(data),
        )
    except NOT_WELL_FORMED:
        return None


def _seconds(data: Mapping[str, Any]) -> float | None:
    if "bytes_from" not in data:
        return None
    seconds = float(number(data["bytes_from"])) + 0.0
    if not math.isfinite(seconds):
        raise UnusualError
    return seconds


def _notes(data: Mapping[str, Any]) -> tuple[str, ...]:
    notes = data.get("notes", [])
    if type(notes) is not list:
        raise UnusualError
    return tuple(text(note) for note in notes)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise UnusualError
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise UnusualError
    return value
