"""Reads Mobipocket and Kindle books (MOBI 6, KF8) as sequences of HTML chapters with a table of contents.

MuPDF also opens these files, but finds neither chapters nor a table of contents, and reads no text from KF8 (AZW3).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.epub.markup_books import MarkupBook, MarkupReader, Part
from citekit.adapters.formats.epub.toc import LANDMARK_LIMIT, LEVEL_LIMIT, Entry
from citekit.adapters.formats.mobi.index_records import Index, Row, read_index
from citekit.adapters.formats.mobi.records import NONE, TEXT_LIMIT, Header, Records, read_header, read_records, text_of
from citekit.adapters.formats.shared.book_metadata import identified, language_code
from citekit.adapters.libraries.lxml import parse_page_text
from citekit.domain.errors import SourceUnsupported
from citekit.domain.library.books import BookFacts

PARTS_LIMIT = 20_000
"""Maximum number of chapters in a book."""

COPY_LIMIT = 2 << 30
"""Maximum number of bytes that assembling the pages of a book may copy."""

_GUIDE = re.compile(rb"<guide>.{0,20000}?</guide>", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(rb"<reference\s[^>]{0,1000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""([a-z]{1,20})\s*=\s*("[^"]*"|'[^']*'|[^\s"'>/]+)""")
_BREAK = re.compile(rb"<\s*/?\s*mbp:pagebreak[^>]*>", re.IGNORECASE)
_PICTURE = re.compile(r"""(<img\b[^>]*?)\brecindex\s*=\s*["']?0*(\d{1,6})""", re.IGNORECASE)
_EMBEDDED = re.compile(r"kindle:embed:([0-9A-V]{1,6})", re.IGNORECASE)
_POSITION, _LABEL, _DEPTH, _PLACE = 1, 3, 4, 6
_COUNT, _SPAN = 1, 6
_LANGUAGES = {
    4: "zh", 5: "cs", 6: "da", 7: "de", 8: "el", 9: "en", 10: "es", 11: "fi", 12: "fr", 14: "hu", 16: "it", 17: "ja",
    18: "ko", 19: "nl", 20: "no", 21: "pl", 22: "pt", 25: "ru", 29: "sv", 31: "tr",
}  # fmt: skip
"""The ISO 639-1 codes of primary language IDs in Windows (MS-LCID)."""


@frozen
class _Piece:
    """The markup of a chapter, and its byte offset in the whole text, which table of contents entries use."""

    start: int
    data: bytes


def mobi_reader(*, as_seen: bool = False) -> MarkupReader:
    """Return a reader of Mobipocket and Kindle books. With `as_seen`, it marks superscripts, subscripts, and hidden
    text.
    """
    return MarkupReader(load, read_facts, as_seen)


def read_facts(path: Path) -> BookFacts:
    """Return the metadata in the header of the book at `path`. Raise the errors of `read_records` and `read_header`."""
    return _facts(read_header(read_records(path), path.name))


def load(path: Path) -> MarkupBook:
    """Return the book at `path`.

    Raise `SourceUnsupported` if the file has another format or an unsupported compression method, is damaged,
    protected, or too large, or contains neither text nor images. Raise `SourceUnreadable` if it cannot be read.
    """
    records = read_records(path)
    header = read_header(records, path.name)
    text = text_of(records, header, path.name)
    contents = read_index(records, header.contents)
    if header.version >= 8:
        fragments = read_index(records, header.fragments)
        pieces = list(
            _assembled(_first_flow(text, records, header), read_index(records, header.skeletons), fragments, path.name)
        )
        entries = _toc_entries(contents, header, lambda tags: _fragment_offset(tags, fragments))
        named = list(_guide(read_index(records, header.guide), fragments))
    else:
        pieces = list(_split_at_page_breaks(text))
        named = list(_references(text))
        entries = _toc_entries(contents, header, lambda tags: next(iter(tags.get(_POSITION, ())), None))
    if not any(_has_content(piece.data) for piece in pieces):
        raise SourceUnsupported(f"{path.name} is a book that contains neither text nor images.")
    starts = [piece.start for piece in pieces]
    marks = _marks(starts, [place for _, _, place in entries] + [place for _, place in named])
    return MarkupBook(
        facts=_facts(header),
        parts=[_part(number, piece, marks, header, path.name) for number, piece in enumerate(pieces)],
        contents=[
            Entry(level, title, _name(_number_of(starts, place)), f"citekit-{place}") for level, title, place in entries
        ],
        landmarks=[(kind, _name(_number_of(starts, place)), f"citekit-{place}") for kind, place in named],
        picture=lambda href: _picture(records, header, href),
    )


