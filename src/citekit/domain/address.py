"""Formats and parses addresses, which are the text form of a resource ID and a location.

    doc://book#pages=12-15          doc://book#pages=12&bbox=0.1,0.2,0.9,0.4
    doc://novel#chapter=7           doc://novel#chapter=7&chars=120-980
    doc://budget#sheet=Q1%20Plan    doc://budget#sheet=Q1%20Plan&cells=A1:F20
    video://lecture#t=145.5-200     audio://talk#t=60-120
    image://diagram#bbox=0.2,0.3,0.8,0.7
    text://utils_py#lines=10-50
    virtual://anything

`format_address` returns one canonical text for each location. `parse_address` parses that text and some common
variants. `parse_address(format_address(a)) == a` for every address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote

from attrs import field, frozen

from citekit.domain.errors import AddressMalformed, LocationMalformed, ResourceIdRefused
from citekit.domain.fragments import box_value, page_list, quoted_sheet, sheet_name, time_range, whole_range
from citekit.domain.ids import check_resource_id
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.numbers import read_whole, shortest

_SHAPE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^#]*)(?:#(.*))?", re.DOTALL)
_SYNONYMS = {"page": "pages", "slide": "pages", "slides": "pages", "line": "lines", "xywh": "bbox"}


@frozen
class Address:
    """A location in the resource with the ID `resource_id`. `str()` returns the canonical text.

    The constructor raises `ResourceIdRefused` for an ID that is not valid.
    """

    resource_id: str = field()
    location: Location

    @resource_id.validator
    def _storable(self, _attribute: object, value: str) -> None:
        check_resource_id(value)

    def __str__(self) -> str:
        return format_address(self)


def format_address(address: Address) -> str:
    """Return the canonical text of an address. Equal addresses have equal texts."""
    location = address.location
    start = f"{location.modality.scheme}://{quote(address.resource_id, safe='')}"
    if not isinstance(location, Virtual):
        return f"{start}#{'&'.join(_fragment(location))}"
    plain = location.virtual_address
    if plain.startswith("virtual://") and _reads_as(plain, address):
        return plain
    return f"{start}#address={quote(plain, safe='')}"


def parse_address(text: str) -> Address:
    """Parse an address. Raise `AddressMalformed`, with the text and the part that is wrong, if it is not valid.

    In addition to canonical addresses, these variants are accepted: times in seconds or as `mm:ss` or `hh:mm:ss`,
    separated by `-` or `,`, with an `npt:` prefix, and with the start or end omitted; `page=`, `slide=`, `slides=`,
    `line=`, and `xywh=` (with `percent:`, or as fractions with a decimal point); pages in any order; sheet names in
    quotes; and cells as `b2`, `$A$1:$F$20`, or from any corner of a range to the opposite one.
    """
    shape = _SHAPE.fullmatch(text)
    if not shape:
        raise AddressMalformed(text, text, "an address must begin with a scheme, such as doc://, and a resource ID")
    scheme, name, fragment = shape.groups()
    modality = Modality.from_scheme(scheme)
    if modality is None:
        known = ", ".join(each.scheme for each in Modality)
        raise AddressMalformed(text, scheme, f"the scheme must be one of: {known}")
    resource = _resource(text, name.partition("/")[0] if modality is Modality.VIRTUAL else name)
    if modality is Modality.VIRTUAL:
        return _virtual(text, resource, fragment)
    parameters = _parameters(text, fragment, modality)
    try:
        location = _READERS[modality](text, parameters)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, fragment or text, wrong.reason) from wrong
    if parameters:
        raise AddressMalformed(
            text, next(iter(parameters)), "the parameter is unknown, or cannot be combined with the others"
        )
    return Address(resource, location)


def fragment_of(location: Location) -> str:
    """Return the part of an address after `#` that names a location, such as `pages=12-15`."""
    return format_address(Address("x", location)).partition("#")[2]


def _fragment(location: Location) -> Iterator[str]:
    match location:
        case Pages(region=region):
            yield f"pages={','.join(_run(first, last) for first, last in location.runs)}"
            if region is not None:
                yield f"bbox={_corners(region)}"
        case Chapter(number=number, last=last, chars=chars):
            yield f"chapter={_run(number, last)}"
            if chars is not None:
                yield f"chars={chars[0]}-{chars[1]}"
        case Cells(sheet=sheet, range=cells):
            yield f"sheet={quote(quoted_sheet(sheet), safe='')}"
            if cells is not None:
                yield f"cells={cells}"
        case Lines(first=first, last=last):
            yield f"lines={_run(first, last)}"
        case TimeSpan(start=start, end=end):
            yield f"t={shortest(start)}" if end is None else f"t={shortest(start)}-{shortest(end)}"
        case Box():
            yield f"bbox={_corners(location)}"


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _corners(box: Box) -> str:
    return ",".join(shortest(value) for value in box.corners)


def _reads_as(text: str, address: Address) -> bool:
    try:
        return parse_address(text) == address
    except AddressMalformed:
        return False


_NOT_UTF8 = "its percent-encoded characters are not valid UTF-8"
_EXAMPLES = {
    Modality.DOCUMENT: "pages=12",
    Modality.TEXT: "lines=10-50",
    Modality.IMAGE: "bbox=0.1,0.2,0.9,0.4",
    Modality.VIDEO: "t=60-120",
    Modality.AUDIO: "t=60-120",
}
_NEEDED = "one of the parameters pages, chapter, or sheet"


def _resource(text: str, name: str) -> str:
    try:
        return check_resource_id(unquote(name, errors="strict"))
    except UnicodeDecodeError as wrong:
        raise AddressMalformed(text, name or text, _NOT_UTF8) from wrong
    except ResourceIdRefused as wrong:
        reason = str(wrong).removesuffix(".")
        raise AddressMalformed(text, name or text, f"{reason[:1].lower()}{reason[1:]}") from wrong


def _virtual(text: str, resource: str, fragment: str | None) -> Address:
    wrapped = fragment is not None and fragment.startswith("address=")
    try:
        target = unquote(fragment.removeprefix("address="), errors="strict") if wrapped and fragment else text
        return Address(resource, Virtual(target))
    except UnicodeDecodeError as wrong:
        raise AddressMalformed(text, fragment or text, _NOT_UTF8) from wrong
    except LocationMalformed as wrong:
        raise AddressMalformed(text, fragment or text, wrong.reason) from wrong


def _parameters(text: str, fragment: str | None, modality: Modality) -> dict[str, str]:
    if not fragment:
        raise AddressMalformed(text, text, f"a fragment such as #{_EXAMPLES[modality]} is missing")
    found: dict[str, str] = {}
    for part in fragment.split("&"):
        name, equals, value = part.partition("=")
        key = _SYNONYMS.get(name, name)
        if not equals or not value:
            raise AddressMalformed(
                text, part, f"each part of a fragment must be name=value, such as {_EXAMPLES[modality]}"
            )
        if key in found:
            raise AddressMalformed(text, part, f"the parameter {key} appears twice")
        found[key] = f"xywh={unquote(value)}" if name == "xywh" else unquote(value)
    return found


def _take(text: str, parameters: dict[str, str], name: str, modality: Modality) -> str:
    if name not in parameters:
        needed = _NEEDED if modality is Modality.DOCUMENT else f"the parameter {name}"
        raise AddressMalformed(text, "&".join(parameters), f"{modality.scheme}:// addresses must have {needed}")
    return parameters.pop(name)


def _document(text: str, parameters: dict[str, str]) -> Location:
    if "chapter" in parameters:
        first, last = whole_range(text, parameters.pop("chapter"))
        chars = parameters.pop("chars", None)
        return Chapter(first, None if chars is None else _chars(text, chars), last=last)
    if "sheet" in parameters:
        return Cells.read(sheet_name(text, parameters.pop("sheet")), parameters.pop("cells", None))
    pages = page_list(text, _take(text, parameters, "pages", Modality.DOCUMENT))
    region = parameters.pop("bbox", None)
    return Pages.of(pages, None if region is None else box_value(text, region))


def _chars(text: str, value: str) -> tuple[int, int]:
    start, dash, end = value.partition("-")
    numbers = read_whole(start), read_whole(end)
    if not dash or numbers[0] is None or numbers[1] is None:
        raise AddressMalformed(text, value, "characters must be start-end, counted from 0, with the end excluded")
    return numbers[0], numbers[1]


def _lines(text: str, parameters: dict[str, str]) -> Location:
    return Lines(*whole_range(text, _take(text, parameters, "lines", Modality.TEXT)))


def _picture(text: str, parameters: dict[str, str]) -> Location:
    return box_value(text, _take(text, parameters, "bbox", Modality.IMAGE))


def _timed(modality: Modality) -> Callable[[str, dict[str, str]], Location]:
    def read(text: str, parameters: dict[str, str]) -> Location:
        start, end = time_range(text, _take(text, parameters, "t", modality))
        return TimeSpan(start, end, modality)

    return read


_READERS: dict[Modality, Callable[[str, dict[str, str]], Location]] = {
    Modality.DOCUMENT: _document,
    Modality.TEXT: _lines,
    Modality.IMAGE: _picture,
    Modality.VIDEO: _timed(Modality.VIDEO),
    Modality.AUDIO: _timed(Modality.AUDIO),
}
