"""Removes data from a mini-PDF that does not affect how its pages look: scripts, attached files, private data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field

from citekit.adapters.formats.pdf.evidence.scrub import (
    ALL_NAMES,
    BY_SUBTYPE,
    BY_TYPE,
    NAME_DICTIONARIES,
    TYPE_CHECKS,
    TYPE_ENTRIES,
)
from citekit.adapters.libraries.mupdf.engine import Document, exclusive

_EXTERNAL_FILE = ("F", "FFilter", "FDecodeParms")
"""Stream entries for an external file that holds the data of the stream (ISO 32000-1, table 5)."""

_NAME = re.compile(rb"/([^\s/<>\[\](){}%]+)")

_KNOWN_NAMES = frozenset(name.encode() for name in ALL_NAMES - {*_EXTERNAL_FILE, "Type", "Subtype"})
"""Names that need no further check. `Type` and `Subtype` need one, because some types have lists of their own."""

_ORDINARY = re.compile(rb"<<(?:/Filter/FlateDecode|/Length \d+)*>>|/Type/(?:Annot|Page|Outlines)\b|/Subtype/Link\b")
"""Parts of objects that need no check; most streams have nothing else."""

_REFERENCE = re.compile(rb"\b(\d+) \d+ R\b")

_NAMED = re.compile(rb"/(?:%b) (\d+) \d+ R" % "|".join(sorted(NAME_DICTIONARIES)).encode())

_BATCH_SIZE = 1000
"""The number of objects whose text is in memory at a time."""

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
"""`_GROUP`, `_CONFIGURATION`, and `_USAGE` are the entries of layers that stay (ISO 32000-1, tables 98, 101, 102)."""


def sweep(document: Document, *, alone: bool) -> None:
    """Clean all objects reachable from the catalog and the document information, without changing how the pages look.

    If `alone` is true, the document has few other objects, so all objects are cleaned.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        _layers(mupdf, pdf)
        _Sweep(mupdf, pdf).run(alone=alone)


