"""What reads texts and data from outside, each with the law that holds for any bytes, and valid examples.

A law gives True where the bytes meant something, and False where they were refused by one of our errors; anything else that
is raised breaks it. What was read must survive being written and read again.
"""

from __future__ import annotations

import io
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from citekit.domain.address import parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import EvidenceKey, ExtractorIdentity, Form, Options, Receipt
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

LONGEST_ERROR = 5000
"""Characters of the longest text of an error."""


@frozen
class Target:
    """`read` gives what it made of the bytes, or raises one of our errors; `seeds` are valid, or nearly."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]

    def law(self, data: bytes) -> bool:
        """Whether `data` meant something. Raises anything but a `CiteKitError` where the law is broken."""
        try:
            self.read(data)
        except CiteKitError as error:
            said = str(error)
            assert 0 < len(said) <= LONGEST_ERROR, f"an error of {len(said)} characters"
            return False
        return True


def text_of(data: bytes) -> str:
    """The text that a program gets to see: what is no UTF-8 becomes lone surrogates, as in arguments and file names."""
    return data.decode("utf-8", "surrogateescape")


def _same(expected: object, actual: object) -> None:
    assert expected == actual, f"{expected!r} became {actual!r}"[:2000]


def _address(data: bytes) -> None:
    found = parse_address(text_of(data))
    _same(found, parse_address(str(found)))
    _same(str(found), str(parse_address(str(found))))


def _standards(data: bytes) -> None:
    from citekit.domain.exchange import epub_cfi, iiif, media_fragments, pdf_open, rfc5147

    kind, text = data[:1], text_of(data[1:])
    one_of: tuple[Callable[[], Location], ...] = (
        lambda: _back(epub_cfi.from_epub_cfi, epub_cfi.to_epub_cfi, text),
        lambda: _back(iiif.from_iiif, iiif.to_iiif, text),
        lambda: _back(
            lambda given: media_fragments.from_media_fragment(given, Modality.VIDEO), media_fragments.to_media_fragment, text
        ),
        lambda: _back(lambda given: pdf_open.from_pdf_open(given, (612.0, 792.0)), _to_pdf, text),
        lambda: _back(rfc5147.from_rfc5147, rfc5147.to_rfc5147, text),
    )  # fmt: skip
    one_of[(kind or b"0")[0] % len(one_of)]()


def _to_pdf(location: Location) -> str:
    from citekit.domain.exchange.pdf_open import to_pdf_open

    return to_pdf_open(location, (612.0, 792.0))


def _back(read: Callable[[str], Any], write: Callable[[Any], str], text: str) -> Any:
    """What `text` means; what is written of it is written again of what that means."""
    found = read(text)
    try:
        written = write(found)
    except CiteKitError:
        return found  # the standard has no word for it
    _same(written, write(read(written)))
    return found


def _annotation(data: bytes) -> None:
    from citekit.domain.exchange.web_annotation import from_web_annotation
    from citekit.wire.maps import plain_from_json

    plain = plain_from_json(text_of(data), "annotation")
    if isinstance(plain, dict | list | str):
        from_web_annotation(plain, Modality.DOCUMENT)  # type: ignore[arg-type]


def _map(data: bytes) -> None:
    from citekit.wire.locations import BoxOrder
    from citekit.wire.maps import from_json, to_json

    order = BoxOrder.SIZE if data[:1] == b" " else BoxOrder.CORNERS
    found = from_json(text_of(data), "map", order)
    written = to_json(found)
    _same(found, from_json(written, "map"))
    _same(written, to_json(from_json(written, "map")))


def _loose_map(data: bytes) -> None:
    from citekit.domain.soundness import check
    from citekit.wire.loose_maps import loosely
    from citekit.wire.maps import from_plain_map, plain_from_json

    plain = plain_from_json(text_of(data), "map")
    try:
        strict = from_plain_map(plain, "map")
    except CiteKitError:
        strict = None
    loose = loosely(plain, "map")
    if strict is not None and loose.is_whole:
        _same(strict, evolve(loose.head, nodes=loose.nodes))
    assert check


def _receipt(data: bytes) -> None:
    from citekit.wire.receipts import from_json, to_plain

    found = from_json(text_of(data), "receipt")
    _same(found, from_json(json.dumps(to_plain(found), allow_nan=False), "receipt"))


@cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="citekit-fuzz-"))


def _subtitles(data: bytes) -> object:
    from citekit.adapters.mapping.local.media.subtitles import SUFFIXES, read_cues

    path = _scratch() / f"cues{SUFFIXES[(data[:1] or b'0')[0] % len(SUFFIXES)]}"
    path.write_bytes(data[1:])
    cues = read_cues(path, 60.0)
    for cue in cues:
        assert cue.end > cue.start, cue
        assert cue.start >= 0, cue
        assert math.isfinite(cue.end), cue
        assert cue.text, cue
    _same([cue.start for cue in cues], sorted(cue.start for cue in cues))
    return cues


def _guardian(data: bytes) -> object:
    from citekit.adapters.personas.guardian_file import read_guardian

    return read_guardian(text_of(data), "guardian.md")


def _patterns(data: bytes) -> None:
    from citekit.adapters.personas.pattern_file import read_patterns

    for pattern in read_patterns(text_of(data), "patterns.json").patterns:
        assert 0 <= pattern.temperature <= 2, pattern


_BOOK = "The ﬁrst ofﬁce of the co\u00adoperation stood in Zagreb.\n\nIt was closed in 1914; nobody went back.\n" * 40


@cache
def _app() -> Any:
    """A home with one text and a map of hostile titles, for quotes and questions."""
    from citekit.bootstrap import bootstrap
    from citekit.settings import settings_from

    home = _scratch() / "home"
    source = _scratch() / "book.txt"
    home.mkdir()
    source.write_text(_BOOK, "utf-8")
    app = bootstrap(settings_from({"CITEKIT_PARSERS": "here", "CITEKIT_OCR": "off"}, home))
    app.ingest(source, wanted_id="book")
    return app


def _quote(data: bytes) -> None:
    from citekit.domain.quotes.verdict import Finding
    from citekit.wire.quotes import to_plain

    quote = text_of(data)
    verdict = _app().verify_quote("book", quote)
    assert isinstance(verdict.finding, Finding)
    if quote.strip() and quote in _BOOK:
        _same(Finding.EXACT, verdict.finding)
    json.dumps(to_plain(verdict), allow_nan=False)


def _words(data: bytes) -> None:
    for hit in _app().search(text_of(data), limit=5):
        assert hit.node
        assert parse_address(str(hit.address)) == hit.address


_VARIABLES = (
    "CITEKIT_CACHE_LIMIT", "CITEKIT_ROOTS", "CITEKIT_CONCURRENCY", "CITEKIT_PARSER_TIMEOUT", "CITEKIT_PARSER_MEMORY",
    "CITEKIT_RETRIES", "CITEKIT_TIMEOUT", "CITEKIT_MAX_REQUESTS", "CITEKIT_HOME", "CITEKIT_BASE_URL", "QDRANT_PORT", "QDRANT_URL",
    "QDRANT_HOST", "QDRANT_HTTPS", "CALIBRE_LIBRARY_PATH", "CITEKIT_TOOLS", "CITEKIT_EMBEDDER", "CITEKIT_QUANTIZATION",
    "GUARDIANS_DIR", "CITEKIT_PASSWORD_FILE", "CITEKIT_MEDIA", "ALEXANDRIA_DB", "QDRANT_GRPC_PORT", "CITEKIT_MAPPER",
)  # fmt: skip


def _setting(data: bytes) -> None:
    from citekit.settings import settings_from

    name = _VARIABLES[(data[:1] or b"0")[0] % len(_VARIABLES)]
    value = text_of(data[1:]).replace("\0", "")  # no environment holds it
    found = settings_from({name: value}, None if name == "CITEKIT_HOME" else "/nowhere")
    assert repr(found)
    assert found.cache_limit > 0


def _message(data: bytes) -> object:
    """What a process that parses may answer: read as every kind of answer."""
    from citekit.wire import parsed

    plain = parsed.message_from(data)
    said = plain.get("done", plain)
    return [reader(said) for reader in _READERS[: 1 + len(data) % len(_READERS)][-1:]]


def _manuscript(said: Any) -> None:
    from citekit.wire.parsed import manuscript_from, plain_manuscript

    found = manuscript_from(said)
    _same(found, manuscript_from(json.loads(json.dumps(plain_manuscript(found)))))


def _found_again(name: str, said: Any) -> None:
    from citekit.wire import parsed

    read = getattr(parsed, name)
    found = read(said)
    _same(found, read(json.loads(json.dumps(parsed.plain_found(found), default=str))))


def _error(said: Any) -> None:
    from citekit.wire.failures import from_plain_error

    assert str(from_plain_error(said))


def _bounds(said: Any) -> None:
    from citekit.wire.bounds import from_plain, to_plain

    found = from_plain(said)
    if found is not None:
        _same(found, from_plain(json.loads(json.dumps(to_plain(found)))))


def _extraction(said: Any) -> None:
    from citekit.wire.receipts import extraction_from_plain, extraction_to_plain

    found = extraction_from_plain(said)
    _same(found, extraction_from_plain(json.loads(json.dumps(extraction_to_plain(found), allow_nan=False))))


def _plain_map(said: Any) -> None:
    from citekit.wire.maps import from_plain_map, to_plain_map

    found = from_plain_map(said, "map")
    _same(found, from_plain_map(json.loads(json.dumps(to_plain_map(found))), "map"))


_READERS: Sequence[Callable[[Any], None]] = (
    _manuscript,
    partial(_found_again, "book_from"),
    partial(_found_again, "media_facts_from"),
    partial(_found_again, "book_facts_from"),
    _error,
    _bounds,
    _extraction,
    _plain_map,
)


def _answer(data: bytes) -> None:
    """A process that parses says these lines, one message each; see `liars`."""
    from tests.faults.liars import asked_of

    asked_of(data.split(b"\n"))


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
_ASS = (
    b"[Script Info]\n[Events]\nFormat: Layer, Start, End, Text\nDialogue: 0,0:00:01.00,0:00:03.50,{\\b1}Hi\\Nthere, you\n"
)
_LRC = b"[ar:X]\n[offset:+500]\n[00:12.00][00:40.10]Line <00:13.00>one\n[00:17.20]\n00:20 Two\n"

_GUARDIAN = (
    b"---\nalexandria:\n  id: zec\n  name: Zec\n  title: The Hare\n  emoji: x\n  specialties: [a, b]\n  quirks:\n    - c\n"
    b"  personality_prompt: |\n    You are quick.\n---\n# Zec: the hare\n\n**Bold line**\n"
)
_PATTERN = {
    "reading": [{"id": "compare", "name": "C", "template": "Compare {x}", "temperature": 0.3, "max_temperature": 1, "min_sources": 2}]
}  # fmt: skip


def _messages() -> tuple[bytes, ...]:
    from citekit.wire.maps import to_plain_map

    facts = {"duration": 3.5, "streams": [], "chapters": [], "title": None, "cues": [{"start": 0, "end": 1, "text": "x"}]}
    done: tuple[Any, ...] = (
        {"kind": "page", "text": "ab", "units": [[1], [0], [2]]},
        {"pages": 3, "lines": 4, "seconds": 1.5, "size": [3, 4], "chapters": [1, 2], "sheets": [["a", 1, 2]]},
        {"suffix": ".txt", "media_type": "text/plain", "extent": {"modality": "text", "lines": [1, 2]}, "notes": ["x"]},
        {"title": "T", "chapters": [{"title": "A", "length": 3, "level": 1}], "authors": ["x"]},
        facts,
        to_plain_map(example_map(Pages((1, 2)))),
    )
    return (
        *(_json({"done": each}) for each in done),
        _json({"failed": {"error": "ExtractionFailed", "text": "no", "cause": "x"}}),
        _json({"failed": {"error": "FaultyAnswer", "what": "map", "faults": ["a: b"]}}),
        _json({"broken": "Traceback"}),
        _json({"short": "it takes too much"}),
        _json({"progress": [1, 2, "x"]}) + b"\n" + _json({"done": done[5]}),
        _json({"progress": [1, None, ""]}) + b"\n" + _json({"progress": "ab"}),
    )


@cache
def targets() -> Mapping[str, Target]:
    """Every target by its name."""
    addresses = (
        b"doc://book#pages=3,5-7", b"doc://book#pages=12&bbox=0.1,0.2,0.9,0.4", b"video://lecture#t=145.5-200",
        b"audio://talk#t=npt:1:02:03.5,", b"image://d#xywh=percent:1,2,3,4", b"text://utils_py#lines=10-50", b"virtual://anything",
        b"doc://a%2Fb#chapter=7&chars=120-980", b"doc://b#chapter=2-4", b"doc://b#sheet='Q1 Plan'&cells=A1:D30",
    )  # fmt: skip
    standards = (
        b"0epubcfi(/6/4[a]!/4/2:3)", b"0epubcfi(/6/4!/4,/2:3,/4:1)", b"1pct:1,2,3,4/max/0/default.jpg", b"2t=145,200",
        b"2xywh=percent:1,2,3,4", b"3page=12&viewrect=1,2,3,4", b"4line=9,20;length=7,UTF-8", b"4char=1,2;md5=ab",
    )  # fmt: skip
    annotation = {
        "type": "FragmentSelector", "conformsTo": "http://tools.ietf.org/rfc/rfc3778", "value": "page=3",
        "refinedBy": {"type": "TextPositionSelector", "start": 1, "end": 4},
    }  # fmt: skip
    every = (
        Target("address", _address, addresses),
        Target("standards", _standards, standards),
        Target("annotation", _annotation, (_json(annotation), b'"epubcfi(/6/4!/4/2:3)"')),
        Target("map", _map, _maps()),
        Target("loose-map", _loose_map, _maps()),
        Target("receipt", _receipt, _receipts()),
        Target("subtitles", _subtitles, (b"1" + _SRT, b"0" + _VTT, b"2" + _ASS, b"4" + _LRC, b"5" + _LRC)),
        Target("guardian", _guardian, (_GUARDIAN,)),
        Target("patterns", _patterns, (_json(_PATTERN),)),
        Target("quote", _quote, ("first office of the cooperation".encode(), "... went “back”".encode(), b"closed [...] back")),
        Target("words", _words, (b"office", b'"chapter 1" OR NEAR(x*)', "čaj".encode())),
        Target("setting", _setting, (b"\x0010G", b"\x024", b"\x01/a:/b", b"\x0ahttp://u:p@h:1/", b"\x106333", b"\x08~nobody/x")),
        Target("message", _message, _messages()),
        Target("answer", _answer, _messages()),
    )  # fmt: skip
    return {target.name: target for target in every}


def quietly(work: Callable[[], object]) -> None:
    """Do something whose words nobody wants to read."""
    from contextlib import redirect_stderr, redirect_stdout

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        work()
