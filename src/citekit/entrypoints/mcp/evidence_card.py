"""Defines the MCP App that shows evidence in a chat (MCP Apps, version 2026-01-26): a card, and the tools for it.

`showEvidence` is for models, even without the card; `evidencePage` is for the card. Both are listed only to clients
that support MCP Apps, because agents pay for descriptions.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcp_types import ImageContent, ReadResourceResult, TextResourceContents, Tool, ToolAnnotations

from citekit.application.named_parts import part_named
from citekit.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import RequestRefused
from citekit.domain.locations import Box, Location, Pages, TimeSpan, Virtual
from citekit.domain.node import NodeName
from citekit.domain.page_view import MARKED_PAGES, WIDTHS, Corners, Layout
from citekit.domain.progress import Progress
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import Answer
from citekit.wire.quotes import plain_wording

if TYPE_CHECKING:
    from citekit.domain.quotes.verdict import NearPlace, QuotePlace, QuoteVerdict

EXTENSION = "io.modelcontextprotocol/ui"
"""The identifier of the extension MCP Apps."""

CARD = "ui://citekit/evidence.html"
"""The URI of the card."""

CARD_TYPE = "text/html;profile=mcp-app"
"""The media type of an MCP App."""

TEXT = 3_000
"""The maximum number of characters of a text in the card."""

PAGES = 50
"""The maximum number of pages that the card shows."""

PICTURE = 512 * 1024
"""The size in bytes above which the picture of a page is drawn smaller. Some hosts limit the size of tool results."""

_FRACTIONS = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}

SHOW_EVIDENCE = Tool(
    name="showEvidence",
    title="Show evidence to the user",
    description=(
        "Shows the user a part of a file as a card: the page with the quote marked, or the text, frame, or sound. "
        "Returns the address to cite and whether the quote holds."
    ),
    input_schema=schemas.inputs(
        {
            "resource_id": schemas.text(),
            "node_id": schemas.text("A node id or address."),
            "quote": schemas.text("The words to mark."),
        },
        ("resource_id",),
    ),
    output_schema={
        "type": "object",
        "properties": {
            "address": {"type": "string"},
            "title": {"type": "string"},
            "titles": {"type": "array", "items": {"type": "string"}},
            "kind": {"type": "string", "enum": ["pages", "text", "recording"]},
            "finding": {
                "type": "string",
                "description": "As in verifyQuote, but altered instead of absent if a passage is similar, and with ', not "
                "visible' added if readers do not see the words.",
            },
            "holds": {"type": "boolean"},
            "quote": {"type": "string"},
            "wording": {
                "type": "array",
                "description": "If altered: the compared words, as [whether the same, quote, source].",
                "items": {"type": "array"},
            },
            "pages": {"type": "array", "items": {"type": "integer"}},
            "page_count": {"type": "integer"},
            "boxes": {
                "type": "object",
                "description": "Marked rectangles [left, top, width, height], as fractions, by page.",
                "additionalProperties": _FRACTIONS,
            },
            "differing": {
                "type": "object",
                "description": "Rectangles of the words that an altered quote changes, by page.",
                "additionalProperties": _FRACTIONS,
            },
            "text": {"type": "string"},
            "start": {"type": "number", "description": "In seconds."},
            "end": {"type": "number", "description": "In seconds."},
            "media": {"type": "string"},
            "viewer": {
                "type": "string",
                "description": "A link to the part, if the viewer is running.",
            },
        },
        "required": ["address", "title", "titles", "kind"],
    },
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    _meta={"ui": {"resourceUri": CARD, "visibility": ["model", "app"]}},
)

EVIDENCE_PAGE = Tool(
    name="evidencePage",
    title="Show a page",
    description="Returns a picture of a page for the card of showEvidence.",
    input_schema=schemas.inputs(
        {
            "resource_id": schemas.text(),
            "page": schemas.count("A page number."),
            "width": schemas.count("Pixels."),
        },
        ("resource_id", "page"),
    ),
    output_schema={
        "type": "object",
        "properties": {"page": {"type": "integer"}, "page_count": {"type": "integer"}},
        "required": ["page", "page_count"],
    },
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    _meta={"ui": {"visibility": ["app"]}},
)

FOR_CARDS = (SHOW_EVIDENCE, EVIDENCE_PAGE)
"""The tools that are listed only to clients with MCP Apps."""


def supports_apps(extensions: Mapping[str, Any] | None) -> bool:
    """Return whether a client with these extensions can show MCP Apps of the type `CARD_TYPE`."""
    said = (extensions or {}).get(EXTENSION)
    kinds = said.get("mimeTypes") if isinstance(said, Mapping) else None
    return isinstance(kinds, Sequence) and CARD_TYPE in kinds


def card() -> ReadResourceResult:
    """Return the MCP response that contains the card."""
    html = files("citekit.entrypoints.mcp").joinpath("evidence_card.html").read_text("utf-8")
    contents = TextResourceContents(uri=CARD, mime_type=CARD_TYPE, text=html, _meta={"ui": {"prefersBorder": True}})
    return ReadResourceResult(contents=[contents])


def show_evidence(app: Container, arguments: Mapping[str, Any], progress: Progress) -> Answer:
    """Run the tool `showEvidence`."""
    what = part_named(app.maps, arguments["resource_id"], arguments.get("node_id"))
    words = str(arguments.get("quote", "")).strip()
    verdict = app.verify_quote(what, words, progress=progress) if words else None
    address = _address(app, what, verdict)
    resource_map = app.maps.get(address.resource_id)
    node = resource_map.outline.innermost(address.location)
    titles = [] if node is None else resource_map.titles(node.id)
    plain: dict[str, Any] = {"address": str(address), "title": resource_map.title, "titles": titles}
    if verdict is not None:
        plain |= {"quote": words, "finding": verdict.label, "holds": verdict.holds}
    if verdict is not None and verdict.altered is not None:
        plain["wording"] = plain_wording(words, verdict.altered.text)
    plain |= _shown(app, address, verdict, progress)
    link = _viewer_link(app, address, words, verdict)
    if link is not None:
        plain["viewer"] = link
    return Answer.of(plain, summary=_summary(plain))


def evidence_page(app: Container, arguments: Mapping[str, Any], _: Progress) -> Answer:
    """Run the tool `evidencePage`. Pictures of more than `PICTURE` bytes are drawn smaller."""
    name, page = arguments["resource_id"], arguments["page"]
    count = len(app.show.page_sizes(name))
    width = min(arguments.get("width", 960), WIDTHS[-1])
    drawn = app.show.page_picture(name, page, width)
    while len(drawn.data) > PICTURE and width > WIDTHS[0]:
        width = int(width * 0.7)
        drawn = app.show.page_picture(name, page, width)
    picture = ImageContent(data=b64encode(drawn.data).decode(), mime_type=drawn.media_type)
    return Answer.of({"page": page, "page_count": count}, [picture], summary=f"Page {page} of {count}.")


def _viewer_link(app: Container, address: Address, words: str, verdict: QuoteVerdict | None) -> str | None:
    """Return a link to the part in the user's viewer, or None.

    It has no token or code, so it opens only in a browser that already has access.
    """
    if isinstance(address.location, Virtual) or app.settings.home not in app.viewed_homes():
        return None
    from citekit.entrypoints.web.links import home_path, place_of
    from citekit.entrypoints.web.server import ADDRESS, running_viewer

    running = running_viewer(app)
    if running is None:
        return None
    altered = None if verdict is None else verdict.altered
    path, fragment = place_of(address, words) if altered is None else place_of(address, altered.text, words)
    return f"http://{ADDRESS}:{running.port}{home_path(app.settings.home)}{path}#{fragment}"


def _address(app: Container, what: NodeName | Address | str, verdict: QuoteVerdict | None) -> Address:
    """Return the address of the passage to mark, or else of the requested part or the resource's first node.

    Raise `RequestRefused` if there is no such node.
    """
    passage = None if verdict is None else _passage(verdict)
    if passage is not None:
        return passage.address
    if isinstance(what, str):
        nodes = app.maps.get(what).nodes
        if not nodes:
            raise RequestRefused(f"The map of '{what}' has no nodes. Give the address of a part as node_id.")
        return Address(what, nodes[0].location)
    return app.resolve(what, virtual=True).address


def _shown(app: Container, address: Address, verdict: QuoteVerdict | None, progress: Progress) -> dict[str, Any]:
    """Return the content of the card: pages with boxes, a time range, or a text."""
    location, name = address.location, address.resource_id
    if isinstance(location, Virtual):
        return {"kind": "text", "text": ""}
    if isinstance(location, TimeSpan):
        span = {"kind": "recording", "start": location.start, "media": location.modality.value}
        return span if location.end is None else {**span, "end": location.end}
    if app.show.layout(name) is Layout.PAGES:
        pages = list(location.numbers[:PAGES]) if isinstance(location, Pages) else [1]
        count = len(app.show.page_sizes(name))
        return {"kind": "pages", "pages": pages, "page_count": count} | _boxes(app, address, verdict)
    found = app.read_text(str(address), max_chars=TEXT, progress=progress)
    return {"kind": "text", "text": found.text}


def _passage(verdict: QuoteVerdict) -> NearPlace | QuotePlace | None:
    """Return the passage to mark: the first place of the quote, or else the passage that it alters, or None."""
    return verdict.places[0] if verdict.places else verdict.altered


def _boxes(app: Container, address: Address, verdict: QuoteVerdict | None) -> dict[str, dict[str, list[list[float]]]]:
    location: Location = address.location
    passage = None if verdict is None else _passage(verdict)
    if verdict is not None and passage is not None and isinstance(location, Pages):
        said = "" if verdict.altered is None else verdict.quote
        marks = app.show.marks(address.resource_id, location.numbers[:MARKED_PAGES], passage.text, said)
        boxes = {str(each.page): [_sized(box) for box in each.boxes] for each in marks}
        differing = {str(each.page): [_sized(box) for box in each.differing] for each in marks if each.differing}
        return {"boxes": boxes, "differing": differing} if differing else {"boxes": boxes}
    if isinstance(location, Pages) and location.region is not None:
        return {"boxes": {str(location.numbers[0]): [_sized(location.region.corners)]}}
    return {"boxes": {"1": [_sized(location.corners)]} if isinstance(location, Box) else {}}


def _sized(corners: Corners) -> list[float]:
    left, top, right, bottom = corners
    return [round(edge, 5) for edge in (left, top, right - left, bottom - top)]


def _summary(plain: Mapping[str, Any]) -> str:
    """Return the answer as text, for clients without the card."""
    titles = " > ".join(" ".join(title.split()) for title in (plain["title"], *plain["titles"]))
    lines = [f"{plain['address']}  {titles}"]
    if "finding" in plain:
        lines.append(f"The quote {'holds' if plain['holds'] else 'does not hold'}: {plain['finding']}.")
    if "wording" in plain:
        lines.append(f"The source has: {' '.join(passage for _, _, passage in plain['wording'] if passage)}")
    if plain.get("text"):
        lines.append(plain["text"])
    return "\n".join(lines)