@define
class _Sweep:
    """A single cleaning pass over a PDF.

    It writes objects as source text, which needs only a few library calls, and inspects only those whose text has
    entries that may have to be removed.
    """

    _mupdf: Any
    _pdf: Any
    _named: set[int] = field(factory=set)
    """The numbers of the objects that are dictionaries with arbitrary keys."""

    def run(self, *, alone: bool) -> None:
        numbers = list(range(1, self._mupdf.pdf_xref_len(self._pdf))) if alone else self._reached()
        suspects = [number for part in _batches(numbers) for number in self._suspects(part)]
        for suspect in suspects:
            self._clean(self._mupdf.pdf_new_indirect(self._pdf, suspect, 0))

    def _reached(self) -> list[int]:
        """Return the numbers of all objects that are reachable from the catalog and the document information."""
        mupdf, trailer = self._mupdf, self._mupdf.pdf_trailer(self._pdf)
        waiting = [mupdf.pdf_to_num(mupdf.pdf_dict_gets(trailer, name)) for name in ("Root", "Info")]
        seen, end = {0, *waiting}, mupdf.pdf_xref_len(self._pdf)
        while waiting:
            now, waiting = waiting[:_BATCH_SIZE], waiting[_BATCH_SIZE:]
            found = {number for number in map(int, _REFERENCE.findall(self._text(now))) if number < end} - seen
            seen |= found
            waiting += sorted(found)
        return sorted(seen - {0})

    def _suspects(self, numbers: Sequence[int]) -> list[int]:
        text = self._text(numbers)
        self._named.update(map(int, _NAMED.findall(text)))
        lines = zip(numbers, text.split(b"\n"), strict=False)
        return [
            number for number, line in lines if not _KNOWN_NAMES.issuperset(_NAME.findall(_ORDINARY.sub(b"", line)))
        ]

    def _text(self, numbers: Sequence[int]) -> bytes:
        """Return the numbered objects as PDF source text, one object per line, without the data of streams."""
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
        """Remove unneeded entries from the object `whole` and from every direct object inside it."""
        mupdf = self._mupdf
        is_stream = bool(mupdf.pdf_is_stream(whole))
        for name in _EXTERNAL_FILE if is_stream else ():
            self._drop_external(whole, name)
        named = not is_stream and mupdf.pdf_to_num(whole) in self._named
        waiting = [(mupdf.ll_pdf_resolve_indirect(whole.m_internal), named)]
        while waiting:
            each, named = waiting.pop()
            if mupdf.ll_pdf_is_array(each):
                inside = [(mupdf.ll_pdf_array_get(each, index), False) for index in range(mupdf.ll_pdf_array_len(each))]
            elif mupdf.ll_pdf_is_dict(each):
                inside = self._clean_dictionary(each, named=named, is_stream=is_stream)
            else:
                continue
            waiting += [(value, free) for value, free in inside if value and self._is_direct_container(value)]
            is_stream = False

    def _is_direct_container(self, value: Any) -> bool:
        """Return whether `value` is an array or dictionary that is stored in place, not as an indirect object."""
        mupdf = self._mupdf
        return not mupdf.ll_pdf_is_indirect(value) and bool(mupdf.ll_pdf_is_dict(value) or mupdf.ll_pdf_is_array(value))

    def _clean_dictionary(self, each: Any, *, named: bool, is_stream: bool) -> list[tuple[Any, bool]]:
        """Clean the dictionary `each` and return its values, each with whether it is a dictionary with arbitrary keys."""
        mupdf = self._mupdf
        name_of, key, value = mupdf.ll_pdf_to_name, mupdf.ll_pdf_dict_get_key, mupdf.ll_pdf_dict_get_val
        entries = [(name_of(key(each, at)), value(each, at)) for at in range(mupdf.ll_pdf_dict_len(each))]
        if not named or self._is_object(entries):
            kept = self._allowed(each, is_stream)
            for name in [name for name, _ in entries if name not in kept]:
                mupdf.ll_pdf_dict_dels(each, name)
            entries = [entry for entry in entries if entry[0] in kept]
        return [(inside, name in NAME_DICTIONARIES) for name, inside in entries]

    def _is_object(self, entries: Sequence[tuple[str, Any]]) -> bool:
        """Return whether a dictionary that should have arbitrary keys is an object, such as a font, after all.

        The entry `Type` alone proves nothing, because it may be one of the arbitrary keys.
        """
        mupdf = self._mupdf
        if not any(name in TYPE_ENTRIES for name, _ in entries):
            return False
        return any(
            name != "Type" and not mupdf.ll_pdf_is_indirect(value) and not self._is_direct_container(value)
            for name, value in entries
        )

    def _allowed(self, each: Any, is_stream: bool) -> frozenset[str]:
        """Return the names of the entries that may stay in the dictionary `each`."""
        mupdf = self._mupdf
        if is_stream and mupdf.ll_pdf_dict_gets(each, "PatternType"):
            return ALL_NAMES  # regardless of its subtype: some programs write patterns as forms
        if is_stream:
            return BY_SUBTYPE.get(mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(each, "Subtype")), ALL_NAMES)
        kind = mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(each, "Type"))
        needed, others = TYPE_CHECKS.get(kind, ((), ()))
        has = {name for name in (*needed, *others) if mupdf.ll_pdf_dict_gets(each, name)}
        return BY_TYPE[kind] if kind in BY_TYPE and has == set(needed) else ALL_NAMES

    def _drop_external(self, stream: Any, name: str) -> None:
        """Remove the entry `name` of `stream`, which refers to an external file.

        An entry `F` that names a filter, as some programs write it, stays.
        """
        mupdf = self._mupdf
        value = mupdf.pdf_dict_gets(stream, name)
        if not value.m_internal:
            return
        first = mupdf.pdf_array_get(value, 0) if mupdf.pdf_is_array(value) else value
        if name != "F" or not mupdf.pdf_is_name(first):
            mupdf.pdf_dict_dels(stream, name)


def _layers(mupdf: Any, pdf: Any) -> None:
    """Remove the entries of layers that are not in `_GROUP`, `_CONFIGURATION`, or `_USAGE` (ISO 32000-1, 8.11)."""
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
            _drop_unknown_categories(mupdf, mupdf.pdf_dict_gets(rule, "Category"))


def _drop_unknown_categories(mupdf: Any, categories: Any) -> None:
    for index in reversed(range(mupdf.pdf_array_len(categories))):
        if mupdf.pdf_to_name(mupdf.pdf_array_get(categories, index)) not in _USAGE:
            mupdf.pdf_array_delete(categories, index)


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[start : start + _BATCH_SIZE] for start in range(0, len(numbers), _BATCH_SIZE))


def _members(mupdf: Any, array: Any) -> list[Any]:
    return [mupdf.pdf_array_get(array, index) for index in range(mupdf.pdf_array_len(array))]


def _keep(mupdf: Any, dictionary: Any, names: tuple[str, ...]) -> None:
    keys = [mupdf.pdf_dict_get_key(dictionary, index) for index in range(mupdf.pdf_dict_len(dictionary))]
    for name in map(mupdf.pdf_to_name, keys):
        if name not in names:
            mupdf.pdf_dict_dels(dictionary, name)
