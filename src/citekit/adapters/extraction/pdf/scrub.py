"""Takes out of kept pages what reaches beyond them: references to other pages, attached files, scripts, actions."""

from __future__ import annotations

import re
from typing import Any

from citekit.adapters.drivers.pymupdf import Document, exclusive

_PAGE_NAMES = """
    Type Parent Resources MediaBox CropBox BleedBox TrimBox ArtBox Rotate UserUnit Contents Group Annots
"""
"""ISO 32000-1, table 30, without article beads, actions, thumbnails, private data, metadata and structure."""

_ANNOTATIONS = """
    Type Subtype Rect Contents P NM M F AP AS Border C CA ca BM T Popup RC CreationDate Subj IT L BS LE IC LL LLE LLO
    Cap CP CO QuadPoints Vertices InkList Path Name DA Q DS CL BE RD Open State StateModel IRT RT H A Dest OC Rotate Sy
    Parent Lang RO Measure
"""
"""ISO 32000-1, tables 164 to 191, without files, media, additional actions and structure."""

PAGE_NAMES = frozenset(_PAGE_NAMES.split())
ANNOTATION_NAMES = frozenset(_ANNOTATIONS.split())

_PASSIVE = {"URI": ("URI", "IsMap"), "GoTo": ("D",), "Named": ("N",)}
"""Actions that only lead somewhere when clicked, with what they need (12.6.4)."""

_SCHEMES = frozenset(("http", "https", "mailto", "ftp", "tel", "doi", "urn"))
"""Of addresses that a link may lead to: others start programs, run scripts, or open files of the reader's machine."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):")
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\ufeff]+")
"""What programs that follow a link pass over in its address."""

_TAG = re.compile(r"<[^>]*>?")
_FORMATTING = re.compile(
    r"""<\?xml[^<>]*>|</?(?:body|p|i|b|span|br)(?:\s+(?:xmlns(?::\w+)?|xfa:\w+|xml:lang|style|dir|lang)\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>"""
)
_LEADS = re.compile(r"url\s*\(|\b[a-z]*script:|expression\s*\(", re.IGNORECASE)
"""Of rich texts: what may stand in them, and what must not stand in a style."""

_MOVES = frozenset(("NextPage", "PrevPage", "FirstPage", "LastPage"))
"""The named actions that every reader has (table 211)."""


def scrub_pages(document: Document) -> None:
    """Clean every page of `document` and the annotations on it; how a page looks does not change."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        for number in range(document.page_count):
            page = mupdf.pdf_lookup_page_obj(pdf, number)
            _keep(mupdf, page, PAGE_NAMES)
            _scrub_annotations(mupdf, page)


def _keep(mupdf: Any, dictionary: Any, names: frozenset[str] | tuple[str, ...]) -> None:
    plain, name, key = dictionary.m_internal, mupdf.ll_pdf_to_name, mupdf.ll_pdf_dict_get_key
    for each in [name(key(plain, place)) for place in range(mupdf.ll_pdf_dict_len(plain))]:
        if each not in names:
            mupdf.ll_pdf_dict_dels(plain, each)


def _scrub_annotations(mupdf: Any, page: Any) -> None:
    entries = mupdf.pdf_dict_gets(page, "Annots")
    annotations = [mupdf.pdf_array_get(entries, place) for place in range(mupdf.pdf_array_len(entries))]
    here = {mupdf.pdf_to_num(annotation) for annotation in annotations} - {0}
    for annotation in annotations:
        if mupdf.pdf_is_dict(annotation):
            _scrub_annotation(mupdf, page, annotation, here)


def _scrub_annotation(mupdf: Any, page: Any, annotation: Any, here: set[int]) -> None:
    mupdf.pdf_dict_puts(annotation, "P", page)
    for key in ("Parent", "IRT", "Popup"):
        other = mupdf.pdf_dict_gets(annotation, key)
        if other.m_internal and mupdf.pdf_to_num(other) not in here:
            mupdf.pdf_dict_dels(annotation, key)
    clean_annotation(mupdf, annotation)


def clean_annotation(mupdf: Any, annotation: Any) -> None:
    """Leave in an annotation only what is shown, and what leads somewhere when clicked. An action is not changed in place."""
    _keep(mupdf, annotation, ANNOTATION_NAMES)
    if mupdf.pdf_to_name(mupdf.pdf_dict_gets(annotation, "Subtype")) == "FileAttachment":
        mupdf.pdf_dict_puts(annotation, "Subtype", mupdf.pdf_new_name("Text"))  # the note stays, the file goes
    rich = mupdf.ll_pdf_dict_gets(annotation.m_internal, "RC")
    if rich and not _is_formatting(mupdf, rich):
        mupdf.pdf_dict_dels(annotation, "RC")  # Contents says the same
    _scrub_action(mupdf, annotation)


def _is_formatting(mupdf: Any, rich: Any) -> bool:
    """Whether a rich text only says what its words look like (12.7.3.4)."""
    text = mupdf.ll_pdf_to_text_string(rich)
    return all(_FORMATTING.fullmatch(tag) for tag in _TAG.findall(text)) and _LEADS.search(text) is None


def _scrub_action(mupdf: Any, annotation: Any) -> None:
    if not mupdf.ll_pdf_dict_gets(annotation.m_internal, "A"):
        return
    needed = passive(mupdf, annotation)
    if needed is None:
        mupdf.pdf_dict_dels(annotation, "A")
    else:
        action = mupdf.pdf_copy_dict(mupdf.pdf_dict_gets(annotation, "A"))
        _keep(mupdf, action, ("S", *needed))
        mupdf.pdf_dict_puts(annotation, "A", action)


def passive(mupdf: Any, annotation: Any) -> tuple[str, ...] | None:
    """What the action of an annotation needs besides its kind; None where it has none that may stay."""
    action = mupdf.ll_pdf_dict_gets(annotation.m_internal, "A")
    needed = _PASSIVE.get(mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(action, "S"))) if action else None
    if not needed:
        return None
    address = mupdf.ll_pdf_dict_gets(action, "URI")
    if address and not _harmless(mupdf.ll_pdf_to_text_string(address)):
        return None
    named = needed == _PASSIVE["Named"]
    return None if named and mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(action, "N")) not in _MOVES else needed


def _harmless(address: str) -> bool:
    """Whether an address leads to the web, to a person, or beside the document; not to a file or a share of this machine."""
    plain = _IGNORED.sub("", address).lower()
    scheme = _SCHEME.match(plain)
    return scheme[1] in _SCHEMES if scheme else not plain.startswith(("/", "\\"))
