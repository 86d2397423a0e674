"""Defines the MCP tool `verifyQuote`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from mcp_types import Tool, ToolAnnotations

from citekit.application.named_parts import part_named
from citekit.container import Container
from citekit.domain.errors import Cancelled, CiteKitError, RequestRefused
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.quotes.verdict_finding import Finding
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import Answer
from citekit.entrypoints.mcp.arguments import with_ids_meant
from citekit.wire.quotes import to_plain_lookup, to_plain_with_lines

_TEXT: Mapping[str, Any] = {
    "type": "string",
    "description": "The text at this location, cut after 1000 characters.",
}
_ADDRESS: Mapping[str, Any] = {"type": "string", "description": "An address that you can pass to resolve."}

_GAPS: Mapping[str, Any] = {
    "type": "array",
    "description": "The text that the ellipses of the quote leave out, in order.",
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "The omitted text; if it is long, without its middle."},
            "length": {"type": "integer", "description": "The number of omitted characters."},
            "changes_meaning": {"type": "boolean", "description": "Whether the omission can change the meaning."},
            "qualifiers": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Negations, exceptions, and conditions in the omitted text.",
            },
            "remarks": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Other reasons to read the omitted text, such as 'crosses sentences'.",
            },
        },
        "required": ["text", "length", "changes_meaning", "qualifiers", "remarks"],
    },
}

VERDICT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "finding": {
            "type": "string",
            "enum": [finding.value for finding in Finding],
            "description": (
                "exact or normalised: the quote is at the requested location; elsewhere: the quote "
                "is only at other locations (places); altered: the words are there (places), but the quote "
                "omits or changes something that can change the meaning (gaps, changes); absent: the "
                "quote is not in the file; unread: the quote is not on the pages that could be read, but "
                "some pages (unread_pages) could not be read."
            ),
        },
        "holds": {
            "type": "boolean",
            "description": "Whether the quote is at the requested location, in text that readers see. False for altered.",
        },
        "visible": {
            "type": "boolean",
            "description": "False if the words are in the file but hidden from its readers (see the note of "
            "the place). Such a quote does not hold.",
        },
        "resource_id": {"type": "string"},
        "asked": {"type": ["string", "null"], "description": "The address that was searched; null if none was given."},
        "quote": {"type": "string"},
        "places": {
            "type": "array",
            "description": "Where the quote or, if altered, its words are, best match first, at most five.",
            "items": {
                "type": "object",
                "properties": {
                    "address": _ADDRESS,
                    "text": _TEXT,
                    "line": {"type": "string", "description": "The whole line or table row."},
                    "exact": {"type": "boolean"},
                    "visible": {
                        "type": "boolean",
                        "description": "Whether a reader of the file sees the words at this location.",
                    },
                    "differences": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The kinds of differences between the quote and the text; empty if exact is true.",
                    },
                    "gaps": _GAPS,
                    "changes": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Units, symbols, and minus signs that differ in a way that changes their meaning.",
                    },
                    "note": {
                        "type": "string",
                        "description": "A remark, such as that the text was recognized by OCR.",
                    },
                },
                "required": ["address", "text", "exact", "visible", "differences"],
            },
        },
        "more": {"type": "boolean", "description": "Whether there are more places than those listed."},
        "near": {
            "type": ["object", "null"],
            "description": "A passage that is only similar. It is not the quote.",
            "properties": {"address": _ADDRESS, "text": _TEXT, "similarity": {"type": "number"}},
        },
        "unread_pages": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "Pages that are too complex to read, at most 100. The quote may be on one of them.",
        },
        "unread_count": {"type": "integer", "description": "The number of pages that could not be read."},
    },
    "required": [
        "finding",
        "holds",
        "visible",
        "resource_id",
        "asked",
        "quote",
        "places",
        "more",
        "near",
        "unread_pages",
        "unread_count",
    ],
}

QUOTES_LIMIT = 20
"""The maximum number of quotes in one call."""

_LOOKED_UP: Mapping[str, Any] = {
    "searched": {"type": "integer", "description": "Without a resource: the number of files that were searched."},
    "skipped": {
        "type": "integer",
        "description": "Without a resource: the number of files that could not be searched.",
    },
    "cut": {
        "type": "boolean",
        "description": "True if not all files or pages with these words were compared. Give a resource_id, or a longer "
        "quote.",
    },
}

ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **VERDICT["properties"],
        "resource_id": {"type": ["string", "null"], "description": "Null if nothing similar was found."},
        **_LOOKED_UP,
        "verdicts": {
            "type": "array",
            "description": "For a list of quotes: the verdict on each, with these fields, or an error.",
            "items": {"type": "object", "properties": {"quote": {"type": "string"}}, "required": ["quote"]},
        },
    },
    "anyOf": [{"required": VERDICT["required"]}, {"required": ["verdicts"]}],
}

_RESOURCE = schemas.text("Default: all files.")
_PART = schemas.text("Location: a node id or address.")
_QUOTE = schemas.text("The text; ... stands for omitted words.")

VERIFY_QUOTE = Tool(
    name="verifyQuote",
    title="Check a quote, or find a text",
    description=(
        "Checks that a text is where you want to cite it, or finds where it is: its exact page and whole line or row. Cite "
        "only exact and normalised (typography differs). elsewhere: at other addresses; altered: the meaning can differ; "
        "absent: near is only similar; unread: pages cannot be read."
    ),
    input_schema=schemas.inputs(
        {
            "resource_id": _RESOURCE,
            "node_id": _PART,
            "quote": _QUOTE,
            "quotes": {
                "type": "array",
                "maxItems": QUOTES_LIMIT,
                "description": "Several quotes, each with its own location or the call's.",
                "items": schemas.inputs(
                    {"quote": {"type": "string"}, "resource_id": {"type": "string"}, "node_id": {"type": "string"}},
                    ("quote",),
                ),
            },
        }
    ),
    output_schema=dict(ANSWER),
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
)


def verify_quote(
    app: Container, error_text: Callable[[BaseException], str], arguments: Mapping[str, Any], progress: Progress
) -> Answer:
    """Run the tool `verifyQuote` for one quote or a list, in which an error for one quote does not prevent the others.

    `error_text` returns the text of an error in a list for the agent. Raise `RequestRefused` unless the arguments have
    either `quote` or 1 to `QUOTES_LIMIT` `quotes`. For a single quote, also raise the errors of verifying it.
    """
    quotes = arguments.get("quotes")
    if (quotes is None) is ("quote" not in arguments):
        raise RequestRefused("verifyQuote requires exactly one of the arguments quote (a string) and quotes (a list).")
    if quotes is None:
        verdict = _verdict(app, progress, arguments)
        return Answer.of(verdict, summary="\n".join(_lines(verdict)))
    if not 1 <= len(quotes) <= QUOTES_LIMIT:
        raise RequestRefused(f"quotes must contain from 1 to {QUOTES_LIMIT} quotes, not {len(quotes)}.")
    shared = {name: arguments[name] for name in ("resource_id", "node_id") if name in arguments}
    verdicts = []
    for each in quotes:
        own = each if "resource_id" in each else {**shared, **each}
        try:
            verdicts.append(with_ids_meant(partial(_verdict, app, progress), own, app.maps.ids))
        except Cancelled:
            raise
        except CiteKitError as error:
            verdicts.append({"quote": each["quote"], "error": error_text(error)})
    numbered = [f"{number}. " + "\n".join(_lines(each)) for number, each in enumerate(verdicts, 1)]
    return Answer.of({"verdicts": verdicts}, summary="\n".join(numbered))


def _verdict(app: Container, progress: Progress, named: Mapping[str, Any]) -> dict[str, Any]:
    quote, resource_id, node_id = named["quote"], named.get("resource_id"), named.get("node_id")
    if resource_id is not None:
        what = part_named(app.maps, resource_id, node_id)
    elif node_id is None:
        return to_plain_lookup(app.look_up_quote(quote, progress=progress), quote)
    elif "#" in node_id:
        what = part_named(app.maps, node_id)
    else:
        raise RequestRefused("A node_id needs a resource_id, unless it is an address such as doc://book#pages=12.")
    return to_plain_with_lines(app.verify_quote(what, quote, progress=progress))


def _lines(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Yield the verdict on a quote as compact lines."""
    if "error" in verdict:
        yield f"error: {verdict['error']}"
        return
    seen = "" if verdict["visible"] else ", hidden from readers"
    cut = "; not all files or pages with these words were compared" if verdict.get("cut") else ""
    yield f"{verdict['finding']}{seen}{cut}"
    for place in verdict["places"]:
        differs = f"  (differs in {', '.join(place['differences'])})" if place["differences"] else ""
        yield f"{place['address']}{differs}"
        yield from (f"  > {line}" for line in place["line"].split("\n"))
        yield from (f"  changed: {change}" for change in place.get("changes", ()))
        for gap in place.get("gaps", ()):
            reasons = ", ".join([*gap["qualifiers"], *gap["remarks"]])
            yield f"  left out: {' '.join(gap['text'].split())}{reasons and f'  ({reasons})'}"
        if "note" in place:
            yield f"  {place['note']}"
    if verdict["more"]:
        yield "There are more places, which are not listed."
    if verdict["near"] is not None:
        yield f"similar, not the quote: {verdict['near']['address']}"
        yield f"  {' '.join(verdict['near']['text'].split())[:300]}"
    if verdict["unread_count"]:
        yield f"{counted(verdict['unread_count'], 'page')} could not be read"
