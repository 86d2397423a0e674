"""Takes out of a mini-PDF what no page needs to look as it does: scripts, files, other documents, private data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field

from citekit.adapters.formats.pdf.evidence.scrub import ANY, BY_SUBTYPE, BY_TYPE, MISTAKEN, NAMING, TELLING
from citekit.adapters.libraries.mupdf.engine import Document, exclusive

_EXTERNAL = ("F", "FFilter", "FDecodeParms")
"""Of streams: the file outside that holds their data (ISO 32000-1, table 5)."""

_NAME = re.compile(rb"/([^\s/<>\[\](){}%]+)")

_KNOWN = frozenset(name.encode() for name in (ANY - {"F", "FFilter", "FDecodeParms"}) - {"Type", "Subtype"})
"""Names that make nobody look closer. What says its kind is always looked at: it has a list of its own."""

_PLAIN = re.compile(rb"<<(?:/Filter/FlateDecode|/Length \d+)*>>|/Type/(?:Annot|Page|Outlines)\b|/Subtype/Link\b")
"""What need not be looked at: most streams say no more."""

_REFERENCE = re.compile(rb"\b(\d+) \d+ R\b")

_NAMED = re.compile(rb"/(?:%b) (\d+) \d+ R" % "|".join(sorted(NAMING)).encode())

_AT_ONCE = 1000
"""Objects whose texts are held at a time."""

_GROUP = ("Type", "Name", "Intent", "Usage")
_CONFIGURATION = (
    "Name",
    "Creator",
    "BaseState",
    "ON",
    "OFF",
    "Intent",
    "AS",
    "Order",
    "ListMode",
    "RBGroups",
    "Locked",
)
_USAGE = ("CreatorInfo", "Language", "Export", "Zoom", "Print", "View", "User", "PageElement")
"""ISO 32000-1, tables 98, 101 and 102."""


def sweep(document: Document, *, alone: bool) -> None:
    """Clean all that is reached from the catalog of `document`; how its pages look does not change.

    `alone` says that the document holds little else, so that all of its objects are taken without asking what is reached.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        _layers(mupdf, pdf)
        _Sweep(mupdf, pdf).run(alone=alone)