def _facts(header: Header) -> BookFacts:
    def texts(kind: int) -> list[str]:
        said = (" ".join(value.decode(header.encoding, "replace").split()) for value in header.extra.get(kind, ()))
        return [text for text in said if text]

    identifiers: dict[str, str] = {}
    for kind, scheme in ((104, "isbn"), (113, "asin"), (112, "")):
        for text in texts(kind)[:1]:
            identifiers.update([identified(text, scheme)])
    code = language_code(next(iter(texts(524)), None))
    return BookFacts(
        title=next(iter(texts(503)), header.title) or None,
        authors=texts(100),
        language=code or _LANGUAGES.get(header.locale & 0xFF),
        identifiers=identifiers,
    )


def _split_at_page_breaks(text: bytes) -> Iterator[_Piece]:
    """Split the text of a MOBI 6 book at its page breaks into at most `PARTS_LIMIT` chapters.

    A chapter without text and images is merged with the next one.
    """
    starts = [0]
    for found in _BREAK.finditer(text):
        if _has_content(text[starts[-1] : found.start()]) and len(starts) < PARTS_LIMIT:
            starts.append(found.start())
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield _Piece(start, text[start:end])


def _has_content(data: bytes) -> bool:
    """Return whether `data` has text or an image, which is an `img` element, or an `image` element of a drawing."""
    return b"<im" in data or bool(re.sub(rb"<head.*?</head>|<[^>]*>|\s", b"", data, flags=re.DOTALL | re.IGNORECASE))


def _first_flow(text: bytes, records: Records, header: Header) -> bytes:
    """Return the HTML of a KF8 book, without the style sheets and drawings that are stored after it."""
    table = records[header.flows]
    if table[:4] != b"FDST" or len(table) < 20:
        return text
    return text[int.from_bytes(table[12:16], "big") : int.from_bytes(table[16:20], "big")]


def _assembled(text: bytes, skeletons: Index, fragments: Index, name: str) -> Iterator[_Piece]:
    """Yield the chapters of a KF8 book: skeletons (HTML pages without content), into which the fragments that follow
    them are inserted.

    Raise `SourceUnsupported` if the chapters become too large.
    """
    if not skeletons.rows:
        yield _Piece(0, text)
        return
    used, copied, kept = 0, 0, 0
    for row in skeletons.rows[:PARTS_LIMIT]:
        start, size = _span(row)
        at = start + size
        page = text[start:at]
        for fragment in fragments.rows[used : used + next(iter(row.tags.get(_COUNT, ())), 0)]:
            length = _span(fragment)[1]
            inside = max(0, _whole(fragment.name) - start)
            if copied > COPY_LIMIT:
                break
            page = page[:inside] + text[at : at + length] + page[inside:]
            at += length
            used += 1
            copied += len(page)
        kept += len(page)
        if kept > 2 * TEXT_LIMIT or copied > COPY_LIMIT:
            raise SourceUnsupported(f"{name} is damaged: its chapters become far larger than its text.")
        yield _Piece(start, page)


def _span(row: Row) -> tuple[int, int]:
    said = list(row.tags.get(_SPAN, ()))
    return (said[0], said[1]) if len(said) > 1 else (0, 0)


def _whole(name: bytes) -> int:
    return int(name) if name.isdigit() and len(name) < 12 else 0


