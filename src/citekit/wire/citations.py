"""Writes citations of parts of files: Markdown, HTML, BibTeX, and CSL-JSON (Citation Style Language 1.0.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from citekit.domain.address import Address
from citekit.domain.locations import Lines, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.resource_map import ResourceMap

_BIBTEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_BIBTEX |= {each: f"\\{each}" for each in "&%$#_"}
_KEY = re.compile(r"[^A-Za-z0-9_.:-]+")
_TYPES = {
    Modality.VIDEO: "motion_picture",
    Modality.AUDIO: "song",
    Modality.IMAGE: "graphic",
    Modality.DOCUMENT: "document",
}


def markdown_citation(resource_map: ResourceMap, titles: Sequence[str], address: Address, words: str = "") -> str:
    """Return a Markdown block quote with its source, or a footnote if there are no `words`.

    `titles` are those from the top of the map down to the part.
    """
    if not words:
        return markdown_footnote(resource_map, titles, address)
    quoted = "\n".join(f"> {line}" for line in words.splitlines())
    return f"{quoted}\n>\n> {_source(resource_map, titles, address)}\n"


def markdown_footnote(resource_map: ResourceMap, titles: Sequence[str], address: Address, words: str = "") -> str:
    """Return a Markdown footnote with the source, and with `words` in quotation marks."""
    quoted = f"“{' '.join(words.split())}” " if words else ""
    return f"[^1]: {quoted}{_source(resource_map, titles, address)}\n"


def html_citation(resource_map: ResourceMap, titles: Sequence[str], address: Address, link: str) -> str:
    """Return an HTML link to `link`. Its text is the title of the resource and `titles`; its tooltip is the address."""
    label = " > ".join([resource_map.title, *titles])
    return f'<a href="{escape(link)}" title="{escape(str(address))}">{escape(label)}</a>'


def csl_citation(resource_map: ResourceMap, address: Address | None = None) -> dict[str, Any]:
    """Return a part of a file, or the whole, as a CSL-JSON item. Its `locator`, if any, is the page, line, or time."""
    item: dict[str, Any] = {
        "id": resource_map.resource_id,
        "type": _TYPES.get(resource_map.modality, "document"),
        "title": resource_map.title,
        "URL": _url(resource_map, address),
    }
    people = _authors(resource_map)
    if people:
        item["author"] = [{"literal": name} for name in people]
    language = resource_map.metadata.get("language")
    if isinstance(language, str) and language and resource_map.modality is not Modality.TEXT:
        item["language"] = language
    label, locator = _locator(address)
    return {**item, "label": label, "locator": locator} if locator else item


def bibtex_citation(resource_map: ResourceMap, address: Address | None = None) -> str:
    """Return a part of a file, or the whole, as a BibTeX entry of the type `misc`."""
    fields = {"title": f"{{{_tex(resource_map.title)}}}"}
    people = _authors(resource_map)
    if people:
        fields["author"] = " and ".join(f"{{{_tex(name)}}}" for name in people)
    label, locator = _locator(address)
    if locator and label == "page":
        fields["pages"] = locator.replace("-", "--")
    fields["howpublished"] = rf"\url{{{_url(resource_map, address).replace('{', '%7B').replace('}', '%7D')}}}"
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{_KEY.sub('_', resource_map.resource_id)},\n{body}}}\n"


def _source(resource_map: ResourceMap, titles: Sequence[str], address: Address) -> str:
    return f"{' > '.join([resource_map.title, *titles])}, {address}"


def _authors(resource_map: ResourceMap) -> list[str]:
    several, one = resource_map.metadata.get("authors"), resource_map.metadata.get("author")
    if isinstance(several, list | tuple):
        return [name for name in several if isinstance(name, str) and name.strip()]
    return [one] if isinstance(one, str) and one.strip() else []


def _url(resource_map: ResourceMap, address: Address | None) -> str:
    return (
        f"{resource_map.modality.scheme}://{quote(resource_map.resource_id, safe='')}"
        if address is None
        else str(address)
    )


def _locator(address: Address | None) -> tuple[str, str]:
    """Return the CSL locator label and the locator, or empty strings if there is none."""
    match address and address.location:
        case Pages() as pages:
            runs = (str(first) if first == last else f"{first}-{last}" for first, last in pages.runs)
            return "page", ", ".join(runs)
        case Lines(first=first, last=last):
            return "line", str(first) if first == last else f"{first}-{last}"
        case TimeSpan(start=start, end=end):
            return "timestamp", f"{start:g}" if end is None else f"{start:g}-{end:g}"
    return "", ""


def _tex(text: str) -> str:
    return "".join(_BIBTEX.get(each, each) for each in " ".join(text.split()))