@define
class _Sweep:
    """One pass. What may hold unknown entries is found in objects as text, which costs one call for each, and looked at
    afterwards."""

    _mupdf: Any
    _pdf: Any
    _named: set[int] = field(factory=set)
    """The objects that are dictionaries with keys of the author's choice."""

    def run(self, *, alone: bool) -> None:
        numbers = list(range(1, self._mupdf.pdf_xref_len(self._pdf))) if alone else self._reached()
        suspects = [number for part in _parts(numbers) for number in self._suspects(part)]
        for suspect in suspects:
            self._clean(self._mupdf.pdf_new_indirect(self._pdf, suspect, 0))

    def _reached(self) -> list[int]:
        """The numbers of what the catalog and the information refer to, and of what that refers to."""
        mupdf, trailer = self._mupdf, self._mupdf.pdf_trailer(self._pdf)
        waiting = [mupdf.pdf_to_num(mupdf.pdf_dict_gets(trailer, name)) for name in ("Root", "Info")]
        seen, end = {0, *waiting}, mupdf.pdf_xref_len(self._pdf)
        while waiting:
            now, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
            found = {number for number in map(int, _REFERENCE.findall(self._text(now))) if number < end} - seen
            seen |= found
            waiting += sorted(found)
        return sorted(seen - {0})

    def _suspects(self, numbers: Sequence[int]) -> list[int]:
        text = self._text(numbers)
        self._named.update(map(int, _NAMED.findall(text)))
        lines = zip(numbers, text.split(b"\n"), strict=False)
        return [number for number, line in lines if not _KNOWN.issuperset(_NAME.findall(_PLAIN.sub(b"", line)))]

    def _text(self, numbers: Sequence[int]) -> bytes:
        """These objects as PDF source text, without their streams, one a line."""
        mupdf, pdf = self._mupdf, self._pdf.m_internal
        new, resolve, write, end = (
            mupdf.ll_pdf_new_indirect,
            mupdf.ll_pdf_resolve_indirect,
            mupdf.ll_pdf_print_obj,
            mupdf.ll_fz_write_byte,
        )
        buffer = mupdf.FzBuffer(2**16)
        output = mupdf.FzOutput(buffer)
        for number in numbers:
            each = new(pdf, number, 0)
            write(output.m_internal, resolve(each), 1, 1)
            end(output.m_internal, 10)
            mupdf.ll_pdf_drop_obj(each)
        mupdf.fz_close_output(output)
        return bytes(mupdf.fz_buffer_extract_copy(buffer))

    def _clean(self, whole: Any) -> None:
        """Clean an object and all that is written inside of it."""
        mupdf = self._mupdf
        is_stream = bool(mupdf.pdf_is_stream(whole))
        for name in _EXTERNAL if is_stream else ():
            self._drop_external(whole, name)
        named = not is_stream and mupdf.pdf_to_num(whole) in self._named
        waiting = [(mupdf.ll_pdf_resolve_indirect(whole.m_internal), named)]
        while waiting:
            each, named = waiting.pop()
            if mupdf.ll_pdf_is_array(each):
                inside = [(mupdf.ll_pdf_array_get(each, place), False) for place in range(mupdf.ll_pdf_array_len(each))]
            elif mupdf.ll_pdf_is_dict(each):
                inside = self._below(each, named=named, is_stream=is_stream)
            else:
                continue
            waiting += [(value, free) for value, free in inside if value and self._holds(value)]
            is_stream = False

    def _holds(self, value: Any) -> bool:
        """Whether it is an array or dictionary that is written right here."""
        mupdf = self._mupdf
        return not mupdf.ll_pdf_is_indirect(value) and bool(mupdf.ll_pdf_is_dict(value) or mupdf.ll_pdf_is_array(value))

    def _below(self, each: Any, *, named: bool, is_stream: bool) -> list[tuple[Any, bool]]:
        """Clean one dictionary; what is written inside, each with whether its keys are of the author's choice."""
        mupdf = self._mupdf
        name_of, key, value = mupdf.ll_pdf_to_name, mupdf.ll_pdf_dict_get_key, mupdf.ll_pdf_dict_get_val
        entries = [(name_of(key(each, at)), value(each, at)) for at in range(mupdf.ll_pdf_dict_len(each))]
        if not named or self._is_no_list(entries):
            kept = self._kept(each, is_stream)
            for name in [name for name, _ in entries if name not in kept]:
                mupdf.ll_pdf_dict_dels(each, name)
            entries = [entry for entry in entries if entry[0] in kept]
        return [(inside, name in NAMING) for name, inside in entries]

    def _is_no_list(self, entries: Sequence[tuple[str, Any]]) -> bool:
        """Whether a dictionary that should be a list of objects by name is some object itself.

        A list may hold the type of its objects, too: some programs write so.
        """
        mupdf = self._mupdf
        if not any(name in TELLING for name, _ in entries):
            return False
        return any(
            name != "Type" and not mupdf.ll_pdf_is_indirect(value) and not self._holds(value) for name, value in entries
        )

    def _kept(self, each: Any, is_stream: bool) -> frozenset[str]:
        """The entries that may stay in a dictionary."""
        mupdf = self._mupdf
        if is_stream and mupdf.ll_pdf_dict_gets(each, "PatternType"):
            return ANY  # whatever subtype it names: some programs write patterns as forms
        if is_stream:
            return BY_SUBTYPE.get(mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(each, "Subtype")), ANY)
        kind = mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(each, "Type"))
        needed, others = MISTAKEN.get(kind, ((), ()))
        has = {name for name in (*needed, *others) if mupdf.ll_pdf_dict_gets(each, name)}
        return BY_TYPE[kind] if kind in BY_TYPE and has == set(needed) else ANY

    def _drop_external(self, stream: Any, name: str) -> None:
        """A name is no file: some programs write so what MuPDF takes for a filter."""
        mupdf = self._mupdf
        value = mupdf.pdf_dict_gets(stream, name)
        if not value.m_internal:
            return
        first = mupdf.pdf_array_get(value, 0) if mupdf.pdf_is_array(value) else value
        if name != "F" or not mupdf.pdf_is_name(first):
            mupdf.pdf_dict_dels(stream, name)


def _layers(mupdf: Any, pdf: Any) -> None:
    """Leave in the properties of layers only what says which are shown (8.11)."""
    layers = mupdf.pdf_dict_getp(mupdf.pdf_trailer(pdf), "Root/OCProperties")
    _keep(mupdf, layers, ("OCGs", "D", "Configs"))
    for group in _members(mupdf, mupdf.pdf_dict_gets(layers, "OCGs")):
        _keep(mupdf, group, _GROUP)
        _keep(mupdf, mupdf.pdf_dict_gets(group, "Usage"), _USAGE)
    configurations = _members(mupdf, mupdf.pdf_dict_gets(layers, "Configs"))
    for configuration in (mupdf.pdf_dict_gets(layers, "D"), *configurations):
        _keep(mupdf, configuration, _CONFIGURATION)
        for rule in _members(mupdf, mupdf.pdf_dict_gets(configuration, "AS")):
            _keep(mupdf, rule, ("Event", "OCGs", "Category"))
            _known(mupdf, mupdf.pdf_dict_gets(rule, "Category"))


def _known(mupdf: Any, categories: Any) -> None:
    for place in reversed(range(mupdf.pdf_array_len(categories))):
        if mupdf.pdf_to_name(mupdf.pdf_array_get(categories, place)) not in _USAGE:
            mupdf.pdf_array_delete(categories, place)


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[start : start + _AT_ONCE] for start in range(0, len(numbers), _AT_ONCE))


def _members(mupdf: Any, array: Any) -> list[Any]:
    return [mupdf.pdf_array_get(array, place) for place in range(mupdf.pdf_array_len(array))]


def _keep(mupdf: Any, dictionary: Any, names: tuple[str, ...]) -> None:
    keys = [mupdf.pdf_dict_get_key(dictionary, place) for place in range(mupdf.pdf_dict_len(dictionary))]
    for name in map(mupdf.pdf_to_name, keys):
        if name not in names:
            mupdf.pdf_dict_dels(dictionary, name)
