"""Removes entries of pages that reach beyond the page: references to other pages, attached files, scripts, and actions.

The tables list the allowed entries: those that ISO 32000-1 defines for pages and for the objects that draw them, except
entries that do not affect how a page looks, such as scripts, attached files, private data (`PieceInfo`), thumbnails,
and the structure tree.
"""

from __future__ import annotations

import re
from typing import Any

from citekit.adapters.formats.shared.safe_links import is_safe_link
from citekit.adapters.libraries.mupdf.engine import Document, exclusive


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PAGE_NAMES = _names(
    "Type Parent Resources MediaBox CropBox BleedBox TrimBox ArtBox Rotate UserUnit Contents Group Annots"
)
"""The allowed entries of pages: those of ISO 32000-1, table 30, without article beads, actions, thumbnails, private
data, metadata, and structure.
"""

ANNOTATION_NAMES = _names(
    "Type Subtype Rect Contents P NM M F AP AS Border C CA ca BM T Popup RC CreationDate Subj IT L BS LE IC LL LLE LLO Cap"
    " CP CO QuadPoints Vertices InkList Path Name DA Q DS CL BE RD Open State StateModel IRT RT H A Dest OC Rotate Sy"
    " Parent Lang RO Measure"
)
"""The allowed entries of annotations: those of ISO 32000-1, tables 164 to 191, without files, media, additional
actions, and structure.
"""

_PASSIVE = {"URI": ("URI", "IsMap"), "GoTo": ("D",), "Named": ("N",)}
"""Actions that only navigate when clicked, with the entries they need (12.6.4)."""

_TAG = re.compile(r"<[^>]*>?")
_FORMATTING = re.compile(
    r"""<\?xml[^<>]*>|</?(?:body|p|i|b|span|br)(?:\s+(?:xmlns(?::\w+)?|xfa:\w+|xml:lang|style|dir|lang)\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>"""
)
_ACTIVE_STYLE = re.compile(r"url\s*\(|\b[a-z]*script:|expression\s*\(", re.IGNORECASE)
"""Style values of rich text that could load or run something; `_FORMATTING` matches the allowed tags."""

_NAVIGATION_ACTIONS = frozenset(("NextPage", "PrevPage", "FirstPage", "LastPage"))
"""The named actions of ISO 32000-1, table 211."""


