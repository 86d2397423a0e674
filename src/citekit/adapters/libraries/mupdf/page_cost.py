"""Estimates the cost of processing a PDF page before MuPDF starts, because MuPDF cannot be interrupted.

A content stream may draw forms, which are also content streams, any number of times: ten forms, each of which draws the
next one ten times, are ten billion operations in two kilobytes. The same is true of tiling patterns, soft masks, and
Type 3 fonts, and pages may share a stream. So each stream is read once, and the cost of what it draws is multiplied by
the number of times it is drawn (ISO 32000-1, 7.8, 8.7.3, 8.10, 9.6.5, 11.6.5).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
from citekit.adapters.libraries.mupdf.page_signs import SignReader

STREAM_LIMIT = 24 * 2**20
"""The size in bytes at which a content stream is too long to be executed."""

_EXECUTED, _SHOWN, _LETTER, _BYTE = 10.0, 15.0, 2.5, 0.05
"""Estimated costs, in microseconds, of a stream, a piece of text, a byte of text, and a byte of a stream."""

PAGE_LIMIT = 4_000_000.0
"""The maximum cost, in microseconds, of a page: forty times that of the densest ordinary pages.

Costs of at most a hundredth of this are ignored for Type 3 fonts and for operators whose names are not found.
"""

DOCUMENT_LIMIT = (4_000_000.0, 10.0)
REPEATED_LIMIT = (2_000_000.0, 2.0)
"""The maximum costs, in microseconds, of all pages of a document, and of executing streams again on later pages.

