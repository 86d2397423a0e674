"""Valid examples of what comes from outside, or nearly valid ones: what fuzzing begins with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, ExtractorIdentity, Form, Options, Receipt
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

PLACES: tuple[Location, ...] = (
    Pages((1, 2, 5)), Pages((3,), Box(0.1, 0.2, 0.9, 0.4)), Lines(1, 9), TimeSpan(1.5, 20.25, Modality.VIDEO),
    TimeSpan(0, None, Modality.AUDIO), Box(0, 0, 1, 1), Chapter(7, (120, 980)), Chapter(2, last=4), Virtual("virtual://any"),
    Cells("Q1 Plan", (1, 2), (30, 4)),
)  # fmt: skip


def example_map(place: Location, title: str = "Überschrift 中") -> ResourceMap:
    """A map of two nodes."""
    child = Node("one.two", "Two", "section", place, "A summary.")
    return ResourceMap(
        resource_id="notes",
        modality=place.modality,
        title=title,
        source_path="/somewhere/notes.txt",
        nodes=(Node("one", "One", "section", place, None, (child,)),),
        created_at=datetime(2025, 1, 1, tzinfo=UTC),
        metadata={"source_hash": "0" * 64, "source_size": 5, "mapper": {"name": "local", "version": "1"}},
    )


def example_receipt(place: Location) -> Receipt:
    """A receipt of nothing in particular."""
    nothing = Digest("0" * 64)
    return Receipt(
        key=EvidenceKey(nothing), source_digest=nothing, source_path="/somewhere/notes.txt", source_size=5,
        resource_id="notes", location=place, extractor=ExtractorIdentity("cut", "1"), options=Options(Form.NATIVE, True),
        evidence_digest=nothing, evidence_size=3, media_type="text/plain", extent=place, bytes_from=1.5, notes=("a note",),
        created=datetime(2025, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def _json(data: object) -> bytes:
    return json.dumps(data).encode()


def _maps() -> tuple[bytes, ...]:
    from citekit.wire.maps import to_json, to_plain_map

    old = {
        "resource_id": "old", "type": "pdf", "metadata": {"title": "Old"}, "source_path": "a.pdf", "nodes": [
            {"id": "a", "title": "A", "context": "said", "pages": [1, 2], "location": None, "children": None}
        ],
    }  # fmt: skip
    odd = to_plain_map(example_map(Lines(1, 2), "\ud800\udfff \x00\u202e"))
    return (*(to_json(example_map(place)).encode() for place in PLACES), _json(old), _json(odd))


def _receipts() -> tuple[bytes, ...]:
    from citekit.wire.receipts import to_plain

    return tuple(_json(to_plain(example_receipt(place))) for place in PLACES)


_SRT = b"1\n00:00:01,000 --> 00:00:03,000\n<i>Hello</i> there.\n\n2\n00:00:20,000 --> 00:00:22,000\nGoodbye.\n"
_VTT = b"WEBVTT\n\nNOTE x\n\nid\n00:01.000 --> 00:03.000 align:start\nHello <c.x>there</c> &amp; {\\an8}you\n"
_ASS = b"[Script Info]\n[Events]\nFormat: Layer, Start, End, Text\nDialogue: 0,0:00:01.00,0:00:03.50,{\\b1}Hi\\Nthere, you\n"
_LRC = b"[ar:X]\n[offset:+500]\n[00:12.00][00:40.10]Line <00:13.00>one\n[00:17.20]\n00:20 Two\n"

_GUARDIAN = (
    b"---\nalexandria:\n  id: zec\n  name: Zec\n  title: The Hare\n  emoji: x\n  specialties: [a, b]\n  quirks:\n    - c\n"
    b"  personality_prompt: |\n    You are quick.\n---\n# Zec: the hare\n\n**Bold line**\n"
)
_PATTERN = {
    "reading": [{"id": "compare", "name": "C", "template": "Compare {x}", "temperature": 0.3, "max_temperature": 1, "min_sources": 2}]
}  # fmt: skip


def _messages() -> tuple[bytes, ...]:
    from citekit.domain.library.books import BookFacts
    from citekit.domain.ports.media_probe import Cue, MediaFacts
    from citekit.domain.ports.reader import Book, BookChapter, Heading, Landmark, Mark
    from citekit.wire.maps import to_plain_map
    from citekit.wire.worker_protocol import plain_found

    cue = Cue(0.0, 1.5, "x")
    facts = MediaFacts(
        duration=3.5, declared=4.0, container="mp4", video_codec="h264", audio_codec=None, size=(4, 3), frame_rate=25.0,
        chapters=[cue], subtitles=[cue], tags={"title": "T"},
    )  # fmt: skip
    chapter = BookChapter(number=1, name="a.xhtml", text="Some text.", marks=[Mark("heading", "Some", 0, 4, 1)])
    book = Book(
        title="T", authors=["A"], language="en", identifier=None, chapters=[chapter], contents=[Heading(1, "Some", 1, 0)],
        landmarks=[Landmark("toc", 1, 0)], remarks=["x"],
    )  # fmt: skip
    done: tuple[Any, ...] = (
        {"kind": "page", "text": "ab", "units": [[1], [0], [2]]},
        {"pages": 3, "lines": 4, "seconds": 1.5, "size": [3, 4], "chapters": [1, 2], "sheets": [["a", 1, 2]]},
        {"suffix": ".txt", "media_type": "text/plain", "extent": {"modality": "text", "lines": [1, 2]}, "notes": ["x"]},
        plain_found(book),
        plain_found(facts),
        plain_found(BookFacts(title="T", authors=("A",), language="en", identifiers={"isbn": "1"})),
        ["a chapter", "another"],
        "<p>html</p>",
        to_plain_map(example_map(Pages((1, 2)))),
    )
    return (
        *(_json({"done": each}) for each in done),
        _json({"failed": {"error": "ExtractionFailed", "text": "no", "cause": "x"}}),
        _json({"failed": {"error": "FaultyAnswer", "what": "map", "faults": ["a: b"]}}),
        _json({"broken": "Traceback"}),
        _json({"short": "it takes too much"}),
        _json({"progress": [1, 2, "x"]}) + b"\n" + _json({"done": done[-1]}),
        _json({"progress": [1, None, ""]}) + b"\n" + _json({"progress": "ab"}),
    )


_ADDRESSES = (
    b"doc://book#pages=3,5-7", b"doc://book#pages=12&bbox=0.1,0.2,0.9,0.4", b"video://lecture#t=145.5-200",
    b"audio://talk#t=npt:1:02:03.5,", b"image://d#xywh=percent:1,2,3,4", b"text://utils_py#lines=10-50", b"virtual://anything",
    b"doc://a%2Fb#chapter=7&chars=120-980", b"doc://b#chapter=2-4", b"doc://b#sheet='Q1 Plan'&cells=A1:D30",
    b"doc://book#page=3", b"video://l#t=,20", b"image://d#bbox=0,0,1,1",
)  # fmt: skip
_STANDARDS = (
    b"\0epubcfi(/6/4!/4)", b"\0epubcfi(/6/4)", b"\0epubcfi(/6/4!/4,/2:3,/4:1)", b"\1pct:1,2,3,4/max/0/default.jpg", b"\2t=145,200",
    b"\2xywh=percent:1,2,3,4", b"\3page=12&viewrect=1,2,3,4", b"\4line=9,20", b"\4char=1,2;md5=ab", b"\4line=,3;length=7,UTF-8",
)  # fmt: skip
_ANNOTATION = {
    "type": "FragmentSelector", "conformsTo": "http://tools.ietf.org/rfc/rfc3778", "value": "page=3",
}  # fmt: skip
_POSITION = {"type": "TextPositionSelector", "start": 1, "end": 4}
_SETTINGS = (
    b"CITEKIT_CACHE_LIMIT=10G", b"CITEKIT_CONCURRENCY=4", b"CITEKIT_ROOTS=/a:/b", b"CITEKIT_BASE_URL=http://u:p@h:1/",
    b"QDRANT_PORT=6333", b"CITEKIT_HOME=~nobody/x", b"CITEKIT_TOOLS=citekit,alexandria", b"CITEKIT_EMBEDDER=onnx:/x",
    b"QDRANT_URL=http://localhost:6333", b"CITEKIT_PASSWORD_FILE=/nowhere/x", b"CITEKIT_PARSER_TIMEOUT=300",
)  # fmt: skip


def examples() -> Mapping[str, tuple[bytes, ...]]:
    """Of every target what it reads."""
    return {
        "address": _ADDRESSES,
        "standards": _STANDARDS,
        "annotation": (_json(_ANNOTATION), _json({**_ANNOTATION, "refinedBy": _POSITION}), b'"epubcfi(/6/4!/4/2:3)"'),
        "map": _maps(),
        "loose-map": _maps(),
        "receipt": _receipts(),
        "subtitles": (b"\1" + _SRT, b"\0" + _VTT, b"\2" + _ASS, b"\4" + _LRC, b"\5" + _LRC),
        "guardian": (_GUARDIAN,),
        "patterns": (_json(_PATTERN),),
        "quote": (b"office of the cooperation", "... went “back”".encode(), b"closed [...] back", b"Zagreb. It was"),
        "words": (b"office", b'"chapter 1" OR NEAR(x*)', "čaj".encode()),
        "setting": _SETTINGS,
        "message": _messages(),
        "answer": _messages(),
    }
