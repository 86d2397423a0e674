"""The entries that ISO 32000 gives to the dictionaries of a page and of what it is drawn with.

Left out are those that no page needs to look as it does: scripts, attached files, private data (`PieceInfo`), `Metadata`,
thumbnails, the structure tree, and what stands for a picture when it is printed. All others are of some program's own.
"""

from __future__ import annotations

from citekit.adapters.extraction.pdf.scrub import ANNOTATION_NAMES, PAGE_NAMES


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


STREAM = _names("Length Filter DecodeParms DL F FFilter FDecodeParms")
"""Table 5. What names a file outside is looked at apart."""

FORM = STREAM | _names("Type Subtype FormType BBox Matrix Resources Group OC Name LastModified Measure PtData")
"""Table 95."""

_SHORT = _names("W H BPC CS D DP I IM")
"""Table 93: for pictures inside of a content stream, but programs write and read them elsewhere, too."""

IMAGE = (
    STREAM
    | _SHORT
    | _names(
        "Type Subtype Width Height ColorSpace BitsPerComponent Intent ImageMask Mask Decode Interpolate SMask SMaskInData"
        " Name OC Matte Measure PtData"
    )
)
"""Tables 89 and 146."""

FONT = _names(
    "Type Subtype Name BaseFont FirstChar LastChar Widths FontDescriptor Encoding ToUnicode FontBBox FontMatrix CharProcs"
    " Resources DescendantFonts CIDSystemInfo DW W DW2 W2 CIDToGIDMap"
)
"""Tables 111, 112, 117 and 121."""

DESCRIPTOR = _names(
    "Type FontName FontFamily FontStretch FontWeight Flags FontBBox ItalicAngle Ascent Descent Leading CapHeight XHeight"
    " StemV StemH AvgWidth MaxWidth MissingWidth FontFile FontFile2 FontFile3 CharSet Style Lang FD CIDSet"
)
"""Tables 122 and 124."""

STATE = _names(
    "Type LW LC LJ ML D RI OP op OPM Font BG BG2 UCR UCR2 TR TR2 HT FL SM SA BM SMask CA ca AIS TK UseBlackPtComp HTO"
)
"""Table 58."""

_RESOURCES = _names("ExtGState ColorSpace Pattern Shading XObject Font ProcSet Properties")
_DECODING = _names(
    "Predictor Colors BitsPerComponent Columns EarlyChange K EndOfLine EncodedByteAlign Rows EndOfBlock BlackIs1"
    " DamagedRowsBeforeError JBIG2Globals ColorTransform"
)
_FONT_PARTS = _names(
    "Length1 Length2 Length3 BaseEncoding Differences CMapName WMode UseCMap Registry Ordering Supplement Panose"
)
_COLOURS = _names(
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
"""Table 317."""

ANY = frozenset().union(
    *(PAGE_NAMES, ANNOTATION_NAMES, FORM, IMAGE, FONT, DESCRIPTOR, STATE, INFORMATION),
    *(_RESOURCES, _DECODING, _FONT_PARTS, _COLOURS, _FUNCTIONS, _PAINT, _TRANSPARENCY, _HALFTONES),
    *(_LAYERS, _MARKED, _ANNOTATION_PARTS, _DOCUMENT),
)
"""Of a dictionary that does not say what it is."""

BY_TYPE = {"Font": FONT, "FontDescriptor": DESCRIPTOR, "ExtGState": STATE}
BY_SUBTYPE = {"Form": FORM, "Image": IMAGE}
"""Of dictionaries that say what they are; the second of streams."""

MISTAKEN = {
    "Font": (("Subtype",), ()),
    "FontDescriptor": (("FontName",), ("Subtype",)),
    "ExtGState": ((), ("Subtype", "FontName")),
}
"""Which entries a dictionary of that type has and has not, else it says the wrong type; viewers do not mind."""

NAMING = frozenset(
    (
        *("Font", "XObject", "ColorSpace", "ExtGState", "Pattern", "Shading", "Properties"),
        *("CharProcs", "Colorants", "Solidities", "DotGain", "FD", "HT", "N", "R", "D"),
    )
)
"""Entries whose dictionaries have keys of the author's choice (7.8.3, 9.6.5, 8.6.6.5, 9.8.3.3, 10.5.5.6, 12.5.5)."""

TELLING = ("Type", "ShadingType", "FunctionType")
"""Of which such a dictionary has none."""