Each is a constant plus an amount for each byte of the file.
"""

_DEPTH = 60
"""The maximum depth of nested forms. Pages with deeper nesting are not processed."""

_ENDLESS = 1e18
_INVOKED = re.compile(rb"/([^\s/\[\]<>(){}%]+)\s+(Do|gs|scn|SCN)\b")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_STRING = re.compile(rb"\(([^()]*)\)")
_HEXADECIMAL = re.compile(rb"<([0-9A-Fa-f\s]+)>")
_KINDS = (b"Do", b"gs", b"scn")
"""The operators that execute other streams. `SCN` counts as `scn`."""


@frozen
class _Content:
    """The cost of the operators of a content stream, and the objects that it draws."""

    cost: float
    drawn: Counter[tuple[bytes, bytes]] = field(factory=Counter)
    operators: Counter[bytes] = field(factory=Counter)

    @classmethod
    def of(cls, data: bytes, *, exact: bool) -> _Content:
        """Return the content of the stream `data`. Unless `exact`, its cost may be overestimated, which is faster."""
        shown = data.count(b"Tj") + data.count(b"TJ") + data.count(b"'") + data.count(b'"')
        cost = _EXECUTED + _BYTE * len(data) + _SHOWN * shown
        if shown and exact:
            cost += _LETTER * len(b"".join(_STRING.findall(data)))
            cost += _LETTER * len(b"".join(_HEXADECIMAL.findall(data))) / 2
        elif shown:
            cost += _LETTER * len(data)
        operators = Counter({kind: data.count(kind) + (data.count(b"SCN") if kind == b"scn" else 0) for kind in _KINDS})
        drawn: Counter[tuple[bytes, bytes]] = Counter()
        for name, operator in _INVOKED.findall(data) if operators.total() else ():
            plain = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), name) if b"#" in name else name
            drawn[b"scn" if operator == b"SCN" else operator, plain] += 1
        return cls(cost, drawn, operators)


@define
class PageWork:
    """A limiter that decides which pages of an open document are processed. Use it inside `exclusive()`.

    `size` is the size of the file in bytes, and `skipped` has the 0-based indexes of pages that are not processed. Once
    overestimated costs exceed a limit, all costs are counted exactly.
    """

    _mupdf: Any
    _document: Any
    size: int
    _signs: dict[int, Signs] = field(factory=dict, init=False)
    _fresh: dict[int, bytes | None] = field(factory=dict, init=False)
    _truncated: set[int] = field(factory=set, init=False)
    _sign_reader: SignReader = field(init=False)
    skipped: set[int] = field(factory=set, init=False)
    _admitted: dict[int, None] = field(factory=dict, init=False)
    _exact: bool = field(default=False, init=False)
    _costs: dict[int, float] = field(factory=dict, init=False)
    _contents_read: dict[int, _Content | None] = field(factory=dict, init=False)
    _executed: set[int] = field(factory=set, init=False)
    _total: float = field(default=0.0, init=False)
    _repeated: float = field(default=0.0, init=False)

    @_sign_reader.default
    def _default_sign_reader(self) -> SignReader:
        return SignReader(self._mupdf, self._read)

    def admits(self, number: int) -> bool:
        """Return whether the page with the 0-based index `number` may be processed; if so, its cost is added once."""
        if number in self._admitted or number in self.skipped:
            return number in self._admitted
        self._fresh.clear()
        fresh, again = self._cost(number)
        if not self._exact and self._exceeds(fresh, again):
            self._count_exactly()
            fresh, again = self._cost(number)
        if self._exceeds(fresh, again):
            self.skipped.add(number)
            return False
        self._admit(number, fresh, again)
        return True

    def signs(self, number: int) -> Signs:
        """Return the signs of hidden text on the page with the 0-based index `number`.

        A damaged page gets the sign `text`.
        """
        if number not in self._signs:
            try:
                page = self._mupdf.ll_pdf_lookup_page_obj(self._pdf(), number)
                contents = list(self._contents(self._mupdf.ll_pdf_dict_gets(page, "Contents")))
                self._signs[number] = self._sign_reader.signs(page, contents)
            except Exception:  # damaged objects raise errors of any kind
                self._signs[number] = Signs(text=True)
        return self._signs[number]

    def contents(self, number: int) -> bytes | None:
        """Return the bytes of the only content stream of the page with the 0-based index `number`.

        Return None if the page has several streams, or if the stream was not just read as a whole.
        """
        mupdf = self._mupdf
        try:
            found = mupdf.ll_pdf_dict_gets(mupdf.ll_pdf_lookup_page_obj(self._pdf(), number), "Contents")
        except Exception:  # damaged objects raise errors of any kind
            return None
        xref = mupdf.ll_pdf_to_num(found) if found and mupdf.ll_pdf_is_stream(found) else 0
        return None if xref in self._truncated else self._fresh.get(xref)

    def _admit(self, number: int, fresh: float, again: float) -> None:
        self._admitted[number] = None
        self._total += fresh + again
        self._repeated += again

    def _exceeds(self, fresh: float, again: float) -> bool:
        """Return whether another page exceeds a limit. `again` is the cost of streams that were executed before."""
        most = DOCUMENT_LIMIT[0] + DOCUMENT_LIMIT[1] * self.size
        most_again = REPEATED_LIMIT[0] + REPEATED_LIMIT[1] * self.size
        return (
            fresh + again > PAGE_LIMIT
            or self._total + fresh + again > most
            or (again > 0 and self._repeated + again > most_again)
        )

    def _count_exactly(self) -> None:
        """Switch to exact costs, which count the letters that are shown, and recount the admitted pages."""
        self._exact = True
        self._total = self._repeated = 0.0
        for known in (self._costs, self._contents_read, self._executed):
            known.clear()
        for number in self._admitted:
            self._admit(number, *self._cost(number))

    def _cost(self, number: int) -> tuple[float, float]:
        """Return the result of `_page`, or zero costs for a damaged page."""
        try:
            return self._page(number)
        except Exception:  # damaged objects raise errors of any kind; MuPDF then stops at them, too
            return 0.0, 0.0

    def _page(self, number: int) -> tuple[float, float]:
        """Return the cost of the streams that this page is the first to execute, and of the others."""
        mupdf = self._mupdf
        page = mupdf.ll_pdf_lookup_page_obj(self._pdf(), number)
        resources = mupdf.ll_pdf_dict_gets_inheritable(page, "Resources")
        fresh = again = 0.0
        for stream in self._contents(mupdf.ll_pdf_dict_gets(page, "Contents")):
            cost = self._stream(stream, resources, 0)
            xref = mupdf.ll_pdf_to_num(stream)
            if xref in self._executed:
                again += cost
            else:
                fresh += cost
                self._executed.add(xref)
        for each in self._appearances(mupdf.ll_pdf_dict_gets(page, "Annots")):
            fresh += self._form(each, 0)
        return fresh, again

    def _pdf(self) -> Any:
        """Return a raw pointer to the document, which is faster than a wrapper."""
        return self._mupdf.ll_pdf_document_from_fz_document(self._document.this.m_internal)

    def _contents(self, found: Any) -> Iterator[Any]:
        mupdf = self._mupdf
        if found and mupdf.ll_pdf_is_array(found):
            for at in range(min(mupdf.ll_pdf_array_len(found), 10_000)):
                yield mupdf.ll_pdf_array_get(found, at)
        elif found:
            yield found

    def _appearances(self, found: Any) -> Iterator[Any]:
        """Yield the streams of the normal appearances of annotations, in all their states."""
        mupdf = self._mupdf
        for at in range(min(mupdf.ll_pdf_array_len(found), 5000) if found else 0):
            normal = mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_array_get(found, at), "AP/N")
            if normal and mupdf.ll_pdf_is_stream(normal):
                yield normal
            elif normal:
                yield from (value for _, value in self._entries(normal))

    def _entries(self, dictionary: Any) -> Iterator[tuple[bytes, Any]]:
        mupdf = self._mupdf
        for at in range(min(mupdf.ll_pdf_dict_len(dictionary), 5000) if dictionary else 0):
            name = mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_get_key(dictionary, at))
            yield name.encode("utf-8", "surrogateescape"), mupdf.ll_pdf_dict_get_val(dictionary, at)

    def _form(self, stream: Any, depth: int) -> float:
        """Return the cost of drawing a stream with its own resources, such as a form, once."""
        mupdf = self._mupdf
        xref = mupdf.ll_pdf_to_num(stream)
        if xref in self._costs:
            return self._costs[xref]
        if depth > _DEPTH:
            return _ENDLESS
        self._costs[xref] = 0.0  # until it is known: MuPDF does not execute a form within itself
        cost = self._stream(stream, mupdf.ll_pdf_dict_gets(stream, "Resources"), depth)
        self._costs[xref] = min(cost, _ENDLESS)
        return self._costs[xref]

    def _stream(self, stream: Any, resources: Any, depth: int) -> float:
        content = self._content(stream)
        if content is None:
            return _ENDLESS
        return content.cost + (self._drawn(content, resources, depth) if resources else 0.0)

    def _drawn(self, content: _Content, resources: Any, depth: int) -> float:
        """Return the cost of what a stream draws by name, and of Type 3 fonts."""
        mupdf = self._mupdf
        costs: dict[bytes, dict[bytes, float]] = {kind: {} for kind in _KINDS}
        draws, masks, fills = (content.operators[kind] > 0 for kind in _KINDS)
        for name, value in self._entries(mupdf.ll_pdf_dict_gets(resources, "XObject") if draws else None):
            if mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(value, "Subtype")) == "Form":
                costs[b"Do"][name] = self._form(value, depth + 1)
        for name, value in self._entries(mupdf.ll_pdf_dict_gets(resources, "ExtGState") if masks else None):
            group = mupdf.ll_pdf_dict_getp(value, "SMask/G")
            if group:
                costs[b"gs"][name] = self._form(group, depth + 1)
        for name, value in self._entries(mupdf.ll_pdf_dict_gets(resources, "Pattern") if fills else None):
            if mupdf.ll_pdf_is_stream(value):
                costs[b"scn"][name] = self._form(value, depth + 1)
        cost = sum(self._glyphs(value, depth) for _, value in self._entries(mupdf.ll_pdf_dict_gets(resources, "Font")))
        named: Counter[bytes] = Counter()
        for (kind, name), count in content.drawn.items():
            cost += count * costs[kind].get(name, 0.0)
            named[kind] += count
        for kind, known in costs.items():  # operators whose name was not found, for example before a comment
            unknown, dearest = content.operators[kind] - named[kind], max(known.values(), default=0.0)
            if unknown > 0 and dearest > PAGE_LIMIT / 100:
                cost += unknown * dearest
        return cost

    def _glyphs(self, font: Any, depth: int) -> float:
        """Return the cost of all glyphs of a Type 3 font, which MuPDF executes on first use.

        Return 0 if the cost is low, or for a font of another type.
        """
        mupdf = self._mupdf
        procedures = mupdf.ll_pdf_dict_gets(font, "CharProcs")
        if not procedures:
            return 0.0
        resources = mupdf.ll_pdf_dict_gets(font, "Resources")
        xref = -(mupdf.ll_pdf_to_num(font) or id(font))
        if xref not in self._costs:
            self._costs[xref] = 0.0
            glyphs = (self._stream(each, resources, depth + 1) for _, each in self._entries(procedures))
            cost = sum(glyphs) if depth <= _DEPTH else _ENDLESS
            self._costs[xref] = cost if cost > PAGE_LIMIT / 100 else 0.0
        return self._costs[xref]

    def _content(self, stream: Any) -> _Content | None:
        """Return the content of a stream, which is read once, or None if it is too long."""
        number = self._mupdf.ll_pdf_to_num(stream)
        if number not in self._contents_read:
            data = self._data(stream, number)
            self._contents_read[number] = None if data is None else _Content.of(data, exact=self._exact)
            self._fresh[number] = data
        return self._contents_read[number]

    def _read(self, stream: Any) -> bytes | None:
        """Return the bytes of a stream, or None if it is too long. Bytes that were just read are reused."""
        number = self._mupdf.ll_pdf_to_num(stream)
        return self._fresh[number] if number in self._fresh else self._data(stream, number)

    def _data(self, stream: Any, number: int) -> bytes | None:
        mupdf = self._mupdf
        if not number or not mupdf.ll_pdf_is_stream(stream):
            return b""
        try:
            opened = mupdf.ll_pdf_open_stream_number(self._pdf(), number)
            try:
                buffer, is_truncated = mupdf.ll_fz_read_best(opened, 1 << 14, STREAM_LIMIT)
            finally:
                mupdf.ll_fz_drop_stream(opened)
            try:
                data: bytes = mupdf.ll_fz_buffer_extract_copy(buffer)
            finally:
                mupdf.ll_fz_drop_buffer(buffer)
        except Exception:  # a damaged stream draws nothing; MuPDF can raise any exception then
            self._truncated.add(number)
            return b""
        if is_truncated:
            self._truncated.add(number)
        return data if len(data) < STREAM_LIMIT else None
