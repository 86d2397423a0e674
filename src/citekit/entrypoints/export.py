"""Exports a resource for other programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from html import escape
from pathlib import Path

from citekit.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import FormUnsupported
from citekit.domain.exchange import Context, to_web_annotation
from citekit.domain.locations import Virtual
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.limits import CHARS_LIMIT
from citekit.wire.citations import bibtex_citation, csl_citation
from citekit.wire.indented import indented
from citekit.wire.maps import to_json

_MARK = re.compile(r"\[(?P<mark>(?:page|chapter|lines?|rows?|sheet) [^\]]*|\d[\d:.]*)\]")
_HEADING = re.compile(r"(?P<level>#{1,6}) (?P<title>.+)")


class ExportForm(StrEnum):
    """The formats in which a resource can be exported."""

    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"
    BIBTEX = "bibtex"
    CSL = "csl"
    ANNOTATIONS = "w3c-annotations"


def export(
    app: Container, resource_id: str, form: ExportForm, *, roots: Sequence[Path] = (), progress: Progress = silent
) -> str:
    """Return a resource in a format of other programs.

    JSON is the map without the library's chunks; Markdown and HTML are the whole text, as `readText` returns it; BibTeX
    and CSL-JSON cite the file; and W3C annotations describe each node with a location in the file. Raise
    `ResourceMissing`, `MapCorrupt`, and the errors of `ReadText`.
    """
    resource_map = app.maps.get(resource_id).outline
    match form:
        case ExportForm.JSON:
            return to_json(resource_map)
        case ExportForm.MARKDOWN:
            lines = _text(app, resource_id, roots, progress)
            return "\n".join((f"# {_one_line(resource_map.title)}", "", *lines, ""))
        case ExportForm.HTML:
            return _page(resource_map.title, _html(_text(app, resource_id, roots, progress)))
        case ExportForm.BIBTEX:
            return bibtex_citation(resource_map)
        case ExportForm.CSL:
            return json.dumps([csl_citation(resource_map)], indent=2, ensure_ascii=False) + "\n"
        case ExportForm.ANNOTATIONS:
            return indented(_annotations(resource_map)) + "\n"


def _text(app: Container, resource_id: str, roots: Sequence[Path], progress: Progress) -> list[str]:
    """Return the lines of the whole text, with one marker for a page that is split between two answers."""
    lines: list[str] = []
    cursor, last = None, ""
    while True:
        found = app.read_text(resource_id, max_chars=CHARS_LIMIT, cursor=cursor, roots=roots, progress=progress)
        new = found.text.split("\n")
        lines += new[1:] if last and new[0] == last else new
        last = next((line for line in reversed(new) if _MARK.fullmatch(line)), last)
        cursor = found.next_cursor
        if cursor is None:
            return lines


def _annotations(resource_map: ResourceMap) -> dict[str, object]:
    """Return an annotation page (W3C Web Annotation Data Model, section 5) with the titles of nodes."""
    items = []
    for node in resource_map.walk():
        if isinstance(node.location, Virtual):
            continue
        address = Address(resource_map.resource_id, node.location)
        target = annotation_target(address, resource_map)
        body = {"type": "TextualBody", "value": node.title, "purpose": "describing"}
        items.append({"type": "Annotation", "id": str(address), "body": body, "target": target})
    return {"@context": "http://www.w3.org/ns/anno.jsonld", "type": "AnnotationPage", "items": items}


def annotation_target(address: Address, resource_map: ResourceMap) -> dict[str, object]:
    """Return a location of the resource as the target of a W3C annotation.

    A location without a selector, such as cells, is the source of the target instead.
    """
    try:
        context = Context(dimensions=resource_map.extent.size)
        return to_web_annotation(address.location, str(address).partition("#")[0], context)
    except FormUnsupported:
        return {"type": "SpecificResource", "source": str(address)}


def _html(lines: Sequence[str]) -> Iterator[str]:
    """Yield the elements of a text: headings, page markers, and paragraphs."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        heading, mark = _HEADING.fullmatch(line), _MARK.fullmatch(line)
        if line and not heading and not mark:
            paragraph.append(escape(line))
            continue
        if paragraph:
            yield f"<p>{'<br>'.join(paragraph)}</p>"
            paragraph = []
        if heading:
            level = len(heading["level"])
            yield f"<h{level}>{escape(heading['title'])}</h{level}>"
        elif mark:
            yield f"<hr><p><small>{escape(mark['mark'])}</small></p>"


def _page(title: str, elements: Iterator[str]) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(_one_line(title))}</title></head><body>\n<h1>{escape(_one_line(title))}</h1>\n"
        + "\n".join(elements)
        + "\n</body></html>\n"
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
