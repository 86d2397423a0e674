"""Parses XML with lxml, with entities, DTDs, and network access disabled, and HTML with selectolax.

Before XML is parsed, the document type is removed, named HTML entities become characters, and other entity references
become plain text.

A parser that recovers from errors silently drops the content after an element that is nested too deeply or a text that
is too long. For that reason, the limits are higher (`huge_tree`: 2,048 levels instead of 256), and a document that
cannot be read to the end is rejected.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import lru_cache
from html.entities import html5
from typing import TYPE_CHECKING

from citekit.adapters.libraries.selectolax import markup_name, parse_standard_html
from citekit.domain.errors import CiteKitError, SourceUnsupported

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element

ERRORS: dict[str, type[CiteKitError]] = {"Error": SourceUnsupported}
"""CiteKit errors for the exception classes of `lxml.etree`, by class name, including subclasses."""

TAGS_LIMIT = 500_000
"""Maximum number of tags in a document, whose tree takes many times its size in memory."""

_USUAL = 200
"""Maximum number of characters of a namespaced name that is cached."""

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""(?:<\?xml[^>]{0,200}?encoding|<meta[^>]{0,200}?charset)\s*=\s*["']?([\w.:-]{1,40})""", re.I)
_HEAD = 1 << 16
_PROLOG = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{0,40});")
_STRAY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)")
_XML_NAMES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_UNPREFIXED = re.compile(r"(</?)[A-Za-z][\w-]{0,20}:(?=[A-Za-z])")
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>",
    re.IGNORECASE,
)


def parse_xml(data: bytes, name: str) -> _Element:
    """Return the root of the XML document `name`.

    Raise `SourceUnsupported` if it is too large, nested too deeply, or not XML.
    """
    text = _bounded(decoded(data), name)
    root = _strict(text)
    if root is None:
        root = _parsed(lambda: _xml_root(_STRAY.sub("&amp;", text), name, recover=True), name)
    if root is None:
        raise SourceUnsupported(f"{name} is not an XML document.")
    return root


def parse_page(data: bytes, name: str) -> _Element:
    """Return the root of the XHTML or HTML document `name`, parsed as XML if it is well-formed, or else as HTML.

    Raise `SourceUnsupported` if it is too large or nested too deeply.
    """
    return parse_page_text(decoded_markup(data), name)


def parse_page_text(text: str, name: str) -> _Element:
    """Return the root of the XHTML or HTML document `name`. See `parse_page`."""
    clean = _bounded(cleaned(text), name)
    root = _strict(clean)
    if root is not None:
        return root
    return parse_html(_UNPREFIXED.sub(r"\1", _SELF_CLOSED.sub(r"<\1\2></\1>", clean)), name)


def parse_html(text: str, name: str, *, plain: str | None = None) -> _Element:
    """Return the root of the HTML document `name`, parsed as browsers do.

    `plain` is the document without noncharacters that mark lines. Raise `SourceUnsupported` if the document is too
    large or nested too deeply, or is parsed differently from `plain`.
    """
    return parse_standard_html(_bounded(text, name), name, plain)


def local_name(element: _Element) -> str:
    """Return the lowercase name of an element without namespace or prefix; "" for comments and the like."""
    tag = element.tag
    return _local(tag) if isinstance(tag, str) else ""


def local_attributes(element: _Element) -> dict[str, str]:
    """Return the attributes of an element by lowercase name without namespace or prefix; of equal names, the first one
    wins.
    """
    found: dict[str, str] = {}
    for key, value in element.items():
        found.setdefault(_local(str(key)), str(value))
    return found


def own_attributes(element: _Element) -> dict[str, str]:
    """Return the attributes of an element that have no namespace and no prefix, by lowercase name."""
    return {
        markup_name(key.lower()): str(value)
        for key, value in ((str(each), text) for each, text in element.items())
        if "}" not in key and ":" not in key
    }


def _local(name: str) -> str:
    return _known_local(name) if len(name) <= _USUAL else _new_local(name)


def _new_local(name: str) -> str:
    return markup_name(name.rpartition("}")[2].rpartition(":")[2].lower())


_known_local = lru_cache(1024)(_new_local)


def inner_text(element: _Element) -> str:
    """Return all text in an element and its descendants, on one line."""
    return " ".join("".join(str(piece) for piece in element.itertext()).split())


def names(text: str) -> frozenset[str]:
    """Return the set of the names in `text`, which is a list separated by white space."""
    return frozenset(text.split())


def decoded(data: bytes) -> str:
    """Return the markup `data` as sanitized text (see `cleaned`).

    The encoding is that of the byte-order mark, else the declared one, else UTF-8, else windows-1252.
    """
    return cleaned(decoded_markup(data))


def cleaned(text: str) -> str:
    """Return the markup `text` without the XML declaration, the document type, and characters that XML does not allow.

    Named entities and form feeds are replaced.
    """
    prolog = _PROLOG.match(text)
    text = text[prolog.end() if prolog else 0 :].replace("\f", " ")
    text = _DOCTYPE.sub("", text[:_HEAD], count=1) + text[_HEAD:]
    return _NAMED.sub(_character, _ILLEGAL.sub("", text))


def decoded_markup(data: bytes) -> str:
    """Return the markup `data` as text. See `decoded` for the encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    declared = _DECLARED.search(data[:1024])
    for encoding in (declared[1].decode("ascii") if declared else "utf-8", "utf-8"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("windows-1252", "replace")


def _character(reference: re.Match[str]) -> str:
    name = reference[1]
    character = html5.get(f"{name};")
    if name in _XML_NAMES:
        return reference[0]
    if character is None:
        return f"&amp;{name};"
    return character.replace("&", "&amp;").replace("<", "&lt;")


def _strict(text: str) -> _Element | None:
    from lxml import etree

    for attempt in (text, _STRAY.sub("&amp;", text)):
        try:
            return _xml_root(attempt, "")
        except etree.Error:
            continue
    return None


def _xml_root(text: str, name: str, *, recover: bool = False) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    root = etree.fromstring(text.encode(), parser)
    _check_end(parser, name)
    return root


def _check_end(parser: XMLParser, name: str) -> None:
    """Raise `SourceUnsupported` if a resource limit stopped the parser before the end of the document `name`."""
    from lxml import etree

    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        raise SourceUnsupported(
            f"{name} cannot be read to the end: it is nested deeper than 2,048 levels or contains text that is too long."
        )


def _bounded(text: str, name: str) -> str:
    if text.count("<") > TAGS_LIMIT:
        raise SourceUnsupported(f"{name} has more than {TAGS_LIMIT:,} tags; split it into smaller documents.")
    return text


def _parsed(parse: Callable[[], _Element | None], name: str) -> _Element | None:
    from lxml import etree

    try:
        return parse()
    except etree.Error as error:
        if "Document is empty" in str(error):
            return None
        raise translated(error, name) from error


def translated(error: Exception, name: str) -> CiteKitError:
    """Return the CiteKit error for an lxml exception that occurred while reading `name`."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    ours = next((ERRORS[kind] for kind in kinds if kind in ERRORS), SourceUnsupported)
    return ours(f"{name} cannot be parsed as markup ({error}); it may be damaged or of another type.")