def scrub_pages(document: Document) -> None:
    """Remove the entries that are not allowed, such as scripts and attached files, from all pages and their
    annotations.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        for number in range(document.page_count):
            page = mupdf.pdf_lookup_page_obj(pdf, number)
            _keep(mupdf, page, PAGE_NAMES)
            _scrub_annotations(mupdf, page)


def _keep(mupdf: Any, dictionary: Any, names: frozenset[str] | tuple[str, ...]) -> None:
    plain, name, key = dictionary.m_internal, mupdf.ll_pdf_to_name, mupdf.ll_pdf_dict_get_key
    for each in [name(key(plain, index)) for index in range(mupdf.ll_pdf_dict_len(plain))]:
        if each not in names:
            mupdf.ll_pdf_dict_dels(plain, each)


def _scrub_annotations(mupdf: Any, page: Any) -> None:
    entries = mupdf.pdf_dict_gets(page, "Annots")
    annotations = [mupdf.pdf_array_get(entries, index) for index in range(mupdf.pdf_array_len(entries))]
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
    """Keep only the entries of `annotation` that are displayed or that navigate when clicked.

    An attached file becomes a text note. An action is replaced, not changed.
    """
    _keep(mupdf, annotation, ANNOTATION_NAMES)
    if mupdf.pdf_to_name(mupdf.pdf_dict_gets(annotation, "Subtype")) == "FileAttachment":
        mupdf.pdf_dict_puts(annotation, "Subtype", mupdf.pdf_new_name("Text"))  # the note stays; the file is removed
    rich = mupdf.ll_pdf_dict_gets(annotation.m_internal, "RC")
    if rich and not _is_formatting(mupdf, rich):
        mupdf.pdf_dict_dels(annotation, "RC")  # `Contents` has the same text
    _scrub_action(mupdf, annotation)


def _is_formatting(mupdf: Any, rich: Any) -> bool:
    """Return whether the rich text string `rich` contains only text and formatting (ISO 32000-1, 12.7.3.4)."""
    text = mupdf.ll_pdf_to_text_string(rich)
    return all(_FORMATTING.fullmatch(tag) for tag in _TAG.findall(text)) and _ACTIVE_STYLE.search(text) is None


def _scrub_action(mupdf: Any, annotation: Any) -> None:
    if not mupdf.ll_pdf_dict_gets(annotation.m_internal, "A"):
        return
    needed = passive_action_entries(mupdf, annotation)
    if needed is None:
        mupdf.pdf_dict_dels(annotation, "A")
    else:
        action = mupdf.pdf_copy_dict(mupdf.pdf_dict_gets(annotation, "A"))
        _keep(mupdf, action, ("S", *needed))
        mupdf.pdf_dict_puts(annotation, "A", action)


def passive_action_entries(mupdf: Any, annotation: Any) -> tuple[str, ...] | None:
    """Return the names of the entries that the annotation's action needs in addition to its type.

    The result is None if the annotation has no action, or one that must be removed, such as a script or an unsafe link.
    """
    action = mupdf.ll_pdf_dict_gets(annotation.m_internal, "A")
    needed = _PASSIVE.get(mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(action, "S"))) if action else None
    if not needed:
        return None
    address = mupdf.ll_pdf_dict_gets(action, "URI")
    if address and not is_safe_link(mupdf.ll_pdf_to_text_string(address)):
        return None
    named = needed == _PASSIVE["Named"]
    return (
        None
        if named and mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(action, "N")) not in _NAVIGATION_ACTIONS
        else needed
    )


STREAM = _names("Length Filter DecodeParms DL F FFilter FDecodeParms")
"""The allowed entries of streams (table 5). Entries that name an external file are checked separately."""

FORM = STREAM | _names("Type Subtype FormType BBox Matrix Resources Group OC Name LastModified Measure PtData")
"""The allowed entries of form XObjects (table 95)."""

_SHORT = _names("W H BPC CS D DP I IM")
"""Short names of entries (table 93) for images in content streams; programs write and read them elsewhere, too."""

IMAGE = (
    STREAM
    | _SHORT
    | _names(
        "Type Subtype Width Height ColorSpace BitsPerComponent Intent ImageMask Mask Decode Interpolate SMask SMaskInData"
        " Name OC Matte Measure PtData"
    )
)
"""The allowed entries of image XObjects (tables 89 and 146)."""

FONT = _names(
    "Type Subtype Name BaseFont FirstChar LastChar Widths FontDescriptor Encoding ToUnicode FontBBox FontMatrix CharProcs"
    " Resources DescendantFonts CIDSystemInfo DW W DW2 W2 CIDToGIDMap"
)
"""The allowed entries of fonts (tables 111, 112, 117, and 121)."""

DESCRIPTOR = _names(
    "Type FontName FontFamily FontStretch FontWeight Flags FontBBox ItalicAngle Ascent Descent Leading CapHeight XHeight"
    " StemV StemH AvgWidth MaxWidth MissingWidth FontFile FontFile2 FontFile3 CharSet Style Lang FD CIDSet"
)
"""The allowed entries of font descriptors (tables 122 and 124)."""

STATE = _names(
    "Type LW LC LJ ML D RI OP op OPM Font BG BG2 UCR UCR2 TR TR2 HT FL SM SA BM SMask CA ca AIS TK UseBlackPtComp HTO"
)
"""The allowed entries of graphics state dictionaries (table 58)."""

_RESOURCES = _names("ExtGState ColorSpace Pattern Shading XObject Font ProcSet Properties")
_DECODING = _names(
    "Predictor Colors BitsPerComponent Columns EarlyChange K EndOfLine EncodedByteAlign Rows EndOfBlock BlackIs1"
    " DamagedRowsBeforeError JBIG2Globals ColorTransform"
)
_FONT_PARTS = _names(
    "Length1 Length2 Length3 BaseEncoding Differences CMapName WMode UseCMap Registry Ordering Supplement Panose"
)
_COLORS = _names(
    "WhitePoint BlackPoint Gamma Matrix Range N Alternate Colorants Process MixingHints Components Solidities PrintingOrder"
    " DotGain"
)
_FUNCTIONS = _names("FunctionType Domain Range Size BitsPerSample Order Encode Decode C0 C1 N Functions Bounds")
_PAINT = _names(
    "PatternType PaintType TilingType XStep YStep Matrix Shading ShadingType Background AntiAlias Function Coords Extend"
    " BitsPerCoordinate BitsPerFlag VerticesPerRow"
)
_TRANSPARENCY = _names("S G BC TR CS I K")
_HALFTONES = _names(
    "HalftoneType HalftoneName Frequency Angle SpotFunction AccurateScreens TransferFunction Width2 Height2 Xsquare Ysquare"
    " Default"
)
_LAYERS = _names(
    "OCProperties OCGs P VE Name Intent Usage CreatorInfo Language Export Zoom Print View User PageElement Creator Subtype"
    " Preferred ExportState min max PrintState ViewState D Configs BaseState ON OFF AS Order ListMode RBGroups Locked Event"
    " Category"
)
_MARKED = _names("MCID Lang Alt ActualText E BBox Attached")
_ANNOTATION_PARTS = _names(
    "W S D I R N URI IsMap BG BC CA RC AC RI IX IF TP SW A FB U C F FD RT RD PS SS O X Y T CYX Bounds GPTS LPTS GCS DCS PDU"
    " EPSG WKT"
)
_DOCUMENT = _names(
    "Pages Version PageLabels Outlines Lang Kids Count First Last Title Prev Next Dest SE Nums St Limits Names Dests"
)

INFORMATION = _names("Title Author Subject Keywords Creator Producer CreationDate ModDate Trapped")
"""The allowed entries of the document information (table 317)."""

ALL_NAMES = frozenset().union(
    *(PAGE_NAMES, ANNOTATION_NAMES, FORM, IMAGE, FONT, DESCRIPTOR, STATE, INFORMATION),
    *(_RESOURCES, _DECODING, _FONT_PARTS, _COLORS, _FUNCTIONS, _PAINT, _TRANSPARENCY, _HALFTONES),
    *(_LAYERS, _MARKED, _ANNOTATION_PARTS, _DOCUMENT),
)
"""The allowed entries of a dictionary whose type is missing, unknown, or wrong."""

BY_TYPE = {"Font": FONT, "FontDescriptor": DESCRIPTOR, "ExtGState": STATE}
BY_SUBTYPE = {"Form": FORM, "Image": IMAGE}
"""The allowed entries of streams by subtype; `BY_TYPE` has those of other dictionaries by type."""

TYPE_CHECKS = {
    "Font": (("Subtype",), ()),
    "FontDescriptor": (("FontName",), ("Subtype",)),
    "ExtGState": ((), ("Subtype", "FontName")),
}
"""For each type, the entries a dictionary must have and must not have; otherwise its type is wrong."""

NAME_DICTIONARIES = frozenset(
    (
        *("Font", "XObject", "ColorSpace", "ExtGState", "Pattern", "Shading", "Properties"),
        *("CharProcs", "Colorants", "Solidities", "DotGain", "FD", "HT", "N", "R", "D"),
    )
)
"""Entries whose dictionaries have arbitrary keys (7.8.3, 9.6.5, 8.6.6.5, 9.8.3.3, 10.5.5.6, 12.5.5)."""

TYPE_ENTRIES = ("Type", "ShadingType", "FunctionType")
"""Entries that a dictionary with arbitrary keys normally does not have."""
