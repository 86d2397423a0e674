"""What reads texts and data from outside, each with the law that holds for any bytes, and valid examples.

A law gives True where the bytes meant something, and False where they were refused by one of our errors; anything else that
is raised breaks it. What was read must survive being written and read again.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from citekit.domain.address import parse_address
from citekit.domain.errors import CiteKitError, FaultyAnswer
from citekit.domain.locations import Location
from citekit.domain.modality import Modality
from tests.faults.examples import examples

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
    if isinstance(plain, dict | str):
        from_web_annotation(plain, Modality.DOCUMENT)


def _map(data: bytes) -> None:
    from citekit.wire.locations import BoxOrder
    from citekit.wire.maps import from_json, to_json

    order = BoxOrder.SIZE if data[:1] == b" " else BoxOrder.CORNERS
    found = from_json(text_of(data), "map", order)
    written = to_json(found)
    _same(found, from_json(written, "map"))
    _same(written, to_json(from_json(written, "map")))


def _loose_map(data: bytes) -> None:
    from citekit.wire.lenient_maps import read_leniently
    from citekit.wire.maps import from_plain_map, plain_from_json

    plain = plain_from_json(text_of(data), "map")
    try:
        strict = from_plain_map(plain, "map")
    except CiteKitError:
        strict = None
    loose = read_leniently(plain, "map")
    if strict is not None and loose.is_whole:
        _same(strict, evolve(loose.head, nodes=loose.nodes))


def _receipt(data: bytes) -> None:
    from citekit.wire.receipts import from_json, to_plain

    found = from_json(text_of(data), "receipt")
    _same(found, from_json(json.dumps(to_plain(found), allow_nan=False), "receipt"))


@cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="citekit-fuzz-"))


def _subtitles(data: bytes) -> object:
    from citekit.adapters.formats.subtitles.parser import SUFFIXES, read_cues

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
    from citekit.container import bootstrap
    from citekit.settings import settings_from

    home = _scratch() / "home"
    source = _scratch() / "book.txt"
    home.mkdir()
    source.write_text(_BOOK, "utf-8")
    app = bootstrap(settings_from({"CITEKIT_PARSERS": "inline", "CITEKIT_OCR": "off"}, home))
    app.ingest(source, wanted_id="book")
    return app


def _quote(data: bytes) -> None:
    from citekit.domain.quotes.verdict_finding import Finding
    from citekit.wire.quotes import to_plain

    quote = text_of(data)
    verdict = _app().verify_quote("book", quote)
    assert isinstance(verdict.finding, Finding)
    if re.fullmatch(r"[A-Za-z]+( [A-Za-z]+)*", quote) and re.search(rf"\b{quote}\b", _BOOK):
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

    name, _, value = text_of(data).replace("\0", "").partition("=")  # no environment holds a NUL
    name = name if name in _VARIABLES else _VARIABLES[len(name) % len(_VARIABLES)]
    found = settings_from({name: value}, None if name == "CITEKIT_HOME" else "/nowhere")
    assert repr(found)
    assert found.cache_limit > 0


def _message(data: bytes) -> object:
    """What a process that parses may answer: read as every kind of answer."""
    from citekit.wire import worker_protocol

    plain = worker_protocol.message_from(data)
    said = plain.get("done", plain.get("failed", plain))
    refused = []
    for reader in _READERS:
        try:
            reader(said)
        except CiteKitError as error:
            refused.append(error)
    if len(refused) == len(_READERS):
        raise refused[-1]
    return refused


def _extracted(said: Any) -> None:
    from citekit.wire.worker_protocol import extracted_text_from, plain_extracted_text

    found = extracted_text_from(said)
    for at in range(min(len(found.text), 20) if found.units else 0):
        found.span_of(found.locate(at, at + 1))
    _same(found, extracted_text_from(json.loads(json.dumps(plain_extracted_text(found)))))


def _found_again(name: str, said: Any) -> None:
    from citekit.wire import worker_protocol

    read = getattr(worker_protocol, name)
    found = read(said)
    _same(found, read(json.loads(json.dumps(worker_protocol.plain_found(found), default=str))))


def _error(said: Any) -> None:
    from citekit.wire.errors import from_plain_error

    raise from_plain_error(said) if isinstance(said, dict) else FaultyAnswer("error", ["$: is none"])


def _bounds(said: Any) -> None:
    from citekit.wire.extent import from_plain, to_plain

    found = from_plain(said)
    if found is None:
        raise FaultyAnswer("bounds", ["$: are none"])
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
    _extracted,
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


@cache
def targets() -> Mapping[str, Target]:
    """Every target by its name."""
    reads = {
        "address": _address,
        "standards": _standards,
        "annotation": _annotation,
        "map": _map,
        "loose-map": _loose_map,
        "receipt": _receipt,
        "subtitles": _subtitles,
        "guardian": _guardian,
        "patterns": _patterns,
        "quote": _quote,
        "words": _words,
        "setting": _setting,
        "message": _message,
        "answer": _answer,
    }
    seeds = examples()
    return {name: Target(name, read, seeds[name]) for name, read in reads.items()}