def _fragment_offset(tags: Mapping[int, Sequence[int]], fragments: Index) -> int | None:
    pair = tags.get(_PLACE, ())
    row, offset, *_ = (*pair, NONE, NONE)
    return _whole(fragments.rows[row].name) + offset if row < len(fragments.rows) and offset != NONE else None


def _toc_entries(
    index: Index, header: Header, place: Callable[[Mapping[int, Sequence[int]]], int | None]
) -> list[tuple[int, str, int]]:
    """Return the level, the title, and the byte offset of each table of contents entry, in reading order.

    `place` returns the byte offset for the tags of a row, or None.
    """
    found = []
    for row in index.rows:
        tags = row.tags
        title = index.texts.get(next(iter(tags.get(_LABEL, ())), -1), b"").decode(header.encoding, "replace")
        at = place(tags)
        if at is not None and title.strip():
            found.append((min(next(iter(tags.get(_DEPTH, ())), 0) + 1, LEVEL_LIMIT), " ".join(title.split()), at))
    return sorted(found, key=lambda entry: (entry[2], entry[0]))


def _guide(index: Index, fragments: Index) -> Iterator[tuple[str, int]]:
    """Yield the type and the byte offset of each landmark in the index of a KF8 book."""
    for row in index.rows[:LANDMARK_LIMIT]:
        offset = _fragment_offset(row.tags, fragments)
        if offset is not None:
            yield row.name.decode("utf-8", "replace"), offset


def _references(text: bytes) -> Iterator[tuple[str, int]]:
    """Yield the type and the byte offset of each landmark in the text of a MOBI 6 book."""
    guides = b"".join(guide[0] for guide in islice(_GUIDE.finditer(text), 8))
    for found in islice(_REFERENCE.finditer(guides), LANDMARK_LIMIT):
        said = dict(_ATTRIBUTE.findall(found[0].lower()))
        offset = said.get(b"filepos", b"").strip(b"\"'")
        if offset.isdigit() and len(offset) < 12 and int(offset) < len(text):
            yield said.get(b"type", b"").strip(b"\"'").decode("ascii", "replace"), int(offset)


def _marks(starts: Sequence[int], offsets: Iterable[int]) -> dict[int, list[int]]:
    """Group byte offsets by the index of the chapter that contains them. `starts` has the offset of each chapter."""
    found: dict[int, list[int]] = {}
    for offset in sorted(set(offsets)):
        found.setdefault(_number_of(starts, offset), []).append(offset)
    return found


def _number_of(starts: Sequence[int], offset: int) -> int:
    return max(0, bisect_right(starts, offset) - 1)


def _name(number: int) -> str:
    return f"part-{number + 1}"


def _part(number: int, piece: _Piece, marks: dict[int, list[int]], header: Header, name: str) -> Part:
    def root():  # type: ignore[no-untyped-def]
        data = _marked(piece, marks.get(number, ()))
        text = _PICTURE.sub(r'\1src="recindex:\2"', data.decode(header.encoding, "replace"))
        return parse_page_text(text.replace("<?xml", "<?x-xml", 1), name)

    return Part(_name(number), root)


def _marked(piece: _Piece, offsets: Sequence[int]) -> bytes:
    """Return the chapter's markup with an empty anchor inserted at each of `offsets`, or before a tag that contains it."""
    kept, before = [], 0
    for offset in offsets:
        at = min(max(offset - piece.start, 0), len(piece.data))
        opening = piece.data.rfind(b"<", 0, at)
        if opening > piece.data.rfind(b">", 0, at):
            at = opening
        at = max(at, before)
        kept += [piece.data[before:at], b'<a id="citekit-%d"></a>' % offset]
        before = at
    return b"".join(kept) + piece.data[before:]


def _picture(records: Records, header: Header, href: str) -> tuple[bytes, str] | None:
    kind, _, number = href.partition(":")
    embedded = _EMBEDDED.match(href)
    if embedded:
        position = int(embedded[1], 32)
    elif kind == "recindex" and number.isdigit():
        position = int(number)
    else:
        return None
    data = records[header.first_picture + position - 1]
    return (data, "") if data else None
