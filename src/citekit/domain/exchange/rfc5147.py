"""Converts lines and characters to and from the fragment of a plain text's URI (RFC 5147).

An example is `#line=9,20;length=5120`. The numbers are positions between lines or characters, counted from 0, so
`line=9,20` means lines 10 to 20.
"""

from __future__ import annotations

import hashlib
import re

from citekit.domain.errors import AddressMalformed, FormUnsupported, LocationMalformed
from citekit.domain.exchange.text_selectors import TextPosition
from citekit.domain.exchange.uri_fragment import bare
from citekit.domain.line_index import index_lines
from citekit.domain.locations import Lines, Location
from citekit.domain.numbers import read_whole

_SHAPE = re.compile(r"(line|char)=(\d*)(,?)(\d*)", re.ASCII)
_CHECK = re.compile(r"(length|md5)=([0-9A-Fa-f]+)(?:,([A-Za-z0-9._:+-]+))?", re.ASCII)


def to_rfc5147(location: Location | TextPosition, data: bytes | None = None) -> str:
    """Return `#line=first-1,last` for lines, or `#char=start,end` for a text position.

    `data` is the bytes of the whole text. If it is given, `;length=` (octets) and `;md5=` are added, so that readers
    can detect a changed text. Raise `FormUnsupported` for any other location.
    """
    match location:
        case Lines(first=first, last=last):
            value = f"line={first - 1},{last}"
        case TextPosition(start=start, end=end):
            value = f"char={start}" if start == end else f"char={start},{'' if end is None else end}"
        case _:
            raise FormUnsupported(
                f"RFC 5147 is only for lines and characters of a text, not for {location.modality.value} locations."
            )
    checks = "" if data is None else f";length={len(data)};md5={_md5(data)}"
    return f"#{value}{checks}"


def from_rfc5147(text: str, data: bytes | None = None, encoding: str = "utf-8") -> Lines | TextPosition:
    """Parse a fragment, or a URI with a fragment, as lines, or as a text position if it begins with `char=`.

    `data` is the bytes of the whole text in `encoding`. It is required for lines without an end (`line=9,`). Without
    it, the integrity checks (`length` and `md5`) are not verified. A check that names another character set is computed
    in that character set. Raise `AddressMalformed` if the fragment is not valid or an integrity check fails.
    """
    value, *checks = bare(text).split(";")
    shape = _SHAPE.fullmatch(value)
    if not shape or not (shape[2] or shape[4]) or (shape[4] and not shape[3]):
        raise AddressMalformed(text, value, "the fragment must be line=first,last or char=start,end")
    for check in checks:
        _check(text, check, data, encoding)
    scheme, start, comma, end = shape.groups()
    first = _number(text, start or "0")
    if scheme == "char":
        last = first if not comma else _number(text, end) if end else None
        return _position(text, value, first, last)
    if not comma:
        raise AddressMalformed(text, value, "a single position contains no lines; give a range, such as line=9,20")
    last = _number(text, end) if end else _count(text, value, data)
    if not end and last <= first:
        raise AddressMalformed(text, value, "the range begins at or after the end of the text")
    return _lines(text, value, first, last)


def _number(text: str, digits: str) -> int:
    number = read_whole(digits)
    if number is None:
        raise AddressMalformed(text, digits, "the number must have at most 12 digits")
    return number


def _position(text: str, value: str, start: int, end: int | None) -> TextPosition:
    try:
        return TextPosition(start, end)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, wrong.reason) from wrong


def _lines(text: str, value: str, start: int, end: int) -> Lines:
    if end <= start:
        raise AddressMalformed(text, value, "the end of the range must be after its start")
    return Lines(start + 1, end)


def _count(text: str, value: str, data: bytes | None) -> int:
    if data is None:
        raise AddressMalformed(
            text, value, "the text is required to convert a range without an end; add the end, as in line=9,20"
        )
    return index_lines([data]).count if data else 0


def _check(text: str, check: str, data: bytes | None, encoding: str) -> None:
    shape = _CHECK.fullmatch(check)
    if not shape or (shape[1] == "md5" and len(shape[2]) != 32) or (shape[1] == "length" and not shape[2].isdigit()):
        raise AddressMalformed(
            text, check, "an integrity check must be length= and a number, or md5= and 32 hexadecimal digits"
        )
    if data is None:
        return
    seen = _octets(text, check, data, encoding, shape[3])
    if shape[1] == "md5" and shape[2].lower() != _md5(seen):
        raise AddressMalformed(text, check, "the fragment was created for a different text: the MD5 digests differ")
    if shape[1] == "length" and shape[2].lstrip("0") != str(len(seen)).lstrip("0"):
        raise AddressMalformed(
            text,
            check,
            f"the fragment was created for a different text: the length of this text in bytes is {len(seen)}",
        )


def _octets(text: str, check: str, data: bytes, encoding: str, charset: str | None) -> bytes:
    if charset is None or charset.lower().replace("_", "-") == encoding.lower().replace("_", "-"):
        return data
    try:
        return data.decode(encoding).encode(charset)
    except (LookupError, UnicodeError) as wrong:
        raise AddressMalformed(text, check, f"the text cannot be converted to {charset}") from wrong


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
