"""Converts locations to and from selectors of a `SpecificResource` in the W3C Web Annotation Data Model.

A location becomes a FragmentSelector that names its standard in `conformsTo`. If the text is given, lines also become a
TextPositionSelector (0-based, end excluded) and a TextQuoteSelector. Without the text nodes of a chapter, a range of
its characters becomes a TextPositionSelector and, if the text is given, a TextQuoteSelector, which refine the
FragmentSelector of the chapter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import field, frozen

from citekit.domain.errors import AddressMalformed, FormUnsupported, LocationMalformed, LocationOutside
from citekit.domain.exchange.epub_cfi import TextNode, from_epub_cfi, to_epub_cfi
from citekit.domain.exchange.media_fragments import from_media_fragment, to_media_fragment
from citekit.domain.exchange.pdf_open import from_pdf_open, to_pdf_open
from citekit.domain.exchange.rfc5147 import from_rfc5147, to_rfc5147
from citekit.domain.exchange.text_selectors import TextPosition, TextQuote, find_quote, lines_of, position_of, quote_of
from citekit.domain.locations import Chapter, Lines, Location, Pages
from citekit.domain.modality import Modality

MEDIA_FRAGMENTS = "http://www.w3.org/TR/media-frags/"
PLAIN_TEXT = "http://tools.ietf.org/rfc/rfc5147"
PDF = "http://tools.ietf.org/rfc/rfc3778"
EPUB_CFI = "http://www.idpf.org/epub/linking/cfi/epub-cfi.html"

Selector = Mapping[str, Any]
T = TypeVar("T")


@frozen(kw_only=True)
class Context:
    """Data about the resource that the conversion of some selectors requires.

    `text` is the text of the resource or of the chapter. `data` is the bytes of the whole text, for the integrity
    checks and open ends of RFC 5147. `dimensions` is the (width, height) of the image in pixels, and `page_size` that
    of the page in points. `nodes` are the text nodes of the chapter.
    """

    text: str | None = None
    data: bytes | None = None
    dimensions: tuple[int, int] | None = None
    page_size: tuple[float, float] | None = None
    nodes: Sequence[TextNode] = field(default=(), converter=tuple)


_NOTHING = Context()


def to_web_annotation(location: Location, source: str, known: Context = _NOTHING) -> dict[str, Any]:
    """Return `{"type": "SpecificResource", "source": source, "selector": ...}` as plain data for JSON.

    `source` is the IRI of the resource. Selectors in a list are alternatives (section 4.2). Raise `FormUnsupported` for
    cells, for a virtual location, and for characters that are not in the text or the text nodes; `LocationOutside` for
    lines beyond the end of the text; and `AddressMalformed` for a page size that is not above 0.
    """
    return {"type": "SpecificResource", "source": source, "selector": _selector(location, known)}


def from_web_annotation(value: Selector | str, modality: Modality, known: Context = _NOTHING) -> Location:
    """Return the location that an annotation, its target, a SpecificResource, a selector, or an IRI with a fragment
    selects.

    `modality` is the modality of the resource. If there are several selectors, the first valid one is used. If none is
    valid, raise `AddressMalformed` with the problem of the first one.
    """
    if isinstance(value, str):
        return _fragment(value, value, modality, known)
    target = value.get("target", value)
    if isinstance(target, str):
        return _fragment(target, target, modality, known)
    selectors = target.get("selector", target) if isinstance(target, Mapping) else None
    refusal: AddressMalformed | None = None
    for selector in selectors if isinstance(selectors, Sequence) and not isinstance(selectors, str) else [selectors]:
        try:
            return _location(selector, modality, known)
        except AddressMalformed as wrong:
            refusal = refusal or wrong
    raise refusal or _refused(value, "selector", "the selector is missing")


def _selector(location: Location, known: Context) -> dict[str, Any] | list[dict[str, Any]]:
    match location:
        case Chapter(number=number, chars=(start, end)) if not known.nodes:
            chapter = _fragment_selector(to_epub_cfi(Chapter(number)), EPUB_CFI)
            return {**chapter, "refinedBy": _text_selectors(TextPosition(start, end), known.text)}
        case Chapter():
            return _fragment_selector(to_epub_cfi(location, known.nodes), EPUB_CFI)
        case Pages():
            return _fragment_selector(to_pdf_open(location, known.page_size), PDF)
        case Lines() if known.text is not None:
            position = position_of(location, known.text)
            return [_fragment_selector(to_rfc5147(location), PLAIN_TEXT), *_text_selectors(position, known.text)]
        case Lines():
            return _fragment_selector(to_rfc5147(location), PLAIN_TEXT)
    return _fragment_selector(to_media_fragment(location), MEDIA_FRAGMENTS)


def _fragment_selector(value: str, standard: str) -> dict[str, Any]:
    return {"type": "FragmentSelector", "conformsTo": standard, "value": value.removeprefix("#")}


def _text_selectors(position: TextPosition, text: str | None) -> list[dict[str, Any]]:
    location: dict[str, Any] = {"type": "TextPositionSelector", "start": position.start, "end": position.end}
    if text is None:
        return [location]
    if position.end is None or position.end > len(text):
        raise FormUnsupported(
            f"The end of the character range must be at most {len(text)}, the length of the text, not {position.end}."
        )
    quote = quote_of(position, text)
    words = {"type": "TextQuoteSelector", "exact": quote.exact, "prefix": quote.prefix, "suffix": quote.suffix}
    return [location, words]


def _location(selector: object, modality: Modality, known: Context) -> Location:
    match selector:
        case {"type": "FragmentSelector", "value": str(value), **rest}:
            location = _conforming(selector, value, rest.get("conformsTo"), modality, known)
            return _refined(location, rest["refinedBy"], known) if "refinedBy" in rest else location
        case {"type": "TextPositionSelector" | "TextQuoteSelector"} if modality is Modality.TEXT:
            return _lines(selector, _position(selector, known), known)
        case {"type": "TextPositionSelector" | "TextQuoteSelector"}:
            raise _refused(
                selector, "type", f"character selectors alone are not supported for {modality.value} resources"
            )
        case {"type": "FragmentSelector"}:
            raise _refused(selector, "value", "the value of a FragmentSelector must be a string")
        case {"type": str(kind)}:
            raise _refused(selector, kind, "selectors of this type are not supported")
    raise _refused(selector, "selector", "a selector must be an object with a type")


def _conforming(selector: object, value: str, standard: object, modality: Modality, known: Context) -> Location:
    match standard:
        case None:
            return _fragment(selector, value, modality, known)
        case str() if "media-frags" in standard:
            return from_media_fragment(value, modality, known.dimensions)
        case str() if standard.rstrip("/").endswith("rfc5147"):
            return _lines(selector, from_rfc5147(value, known.data), known)
        case str() if standard.rstrip("/").endswith(("rfc3778", "rfc8118")):
            return from_pdf_open(value, known.page_size)
        case str() if "epub" in standard and "cfi" in standard:
            return from_epub_cfi(value, known.nodes)
    raise _refused(selector, str(standard), "fragments of this standard are not supported")


def _fragment(whole: object, value: str, modality: Modality, known: Context) -> Location:
    if modality is Modality.TEXT:
        return _lines(whole, from_rfc5147(value, known.data), known)
    if modality is Modality.DOCUMENT:
        is_book = value.partition("#")[2].startswith("epubcfi(") or value.startswith("epubcfi(")
        return from_epub_cfi(value, known.nodes) if is_book else from_pdf_open(value, known.page_size)
    return from_media_fragment(value, modality, known.dimensions)


def _refined(location: Location, refinement: object, known: Context) -> Location:
    if not isinstance(location, Chapter) or location.chars is not None or location.number != location.last:
        raise _refused(refinement, "refinedBy", "characters can refine only a selector of one whole chapter")
    number, alternatives = location.number, refinement if isinstance(refinement, list) else [refinement]
    refusal: AddressMalformed | None = None
    for selector in alternatives:
        try:
            return _characters(selector, number, _position(selector, known))
        except AddressMalformed as wrong:
            refusal = refusal or wrong
    raise refusal or _refused(refinement, "refinedBy", "the selector is missing")


def _characters(selector: object, number: int, position: TextPosition) -> Chapter:
    start, end = position.start, position.start if position.end is None else position.end
    return _made(selector, lambda: Chapter(number, (start, end)))


def _position(selector: object, known: Context) -> TextPosition:
    match selector:
        case {"type": "TextPositionSelector", "start": int(start), "end": int(end)}:
            return _made(selector, lambda: TextPosition(start, end))
        case {"type": "TextQuoteSelector", "exact": str(exact), **rest} if known.text is not None:
            prefix, suffix = (side if isinstance(side, str) else "" for side in map(rest.get, ("prefix", "suffix")))
            return find_quote(TextQuote(exact, prefix, suffix), known.text)
        case {"type": "TextQuoteSelector", "exact": str()}:
            raise _refused(selector, "exact", "the text is required to find a quotation")
    raise _refused(selector, "selector", "the selector must be a valid TextPositionSelector or TextQuoteSelector")


def _lines(selector: object, found: Lines | TextPosition, known: Context) -> Lines:
    if isinstance(found, Lines):
        return found
    text = known.text
    if text is None:
        raise _refused(selector, "characters", "the text is required to find the lines of characters")
    return _made(selector, lambda: lines_of(found, text))


def _made(selector: object, make: Callable[[], T]) -> T:
    try:
        return make()
    except (LocationMalformed, LocationOutside) as wrong:
        raise _refused(selector, "selector", wrong.reason) from wrong


def _refused(value: object, part: str, reason: str) -> AddressMalformed:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)[:500]
    return AddressMalformed(shown, part, reason, "selector")
