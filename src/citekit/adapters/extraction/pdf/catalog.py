"""The catalog of a mini-PDF: what belongs to the document as a whole (ISO 32000-1, 7.7.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citekit.adapters.drivers.pdf_labels import LabelRule
from citekit.adapters.drivers.pymupdf import Document, exclusive

_CARRIED = ("OCProperties", "Lang")
"""Which layers are shown decides what a page looks like; the language is what a screen reader asks for."""

_KEPT = {"Type", "Pages", "Version", "Names", *_CARRIED}

_FORM = "AcroForm"


def read_catalog(document: Document) -> Mapping[str, str]:
    """The entries that must survive the selection of pages, as PDF source text."""
    catalog = document.pdf_catalog()
    found = {key: document.xref_get_key(catalog, key) for key in (*_CARRIED, _FORM)}
    return {key: _source(kind, value) for key, (kind, value) in found.items() if kind in ("xref", "dict", "string")}


def _source(kind: str, value: str) -> str:
    return f"<{_text(value)}>" if kind == "string" else value


def restore_catalog(document: Document, entries: Mapping[str, str]) -> None:
    """Leave in the catalog only what may stay; the structure tree would bring every page of the source along."""
    catalog = document.pdf_catalog()
    for key in _CARRIED:
        if key in entries:
            document.xref_set_key(catalog, key, entries[key])
    _drop(document, [key for key in document.xref_get_keys(catalog) if key not in _KEPT])


def _drop(document: Document, keys: Sequence[str]) -> None:
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        trailer = mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this))
        for key in keys:
            mupdf.pdf_dict_dels(mupdf.pdf_dict_gets(trailer, "Root"), key)


def bake_forms(document: Document, entries: Mapping[str, str]) -> None:
    """Draw form fields onto their pages: a field refers to its form, and so to the pages that are gone."""
    if _FORM not in entries:
        return
    catalog = document.pdf_catalog()
    document.xref_set_key(catalog, _FORM, entries[_FORM])
    document.bake(annots=False, widgets=True)
    _drop(document, [_FORM])


def write_labels(document: Document, rules: Sequence[LabelRule]) -> None:
    """Give the pages the labels of `rules` (12.4.2)."""
    entries = " ".join(f"{rule.first - 1} {_label(rule)}" for rule in rules)
    document.xref_set_key(document.pdf_catalog(), "PageLabels", f"<</Nums[{entries}]>>")


def _label(rule: LabelRule) -> str:
    style = f"/S/{rule.style}/St {rule.start}" if rule.style else ""
    prefix = f"/P<{_text(rule.prefix)}>" if rule.prefix else ""
    return f"<<{style}{prefix}>>"


def _text(value: str) -> str:
    """The hexadecimal digits of a text string in UTF-16 with its mark (7.9.2.2)."""
    return f"FEFF{value.encode('utf-16-be', 'replace').hex().upper()}"
